/**
 * Rebuilds the metadata rows from the log while the service runs. The new rows are staged in separate tables. The log's
 * lock is only taken for the last events and the switch. Readers see the old rows until the commit.
 */
import type pg from 'pg';
import { checkHead, createLogDivergedProblem } from '../../log/divergence.js';
import { readHeadPosition, readEventPages } from '../../log/read.js';
import { advisoryKey } from '../../postgres/locked-session.js';
import { environmentProblem } from '../../postgres/errors.js';
import { sendBatch } from '../../postgres/exchange.js';
import type { Logger } from '../../postgres/logger.js';
import { ServiceClient } from '../../postgres/client.js';
import { type ConnectionOptions, connectionConfig } from '../../postgres/pool.js';
import { REFUSE_OLDER_RELEASE } from '../../postgres/own-tables.js';
import { watchOwnClient } from '../../postgres/silent-connections.js';
import { commitOrThrow } from '../../postgres/transaction.js';
import { unlimited, writeLimits } from '../../postgres/limits.js';
import { type FoldLogOptions, type Point, foldLog, foldPage, createStartPoint } from '../../log/fold.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import { sql, own, type Sql, ident, join } from '../ddl/sql.js';
import { rebuildObjects } from './rows.js';
import { runYielding } from '../../kernel/event-loop.js';
import { ProblemError } from '../../kernel/problem.js';
import { type CollectionNode, type State, byName } from '../../schema/model/state.js';

/*
 * Stages metadata rows: the differences from the real rows are kept in temporary tables of one connection and
 * switched in at the end. Tables are compared one at a time in chunks, because one join over all rows would spill to
 * disk.
 */

interface Kind {
  /** The table with the metadata rows that readers see. */
  table: Sql;
  staged: Sql;
  /** A temporary table with the names of the differing collections, including those that should have no row. */
  differing: Sql;
  /** Returns the rows of a node for this table. */
  rowsOf: (node: CollectionNode) => Iterable<object>;
  /** The first column is the collection that the row belongs to. The first `keys` columns are the key. */
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

type StagedRows = Record<(typeof EACH)[number], number>;

const comma = sql`, `;
const list = (columns: Kind['columns'], as: (name: Sql, type: Sql) => Sql): Sql =>
  join(
    columns.map(([name, type]) => as(ident(name), type)),
    comma,
  );
const names = ({ columns }: Kind): Sql => list(columns, (name) => name);
const ownerOf = ({ columns }: Kind): Sql => ident(columns[0]?.[0] ?? '');

/** Creates the temporary tables, empty. */
async function createStaging(client: pg.ClientBase): Promise<void> {
  for (const { table, staged, differing } of Object.values(KINDS)) {
    await client.query(sql`CREATE TEMP TABLE ${staged} (LIKE ${table})`);
    await client.query(sql`CREATE TEMP TABLE ${differing} (collection text NOT NULL)`);
  }
  await client.query(sql`CREATE TEMP TABLE pg_temp.staged_names (collection text NOT NULL)`);
}

/**
 * Number of rows per statement. PostgreSQL reads one chunk while the next is written, and the event loop runs in
 * between.
 */
const CHUNK = 2_000;

/** Compares all rows with those of `state` and stages the differences. */
async function stage(client: pg.ClientBase, state: State): Promise<StagedRows> {
  // Primary key order lets the switch append to the indexes.
  const inOrder = [...state.collections].sort(([a], [b]) => byName(a, b));
  const rows = await inChunks(client, inOrder, COMPARE);
  for (const kind of EACH) await client.query(TOO_MANY[kind]);
  return rows;
}

/** Stages the rows of these collections again, and replaces them even if they are equal. */
async function restage(client: pg.ClientBase, state: State, touched: ReadonlySet<string>): Promise<void> {
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

/**
 * Sends the rows of whole collections to a statement. Its parameters are $1, the rows, and $2, the names, both as JSON.
 */
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

const hasValues = ({ columns }: Kind): Sql =>
  sql`pg_catalog.jsonb_to_recordset($1::jsonb) AS given(${list(columns, (name, type) => sql`${name} ${type}`)})`;

const OWNERS = sql`ARRAY(SELECT pg_catalog.jsonb_array_elements_text($2::jsonb))`;

const FILL = statementsBy(
  (kind) => sql`INSERT INTO ${kind.staged} (${names(kind)})
SELECT ${names(kind)} FROM ${hasValues(kind)} WHERE ${ownerOf(kind)} = ANY (${OWNERS})`,
);

const COMPARE = statementsBy((kind) => {
  const { table, staged, differing, columns, keys } = kind;
  const key = list(columns.slice(0, keys), (name) => name);
  const rest = columns.slice(keys);
  const of = (side: Sql): Sql => list(rest, (name) => sql`${side}.${name}`);
  // The names of all collections are needed only once, so they are stored with the rows of the collections themselves.
  const noting =
    kind === COLLECTIONS
      ? sql`noted AS (INSERT INTO pg_temp.staged_names SELECT pg_catalog.unnest(${OWNERS})),`
      : sql``;
  return sql`WITH ${noting}
fresh AS MATERIALIZED (SELECT true AS there, ${names(kind)} FROM ${hasValues(kind)}),
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

/** SQL that records collections whose rows should not exist. */
const TOO_MANY = statementsBy(
  (kind) => sql`INSERT INTO ${kind.differing} (collection)
SELECT DISTINCT ${ownerOf(kind)} FROM ${kind.table} t
WHERE NOT EXISTS (SELECT FROM pg_temp.staged_names n WHERE n.collection = t.${ownerOf(kind)})`,
);

/**
 * Replaces the rows of the differing collections. Readers see the old rows until the commit.
 * @returns the number of collections
 */
async function switchRows(client: pg.ClientBase): Promise<number> {
  const kinds = Object.values(KINDS);
  for (const { differing } of kinds) await client.query(sql`ANALYZE ${differing}`);
  // All deletions run first, because a relation's id is unique and may have been in another row.
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

interface RebuildMetadataOptions {
  connection: ConnectionOptions;
  database: string;
  /** Milliseconds to wait for the log's lock. */
  lockTimeout: number;
  logger: Logger;
  onProgress?: Progress;
}

/** Reports how many events are done. */
export type Progress = (done: number, total: number) => void;

export interface RebuiltMetadata extends StagedRows {
  /** The position in the log that the rows correspond to. */
  position: number;
  /** The number of collections whose rows were wrong or changed during the rebuild. */
  replaced: number;
  milliseconds: number;
  /** Milliseconds during which writers had to wait. This is part of `milliseconds`. */
  locked_milliseconds: number;
}

/**
 * Rebuilds the rows.
 * @throws ProblemError IN_USE while another rebuild runs on any instance; LOCK_TIMEOUT, UNAVAILABLE
 */
export async function rebuildMetadataRows(options: RebuildMetadataOptions): Promise<RebuiltMetadata> {
  const { connection } = options;
  const config = connectionConfig({ ...connection, applicationName: 'data-platform-service rebuild' });
  const client = new ServiceClient(config);
  watchOwnClient(client, config, options.logger);
  try {
    await client.connect();
    return await rebuild(client, config, options);
  } catch (error) {
    const problem = environmentProblem(error);
    throw problem === undefined ? error : new ProblemError(problem, error);
  } finally {
    // The temporary tables and the session's lock end with the connection.
    await client.end().catch(() => undefined);
  }
}

async function rebuild(
  client: pg.Client,
  config: pg.ClientConfig,
  options: RebuildMetadataOptions,
): Promise<RebuiltMetadata> {
  const started = performance.now();
  const location = { database: options.database, schema: options.connection.schema };
  await lockRebuild(client, advisoryKey(location, 'rebuild-metadata'));
  await requireUndiverged(client);
  const total = await readHeadPosition(client);
  // The fold starts at the first event, because a rebuild trusts only the log, not stored folds.
  const folded = await foldLog(client, createStartPoint(), { stops: createProgressStops(total, options.onProgress) });
  options.onProgress?.(folded.head.position, folded.head.position);
  await createStaging(client);
  const rows = await stage(client, folded.state);
  const caughtUp = await catchUpUnlocked(client, folded);
  const switched = await switchOver(client, { ...caughtUp, options, config, key: advisoryKey(location, 'log') });
  return { ...switched, ...rows, milliseconds: Math.round(performance.now() - started) };
}

/** Rejects a rebuild on a diverged log, because rewriting the checkpoint would hide the divergence. */
async function requireUndiverged(client: pg.Client): Promise<void> {
  const { head, forgotten, pending } = await checkHead(client);
  const [noted] = pending ?? [];
  const seen = noted?.seen ?? forgotten;
  if (seen !== null) throw new ProblemError(createLogDivergedProblem({ seen, found: noted?.found ?? head }));
}

const TOLD_EVERY = 10_000;

function createProgressStops(total: number, onProgress: Progress = () => undefined): FoldLogOptions['stops'] {
  return {
    next: ({ head }) => head.position + TOLD_EVERY,
    reached: ({ head }) => onProgress(head.position, Math.max(total, head.position)),
  };
}

async function lockRebuild(client: pg.Client, key: string): Promise<void> {
  // Folding a long log takes time, and only the switch needs a transaction.
  await client.query(unlimited('session'));
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_catalog.pg_try_advisory_lock($1) AS locked', [
    key,
  ]);
  if (rows[0]?.locked === true) return;
  throw new ProblemError({
    code: 'IN_USE',
    message: 'The metadata rows are already being rebuilt. Wait until that rebuild ends.',
  });
}

interface FollowResult {
  point: Point;
  /** The collections that the events changed. */
  touched: Set<string>;
  events: number;
}

/** Folds the events after `from`. */
async function follow(client: pg.Client, from: Point): Promise<FollowResult> {
  const touched = new Set<string>();
  let point = from;
  for await (const page of readEventPages(client, { after: from.head.position })) {
    point = await runYielding(foldPage(point, page));
    for (const name of collectionsChanged(page)) touched.add(name);
  }
  return { point, touched, events: point.head.position - from.head.position };
}

/** Maximum number of remaining events that are processed under the lock. */
const FEW = 100;
const ROUNDS = 20;

/** Catches up with writers as far as possible without blocking them. */
async function catchUpUnlocked(client: pg.Client, from: Point): Promise<{ point: Point; touched: Set<string> }> {
  const touched = new Set<string>();
  let point = from;
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = await follow(client, point);
    point = next.point;
    for (const name of next.touched) touched.add(name);
    if (next.events <= FEW) break;
  }
  return { point, touched };
}

interface Switch {
  point: Point;
  touched: Set<string>;
  options: RebuildMetadataOptions;
  config: pg.ClientConfig;
  /** The key of the log's lock. */
  key: string;
}

const CHECKPOINT = sql`
INSERT INTO ${own.projections} (name, kind, position, hash) VALUES ('metadata', 'transactional', $1, $2)
ON CONFLICT (name) DO UPDATE
  SET position = excluded.position, hash = excluded.hash, status = 'running', last_error = NULL, updated_at = now()`;

type SwitchResult = Pick<RebuiltMetadata, 'position' | 'replaced' | 'locked_milliseconds'>;

async function switchOver(client: pg.Client, { point, touched, options, config, key }: Switch): Promise<SwitchResult> {
  await restage(client, point.state, touched);
  await sendBatch(client, [
    { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' },
    writeLimits({ lock: options.lockTimeout, statement: 0 }),
    { text: 'SELECT pg_catalog.pg_advisory_xact_lock($1)', values: [key] },
    REFUSE_OLDER_RELEASE,
  ]);
  const locked = performance.now();
  await requireUndiverged(client);
  const last = await follow(client, point);
  await restage(client, last.point.state, last.touched);
  const replaced = await switchRows(client);
  await sendBatch(client, [...rebuildObjects(last.point.state)]);
  const { position, hash } = last.point.head;
  await client.query(CHECKPOINT, [position, hash]);
  await commitOrThrow({ options: config }, client);
  return { position, replaced, locked_milliseconds: Math.round(performance.now() - locked) };
}
