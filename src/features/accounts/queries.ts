import type { Pool, PoolClient } from 'pg';
import { sendBatch } from '../../postgres/exchange.js';
import { withClient } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/own-tables.js';
import { TRANSACTION_ID, type Transaction, commitOrThrow } from '../../postgres/transaction.js';

/**
 * Runs `work` in a transaction and commits it. If `work` throws, the transaction is rolled back and the connection is
 * closed. Fails if this process is older than the migrations of the database.
 */
export function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return withClient(pool, async (client) => {
    await client.query(`begin; ${REFUSE_OLDER_RELEASE.text}`);
    const result = await work(client);
    await commitOrThrow(pool, client);
    return result;
  });
}

/** Runs one writing statement. This takes one round trip less than `inTransaction`. */
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
    // The number of rows is the last word of the command tag: `INSERT 0 1`.
    return { rows: rows as Row[], rowCount: Number(command.split(' ').at(-1)) };
  });
}

function asText(value: string | null | Date | Buffer | undefined): string | null {
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return value ?? null;
}

/** Returns the row of a query that always returns exactly one row. */
export function expectOneRow<T>({ rows }: { rows: T[] }): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the query returned no row');
  return row;
}
