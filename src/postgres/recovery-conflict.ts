/** A standby ends queries that are in the way of following its primary: they are sent again. */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { isRecoveryConflict } from './errors.js';

/** How often a query is sent, and milliseconds before it is sent again: each time as many more. */
const TRIES = 3;
const PAUSE = 50;

type Query = (...given: unknown[]) => Promise<unknown>;

/** Queries of the pool itself, each a transaction of its own: one that was ended this way has done and told nothing. */
export function retryRecoveryConflicts(pool: pg.Pool): void {
  const query = pool.query.bind(pool) as Query;
  const retried: Query = async (...given) => {
    for (let count = 1; ; count += 1) {
      try {
        return await query(...given);
      } catch (error) {
        if (count === TRIES || !isRecoveryConflict(error)) throw error;
        await sleep(PAUSE * count);
      }
    }
  };
  Object.assign(pool, { query: retried });
}
