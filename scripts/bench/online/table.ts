/** Creates and fills the table, and compares it with the written rows at the end. */
import type pg from 'pg';
import type { Service } from '../servers.js';
import type { Ledger } from './load.js';

export interface Bench {
  service: Service;
  client: pg.Client;
  /** Number of rows at the start. */
  rows: number;
}

/**
 * Creates the referenced table and the table itself.
 * @param fields deletable fields
 */
export async function fill({ service, client, rows }: Bench, fields: readonly string[]): Promise<void> {
  const text = (field: string): object => ({ field, type: 'string', interface: 'input', schema: {} });
  const number = (field: string, schema: object = {}): object => ({
    field,
    type: 'integer',
    interface: 'input',
    schema,
  });
  await service.call('POST', '/collections', { collection: 'owners', schema: {}, fields: [text('name')] });
  const all = [
    text('title'),
    number('code'),
    number('owner'),
    number('amount'),
    number('hits', { default_value: 0, is_nullable: false }),
    ...fields.map(text),
  ];
  await service.call('POST', '/collections', { collection: 'items', schema: {}, fields: all });
  await client.query(`INSERT INTO owners (name) SELECT 'o' || i FROM generate_series(1, 1000) i`);
  await client.query(`INSERT INTO items (title, code, owner, amount, ${fields.join(', ')})
    SELECT 't' || i, i, 1 + i % 1000, i % 977, ${fields.map((_, index) => `'${index}' || i`).join(', ')} FROM generate_series(1, ${rows}) i`);
  // New rows get a unique code.
  await client.query(`CREATE SEQUENCE codes START ${rows + 1}`);
  await client.query(`CREATE FUNCTION new_code() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.code := nextval('public.codes'); RETURN NEW; END $$`);
  await client.query('CREATE TRIGGER coded BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION new_code()');
  // A schema that no change of the service locks.
  await client.query('CREATE SCHEMA elsewhere');
  await client.query('CREATE TABLE elsewhere.beats (id bigserial, at timestamptz DEFAULT now())');
  await client.query('VACUUM ANALYZE items');
}

/** What `verify` finds at the end. */
export async function verified({ service }: Bench): Promise<string> {
  const { data } = await service.call<{ data: { ok: boolean; differences: unknown[] } }>('GET', '/projections/verify');
  return data.ok ? 'finds nothing' : `FINDS DIFFERENCES: ${JSON.stringify(data.differences)}`;
}

export async function listLeftovers({ client }: Bench): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relname LIKE 'dps_online_%' UNION ALL SELECT conname FROM pg_constraint WHERE conname LIKE 'dps_online_%'
       UNION ALL SELECT tgname FROM pg_trigger WHERE tgname LIKE 'dps_online_%' UNION ALL SELECT request::text FROM service.service_preparations`,
  );
  return rows.map(({ name }) => name).join(', ') || 'nothing';
}

/** No row is missing or duplicated. */
export async function checkRows({ client, rows: before }: Bench, { inserted, hits }: Ledger): Promise<string[]> {
  const { rows } = await client.query<{ inserted: string; hits: string }>(
    `SELECT count(*) - ${before} AS inserted, sum(hits) AS hits FROM items`,
  );
  const [row] = rows;
  const isSame = Number(row?.inserted) === inserted && Number(row?.hits) === hits;
  const lines = [
    `\nWritten: ${inserted} rows and ${hits} updates; in the table: ${row?.inserted} and ${row?.hits}${isSame ? '' : ' — NOT THE SAME'}`,
  ];
  const kept = await client.query<{ count: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS count FROM pg_tables WHERE tablename = 'values'`,
  );
  for (const { count } of kept.rows) {
    const counted = await client.query<{ rows: string }>(`SELECT count(*) AS rows FROM ${count}`);
    lines.push(`Kept in ${count}: ${counted.rows[0]?.rows} values`);
  }
  return lines;
}
