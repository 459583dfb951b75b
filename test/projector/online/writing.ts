/** Applications that write to the table `t` while its values are copied. */
import type pg from 'pg';

/** Transactions with isolation level and statements; `$` is a row number. */
const WRITES: readonly (readonly string[])[] = [
  ['READ COMMITTED', `INSERT INTO t VALUES ($, 'new' || random(), '{"new": 1}', 1)`],
  ['READ COMMITTED', 'DELETE FROM t WHERE a = $'],
  ['READ COMMITTED', `UPDATE t SET v = '{"x": $}' WHERE a BETWEEN $ AND $ + 30`],
  ['READ COMMITTED', 'UPDATE t SET a = a + 100000 WHERE a = $'],
  ['READ COMMITTED', 'UPDATE t SET other = other + 1 WHERE a = $'],
  ['READ COMMITTED', 'UPDATE t SET v = NULL WHERE a = $'],
  ['REPEATABLE READ', 'SELECT FROM t LIMIT 1', 'SELECT pg_sleep(0.02)', `UPDATE t SET v = '{"old": $}' WHERE a = $`],
  ['REPEATABLE READ', 'SELECT FROM t LIMIT 1', 'SELECT pg_sleep(0.02)', 'DELETE FROM t WHERE a = $'],
];

/** Concurrent writers: single rows, bulk writes, key changes, transactions with old snapshots, and failing ones. */
export function writing(application: pg.Pool): { stop: () => Promise<void>; written: () => number } {
  let ended = false;
  let written = 0;
  const writeOnce = async (client: pg.PoolClient): Promise<void> => {
    const i = Math.ceil(Math.random() * 21_000);
    const [isolation, ...statements] = WRITES[i % WRITES.length] as readonly string[];
    await client.query(`BEGIN ISOLATION LEVEL ${isolation}`);
    for (const each of statements) await client.query(each.replaceAll('$', String(i)));
    await client.query(Math.random() < 0.2 ? 'ROLLBACK' : 'COMMIT');
  };
  const one = async (): Promise<void> => {
    while (!ended) {
      const client = await application.connect();
      try {
        await writeOnce(client);
        written += 1;
      } catch (error) {
        await client.query('ROLLBACK');
        // Conflicts between the writers themselves.
        if (!['40001', '40P01', '23505'].includes((error as { code: string }).code)) throw error;
      } finally {
        client.release();
      }
    }
  };
  const all = Promise.all([one(), one(), one(), one()]);
  return {
    stop: async () => {
      ended = true;
      await all;
    },
    written: () => written,
  };
}
