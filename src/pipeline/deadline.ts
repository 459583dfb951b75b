/** A socket can be half open: nobody answers, and nobody says so. */
import type pg from 'pg';

/**
 * `answer`, or the end of the connection after `milliseconds`. The end makes the driver fail what is under way on it, so
 * `answer` itself is what rejects.
 */
export async function within<T>(client: pg.ClientBase, answer: Promise<T>, milliseconds: number): Promise<T> {
  const timer = setTimeout(() => (client as pg.PoolClient).connection.stream.destroy(), milliseconds);
  try {
    return await answer;
  } finally {
    clearTimeout(timer);
  }
}
