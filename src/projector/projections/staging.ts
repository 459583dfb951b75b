/** Metadata rows beside the real ones: temporary tables of one connection, and the switch from the ones to the others. */
import type pg from 'pg';
import type { State } from '../../schema/state.js';
import { type Sql, ident, join, sql } from '../ddl/sql.js';

interface Kind {
  /** The real table. */
  table: Sql;
  /** The temporary one. */
  staged: Sql;
  /** Its columns: the first is the collection that the row belongs to, the first `keys` are the key. */
  columns: readonly [name: string, type: Sql][];
  keys: 1 | 2;
}

const TEXT = sql`text`;
const JSONB = sql`jsonb`;

const COLLECTIONS: Kind = {
  table: sql`service_collections`,
  staged: sql`pg_temp.staged_collections`,
  columns: [
    ['collection', TEXT],
    ['meta', JSONB],
    ['schema', JSONB],
  ],
  keys: 1,
};

const FIELDS: Kind = {
  table: sql`service_fields`,
  staged: sql`pg_temp.staged_fields`,
  columns: [
    ['collection', TEXT],
    ['field', TEXT],
    ['type', TEXT],
    ['meta', JSONB],
    ['schema', JSONB],
  ],
  keys: 2,
};

const RELATIONS: Kind = {
  table: sql`service_relations`,
  staged: sql`pg_temp.staged_relations`,
  columns: [
    ['many_collection', TEXT],
    ['many_field', TEXT],
    ['id', sql`bigint`],
    ['one_collection', TEXT],
    ['one_field', TEXT],
    ['one_collection_field', TEXT],
    ['one_allowed_collections', JSONB],
    ['junction_field', TEXT],
    ['sort_field', TEXT],
    ['one_deselect_action', TEXT],
    ['schema', JSONB],
  ],
  keys: 2,
};

const KINDS = [COLLECTIONS, FIELDS, RELATIONS];

const names = ({ columns }: Kind): Sql =>
  join(
    columns.map(([name]) => ident(name)),
    sql`, `,
  );

/** Small enough that PostgreSQL reads one chunk while the next one is written, and that requests get a turn between. */
const CHUNK = 2_000;

/** Makes the temporary tables, empty. */
export async function createStaging(client: pg.ClientBase): Promise<void> {
  for (const { table, staged } of KINDS) await client.query(sql`CREATE TEMP TABLE ${staged} (LIKE ${table})`);
  await client.query(sql`CREATE TEMP TABLE pg_temp.staged_differing (collection text NOT NULL)`);
}

/** Writes the rows of these collections (of all, when absent) as `state` has them. */
export async function stage(client: pg.ClientBase, state: State, only?: ReadonlySet<string>): Promise<StagedRows> {
  const rows = { collections: 0, fields: 0, relations: 0 };
  const pending: Record<keyof StagedRows, object[]> = { collections: [], fields: [], relations: [] };
  let underway: Promise<unknown> = Promise.resolve();
  const send = async (kind: keyof StagedRows): Promise<void> => {
    const json = JSON.stringify(pending[kind]);
    rows[kind] += pending[kind].length;
    pending[kind] = [];
    await underway;
    underway = client.query(FILL[kind], [json]);
    // Awaited before the next one or at the end; until then nobody else may hear of a failure.
    underway.catch(() => undefined);
  };
  for (const [name, node] of state.collections) {
    if (only !== undefined && !only.has(name)) continue;
    pending.collections.push(node.collection);
    for (const field of node.fields.values()) pending.fields.push(field);
    for (const relation of node.relations.values()) pending.relations.push(relation);
    for (const kind of EACH) if (pending[kind].length >= CHUNK) await send(kind);
  }
  for (const kind of EACH) if (pending[kind].length > 0) await send(kind);
  await underway;
  return rows;
}

export interface StagedRows {
  collections: number;
  fields: number;
  relations: number;
}

const EACH = ['collections', 'fields', 'relations'] as const;

const FILL: Record<keyof StagedRows, Sql> = {
  collections: fill(COLLECTIONS),
  fields: fill(FIELDS),
  relations: fill(RELATIONS),
};

function fill(kind: Kind): Sql {
  const types = join(
    kind.columns.map(([name, type]) => sql`${ident(name)} ${type}`),
    sql`, `,
  );
  return sql`INSERT INTO ${kind.staged} (${names(kind)})
SELECT ${names(kind)} FROM jsonb_to_recordset($1::jsonb) AS t(${types})`;
}

/** Notes the collections whose rows are not the staged ones. */
export async function noteDiffering(client: pg.ClientBase): Promise<void> {
  for (const kind of KINDS) await client.query(differing(kind));
}

function differing({ table, staged, columns, keys }: Kind): Sql {
  const of = (alias: Sql, some: Kind['columns']): Sql =>
    join(
      some.map(([name]) => sql`${alias}.${ident(name)}`),
      sql`, `,
    );
  const [a, b] = [sql`a`, sql`b`];
  const key = columns.slice(0, keys);
  const rest = columns.slice(keys);
  const using = join(
    key.map(([name]) => ident(name)),
    sql`, `,
  );
  const owner = ident(columns[0]?.[0] ?? '');
  return sql`INSERT INTO pg_temp.staged_differing (collection)
SELECT DISTINCT ${owner} FROM ${table} a FULL JOIN ${staged} b USING (${using})
WHERE a.tableoid IS NULL OR b.tableoid IS NULL OR (${of(a, rest)}) IS DISTINCT FROM (${of(b, rest)})`;
}

/** Stages the rows of these collections anew, and has them switched whatever they were before. */
export async function restage(client: pg.ClientBase, state: State, touched: ReadonlySet<string>): Promise<void> {
  if (touched.size === 0) return;
  const list = [[...touched]];
  for (const { staged, columns } of KINDS) {
    await client.query(sql`DELETE FROM ${staged} WHERE ${ident(columns[0]?.[0] ?? '')} = ANY ($1::text[])`, list);
  }
  await client.query(sql`INSERT INTO pg_temp.staged_differing (collection) SELECT unnest($1::text[])`, list);
  await stage(client, state, touched);
}

/**
 * Replaces the rows of the collections that differ. Readers see the old ones until the transaction commits.
 * @returns how many collections that are
 */
export async function switchRows(client: pg.ClientBase): Promise<number> {
  // All deletions first: a relation's id is unique, and may have stood in another row.
  for (const { table, columns } of KINDS.toReversed()) {
    await client.query(sql`DELETE FROM ${table} WHERE ${ident(columns[0]?.[0] ?? '')} IN (${DIFFERING})`);
  }
  for (const kind of KINDS) {
    const owner = ident(kind.columns[0]?.[0] ?? '');
    await client.query(sql`INSERT INTO ${kind.table} (${names(kind)})
SELECT ${names(kind)} FROM ${kind.staged} WHERE ${owner} IN (${DIFFERING})`);
  }
  const { rows } = await client.query<{ count: number }>(
    sql`SELECT count(DISTINCT collection)::int AS count FROM pg_temp.staged_differing`,
  );
  return rows[0]?.count ?? 0;
}

const DIFFERING = sql`SELECT collection FROM pg_temp.staged_differing`;
