/**
 * Stages metadata rows: the differences from the real rows are kept in temporary tables of one connection and
 * switched in at the end. Tables are compared one at a time in chunks, because one join over all rows would spill to
 * disk.
 */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { sortedInSteps } from '../../kernel/sorted.js';
import { sendBatch } from '../../postgres/exchange.js';
import { type CollectionNode, type State, byName } from '../../schema/model/state.js';
import { type Sql, ident, join, sql, own } from '../ddl/sql.js';

interface Kind {
  /** The real table. */
  table: Sql;
  staged: Sql;
  /** Also temporary: the names of these collections, including those that should have no row. */
  differing: Sql;
  /** The rows of a node. */
  rowsOf: (node: CollectionNode) => Iterable<object>;
  /** The columns: the first is the collection that the row belongs to, and the first `keys` are the key. */
  columns: readonly [name: string, type: Sql][];
  keys: 1 | 2;
}

const TEXT = sql`text`;
const JSONB = sql`jsonb`;

const COLLECTIONS: Kind = {
  table: sql`${own.collections}`,
  staged: sql`pg_temp.staged_collections`,
  differing: sql`pg_temp.differing_collections`,
  rowsOf: (node) => [node.collection],
  columns: [
    ['collection', TEXT],
    ['meta', JSONB],
    ['schema', JSONB],
  ],
  keys: 1,
};

const FIELDS: Kind = {
  table: sql`${own.fields}`,
  staged: sql`pg_temp.staged_fields`,
  differing: sql`pg_temp.differing_fields`,
  rowsOf: (node) => node.fields.values(),
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
  table: sql`${own.relations}`,
  staged: sql`pg_temp.staged_relations`,
  differing: sql`pg_temp.differing_relations`,
  rowsOf: (node) => node.relations.values(),
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

const KINDS = { collections: COLLECTIONS, fields: FIELDS, relations: RELATIONS };
const EACH = ['collections', 'fields', 'relations'] as const;

export type StagedRows = Record<(typeof EACH)[number], number>;

const comma = sql`, `;
const list = (columns: Kind['columns'], as: (name: Sql, type: Sql) => Sql): Sql =>
  join(
    columns.map(([name, type]) => as(ident(name), type)),
    comma,
  );
const names = ({ columns }: Kind): Sql => list(columns, (name) => name);
const ownerOf = ({ columns }: Kind): Sql => ident(columns[0]?.[0] ?? '');

/** Creates the temporary tables, empty. */
export async function createStaging(client: pg.ClientBase): Promise<void> {
  for (const { table, staged, differing } of Object.values(KINDS)) {
    await client.query(sql`CREATE TEMP TABLE ${staged} (LIKE ${table})`);
    await client.query(sql`CREATE TEMP TABLE ${differing} (collection text NOT NULL)`);
  }
  await client.query(sql`CREATE TEMP TABLE pg_temp.staged_names (collection text NOT NULL)`);
}

/** Rows per statement. PostgreSQL reads one chunk while the next is written, and the event loop runs in between. */
const CHUNK = 2_000;

/** Compares all rows with those of `state` and stages the differences. */
export async function stage(client: pg.ClientBase, state: State): Promise<StagedRows> {
  // In primary key order, so that the switch appends to the indexes.
  const inOrder = await runYielding(sortedInSteps(state.collections, ([a], [b]) => byName(a, b)));
  const rows = await inChunks(client, inOrder, COMPARE);
  for (const kind of EACH) await client.query(TOO_MANY[kind]);
  return rows;
}

/** Stages the rows of these collections again and switches them in any case. */
export async function restage(client: pg.ClientBase, state: State, touched: ReadonlySet<string>): Promise<void> {
  if (touched.size === 0) return;
  for (const kind of Object.values(KINDS)) {
    await client.query(sql`DELETE FROM ${kind.staged} WHERE ${ownerOf(kind)} = ANY ($1::text[])`, [[...touched]]);
    await client.query(sql`INSERT INTO ${kind.differing} (collection) SELECT pg_catalog.unnest($1::text[])`, [
      [...touched],
    ]);
  }
  const nodes = [...touched].flatMap((name): [string, CollectionNode][] => {
    const node = state.collections.get(name);
    return node === undefined ? [] : [[name, node]];
  });
  await inChunks(client, nodes, FILL);
}

type Statements = Record<(typeof EACH)[number], Sql>;

/** Sends the rows of whole collections: $1 the rows, $2 the names, both as JSON. */
async function inChunks(
  client: pg.ClientBase,
  nodes: Iterable<[string, CollectionNode]>,
  statements: Statements,
): Promise<StagedRows> {
  const count = { collections: 0, fields: 0, relations: 0 };
  let chunk: [string, CollectionNode][] = [];
  let size = 0;
  let underway: Promise<unknown> = Promise.resolve();
  const send = async (): Promise<void> => {
    const owners = JSON.stringify(chunk.map(([name]) => name));
    const contents = EACH.map((kind) => {
      const rows = chunk.flatMap(([, node]) => [...KINDS[kind].rowsOf(node)]);
      count[kind] += rows.length;
      return { text: statements[kind], values: [JSON.stringify(rows), owners] };
    });
    [chunk, size] = [[], 0];
    await underway;
    underway = sendBatch(client, contents);
    // The promise is awaited before the next chunk or at the end, so a failure must not count as unhandled until
    // then.
    underway.catch(() => undefined);
  };
  for (const entry of nodes) {
    chunk.push(entry);
    size += 1 + entry[1].fields.size + entry[1].relations.size;
    if (size >= CHUNK) await send();
  }
  if (chunk.length > 0) await send();
  await underway;
  return count;
}

const statementsBy = (make: (kind: Kind) => Sql): Statements => ({
  collections: make(COLLECTIONS),
  fields: make(FIELDS),
  relations: make(RELATIONS),
});

const given = ({ columns }: Kind): Sql =>
  sql`pg_catalog.jsonb_to_recordset($1::jsonb) AS given(${list(columns, (name, type) => sql`${name} ${type}`)})`;

const OWNERS = sql`ARRAY(SELECT pg_catalog.jsonb_array_elements_text($2::jsonb))`;

const FILL = statementsBy(
  (kind) => sql`INSERT INTO ${kind.staged} (${names(kind)})
SELECT ${names(kind)} FROM ${given(kind)} WHERE ${ownerOf(kind)} = ANY (${OWNERS})`,
);

const COMPARE = statementsBy((kind) => {
  const { table, staged, differing, columns, keys } = kind;
  const key = list(columns.slice(0, keys), (name) => name);
  const rest = columns.slice(keys);
  const of = (side: Sql): Sql => list(rest, (name) => sql`${side}.${name}`);
  // The names of all collections are stored once, with the rows of the collections themselves.
  const noting =
    kind === COLLECTIONS
      ? sql`noted AS (INSERT INTO pg_temp.staged_names SELECT pg_catalog.unnest(${OWNERS})),`
      : sql``;
  return sql`WITH ${noting}
fresh AS MATERIALIZED (SELECT true AS there, ${names(kind)} FROM ${given(kind)}),
present AS MATERIALIZED (SELECT true AS there, ${names(kind)} FROM ${table} WHERE ${ownerOf(kind)} = ANY (${OWNERS})),
wrong AS (
  INSERT INTO ${differing} (collection)
  SELECT DISTINCT ${ownerOf(kind)} FROM fresh FULL JOIN present USING (${key})
  WHERE fresh.there IS NULL OR present.there IS NULL OR (${of(sql`fresh`)}) IS DISTINCT FROM (${of(sql`present`)})
  RETURNING collection
)
INSERT INTO ${staged} (${names(kind)})
SELECT ${names(kind)} FROM fresh WHERE ${ownerOf(kind)} IN (SELECT collection FROM wrong)`;
});

/** Rows of collections that should not exist. */
const TOO_MANY = statementsBy(
  (kind) => sql`INSERT INTO ${kind.differing} (collection)
SELECT DISTINCT ${ownerOf(kind)} FROM ${kind.table} t
WHERE NOT EXISTS (SELECT FROM pg_temp.staged_names n WHERE n.collection = t.${ownerOf(kind)})`,
);

/**
 * Replaces the rows of the differing collections. Readers see the old rows until the commit.
 * @returns the number of collections
 */
export async function switchRows(client: pg.ClientBase): Promise<number> {
  const kinds = Object.values(KINDS);
  for (const { differing } of kinds) await client.query(sql`ANALYZE ${differing}`);
  // All deletions first: a relation's id is unique and may have been in another row.
  for (const kind of kinds.toReversed()) {
    await client.query(
      sql`DELETE FROM ${kind.table} WHERE ${ownerOf(kind)} IN (SELECT collection FROM ${kind.differing})`,
    );
  }
  for (const kind of kinds) {
    await client.query(sql`INSERT INTO ${kind.table} (${names(kind)}) SELECT ${names(kind)} FROM ${kind.staged}`);
  }
  const all = join(
    kinds.map(({ differing }) => sql`SELECT collection FROM ${differing}`),
    sql` UNION `,
  );
  const { rows } = await client.query<{ count: number }>(sql`SELECT count(*)::int AS count FROM (${all}) t`);
  return rows[0]?.count ?? 0;
}
