import type { Pool, PoolClient } from 'pg';
import { sendBatch } from '../../postgres/exchange.js';
import { withClient } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/own-tables.js';
import { TRANSACTION_ID, type Transaction, commitOrThrow } from '../../postgres/transaction.js';

/**
 * Commits the changes of `work`. If it throws, the connection is closed and everything is rolled back. Fails in a
 * process older than the database's migrations.
 */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await client.query(`begin; ${REFUSE_OLDER_RELEASE.text}`);
    const result = await work(client);
    await commitOrThrow(pool, client);
    return result;
  });
}

/** One writing statement, with one round trip less. */
export function write<Row>(
  pool: Pool,
  text: string,
  values: readonly (string | null | Date | Buffer | undefined)[],
): Promise<{ rows: Row[]; rowCount: number }> {
  return withClient(pool, async (client) => {
    const statement = { text, values: values.map(asText) };
    const results = await sendBatch(client, [{ text: 'begin' }, REFUSE_OLDER_RELEASE, statement, TRANSACTION_ID]);
    const { rows, command } = results[2] as (typeof results)[number];
    await commitOrThrow(pool, client, results[3]?.rows[0] as unknown as Transaction);
    // The last word of the command tag: `INSERT 0 1`.
    return { rows: rows as Row[], rowCount: Number(command.split(' ').at(-1)) };
  });
}

function asText(value: string | null | Date | Buffer | undefined): string | null {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return value ?? null;
}

/** The row of a query that always returns one. */
export function expectOneRow<T>({ rows }: { rows: T[] }): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the query returned no row');
  return row;
}
