import type pg from 'pg';
import type { Problem } from '../../kernel/problem.js';
import { own, trashSchemaNameSql } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { IS_KEPT, KEPT_IN as KEPT_IN_OF_EVENT } from '../../projector/catalog/deletion-facts.js';
import { COPY, copiedRowCount } from '../../projector/ddl/trash.js';
import { endsOf } from '../../log/lifetimes.js';
import { columnType } from '../../schema/normal-form/index.js';
import { type Identity, type CollectionNode, type State, hasColumn, primaryKeyOf } from '../../schema/model/state.js';
import { type LogEvent, readRestored, type StoredEvent, isDeletion, type Actor } from '../../schema/model/events.js';
import { type Parameterised, sendBatch } from '../../postgres/exchange.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type RunningFold, startFolding } from '../../schema/fold/evolve.js';
import { sql } from '../../projector/ddl/sql.js';
import { type Point, foldBefore, createStartPoint, type LogLock } from '../../log/fold.js';

/* SQL that the queries about the trash share. The parameters of the functions are SQL expressions. */

/** Returns SQL that formats a time as in responses: ISO 8601, in UTC. */
export const shownTime = (time: string): string =>
  `pg_catalog.to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The table aliases of rows that have the columns of a deletion. */
type Deletion = 't' | 'e';

/** The number of the shared schema that contains a deleted table. Null if it has its own. */
const KEPT_IN: Record<Deletion, string> = {
  e: KEPT_IN_OF_EVENT,
  t: `(SELECT (l.data ->> 'kept_in'::text)::int FROM ${own.events} l WHERE l.position = t.position)`,
};

/** Returns a SQL expression that identifies the schema of a deletion (`TrashId`). */
export const trashIdOf = (of: Deletion): string => `coalesce('s' || ${KEPT_IN[of]}::text, ${of}.position::text)`;

/**
 * A condition on `c` of pg_class: `c` is the table that a deletion kept, or the copy of a field's values. A join would
 * read all of pg_class. Matching by name needs no privilege on the schema.
 */
const isKeptTable = (of: Deletion): string =>
  `c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ${trashSchemaNameSql(trashIdOf(of))})
   AND c.relname = CASE WHEN ${of}.field IS NULL THEN ${of}.collection ELSE '${COPY}' END AND c.relkind IN ('r', 'p')`;

/** A condition that the kept object exists. It may have been dropped by hand. */
export const keptObjectExists = (of: Deletion): string =>
  `EXISTS (SELECT FROM pg_catalog.pg_class c WHERE ${isKeptTable(of)})`;

export interface TrashEntry {
  /** The position of the event that deleted the object. */
  position: number;
  kind: 'collection' | 'field';
  /** The names before the deletion. `field` is null for a collection. */
  collection: string;
  field: string | null;
  identity: string;
  batch: string;
  deleted_at: string;
  /** ISO 8601. After this time, the entry may be purged. */
  kept_until: string;
  /** PostgreSQL's estimate at the time of the deletion. Null without statistics. */
  rows: number | null;
  /** Size on disk at the time of the deletion. */
  bytes: number | null;
  deleted_by: Actor | null;
  /** Publications that contained the table. */
  publications: string[];
  /** Foreign keys of the table that were created by hand. `definition` is from pg_get_constraintdef. */
  foreign_keys: { name: string; definition: string }[];
  /** The number of the shared schema that contains the table. Null if its schema is named after its position. */
  kept_in: number | null;
}

const COLUMNS = `t.position::float8 AS position, t.kind, t.collection, t.field, t.identity, t.batch,
       ${shownTime('t.deleted_at')} AS deleted_at, ${shownTime('t.kept_until')} AS kept_until,
       t.rows::float8 AS rows, t.bytes::float8 AS bytes, ${KEPT_IN.t} AS kept_in`;

const SELECT = `
SELECT ${COLUMNS}, e.actor AS deleted_by,
       coalesce(e.data -> 'publications'::text, '[]') AS publications, coalesce(e.data -> 'foreign_keys'::text, '[]') AS foreign_keys
  FROM ${own.trash} t LEFT JOIN LATERAL (SELECT actor, data FROM ${own.events} l WHERE l.position = t.position OFFSET 0) e ON true`;

interface Page {
  offset: number;
  limit: number;
}

/** Returns entries, newest first. */
export async function readTrash(db: Queryable, { offset, limit }: Page): Promise<TrashEntry[]> {
  const page = `${SELECT} ORDER BY t.position DESC LIMIT $1 OFFSET $2`;
  return (await db.query<TrashEntry>(page, [limit, offset])).rows;
}

/** Counts tables and columns, including expired ones that are not purged yet. */
export async function countTrash(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${own.trash}`);
  return rows[0]?.count ?? 0;
}

/**
 * @param position the position of the deletion
 * @returns undefined if the trash does not contain the entry
 */
export async function findInTrash(db: Queryable, position: number): Promise<TrashEntry | undefined> {
  return (await db.query<TrashEntry>(`${SELECT} WHERE t.position = $1`, [position])).rows[0];
}

/**
 * Returns entries by identity. The trash never contains an object twice. `there` is true if the object was not dropped
 * by hand.
 */
async function findIdentities(
  db: Queryable,
  identities: readonly string[],
): Promise<(Omit<TrashEntry, 'deleted_by' | 'publications' | 'foreign_keys'> & { there: boolean })[]> {
  if (identities.length === 0) return [];
  const query = `SELECT ${COLUMNS}, ${keptObjectExists('t')} AS there
    FROM ${own.trash} t WHERE t.identity = ANY ($1)`;
  return (await db.query(query, [identities])).rows;
}

const DUE = 'kept_until <= clock_timestamp() AND position <> ALL ($1::bigint[])';

/** Returns the entry that expired first by the database's clock. Empty if none has expired. */
export async function findExpired(db: Queryable, except: readonly number[]): Promise<TrashEntry[]> {
  const first = `SELECT position FROM ${own.trash} WHERE ${DUE} ORDER BY kept_until, position LIMIT 1`;
  return (await db.query<TrashEntry>(`${SELECT} WHERE t.position = (${first})`, [except])).rows;
}

/** Returns the number of milliseconds until the next entry expires, by the database's clock. Null if there is none. */
export async function readWaitUntilNextExpiry(db: Queryable, except: readonly number[]): Promise<number | null> {
  const { rows } = await db.query<{ wait: number | null }>(
    `SELECT (extract(epoch FROM pg_catalog.min(kept_until) - clock_timestamp()) * 1000::numeric)::float8 AS wait
       FROM ${own.trash} WHERE position <> ALL ($1::bigint[])`,
    [except],
  );
  return rows[0]?.wait ?? null;
}

interface TrashOutcome {
  type: string;
  position: number;
  at: string;
}

const BECAME = `
SELECT e.type, e.position::float8 AS position, ${shownTime('e.occurred_at')} AS at FROM ${own.events} e
 WHERE e.subject ->> 'kind'::text = 'trash' AND e.subject ->> 'id'::text = $1 ORDER BY e.position DESC LIMIT 1`;

/** Explains why the trash has no entry for a position. */
export async function notInTrash(db: Queryable, position: number): Promise<Problem> {
  const { rows } = await db.query<TrashOutcome>(BECAME, [String(position)]);
  const [became] = rows;
  const what = `The trash contains no deletion at position ${position}`;
  if (became === undefined) return { code: 'NOT_FOUND', message: `${what}.` };
  const purged = became.type === 'trash.purged';
  const message = `${what}: it was ${purged ? 'purged' : 'restored'} at ${became.at} by position ${became.position}.`;
  const details = { [purged ? 'purged_at' : 'restored_at']: became.at, by_position: became.position };
  return { code: 'NOT_FOUND', message, details };
}

/** True if the object of an entry exists. */
export async function isKept(db: Queryable, { position, field, collection }: TrashEntry): Promise<boolean> {
  const { rows } = await db.query<{ there: boolean }>(
    `SELECT ${keptObjectExists('t')} AS there FROM (SELECT $1::bigint AS position, $2::text AS field, $3::text AS collection) t`,
    [position, field, collection],
  );
  return rows[0]?.there === true;
}

export interface KeptColumn {
  name: string;
  /** The type as in the definition of the column. */
  type: string;
}

/**
 * Returns the columns that a deletion kept, according to the log. The copy of a field names its columns by identity.
 */
export function keptColumns({ kind, field }: Pick<TrashEntry, 'kind' | 'field'>, node: CollectionNode): KeptColumn[] {
  const copied = [...primaryKeyOf(node).map((each) => each.field), field ?? ''];
  const names = kind === 'collection' ? [...node.fields.keys()] : copied;
  return names.flatMap((each) => {
    const kept = node.fields.get(each);
    const name = kind === 'collection' ? each : node.identities.fields.get(each);
    return hasColumn(kept) && name !== undefined ? [{ name, type: columnType(kept.schema) }] : [];
  });
}

/** Returns the columns that a kept object lacks because it was altered or replaced by hand. */
export async function columnsLost(
  db: Queryable,
  { position, field, collection }: TrashEntry,
  columns: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `SELECT w.name FROM (SELECT $1::bigint AS position, $2::text AS field, $3::text AS collection) t
       JOIN pg_catalog.pg_class c ON ${isKeptTable('t')} CROSS JOIN pg_catalog.unnest($4::text[]) AS w (name)
      WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attname = w.name AND a.attnum > 0 AND NOT a.attisdropped)`,
    [position, field, collection, columns],
  );
  return rows.map(({ name }) => name);
}

/**
 * A condition that the attribute `a` has a different type or modifier than `w.type`. A type that no longer exists under its
 * name was renamed, so it is not compared.
 */
export const HAS_OTHER_TYPE = sql`coalesce(pg_catalog.to_regtype(w.type)::oid <> a.atttypid
  OR coalesce(pg_catalog.substring(pg_catalog.format_type(a.atttypid, a.atttypmod), '[(].*[)]'::text), ''::text)
    <> coalesce(pg_catalog.substring(w.type, '[(].*[)]'::text), ''::text), false)`;

/** A column of a kept object that was altered by hand. */
export interface AlteredColumn extends Pick<TrashEntry, 'position' | 'collection' | 'field'> {
  name: string;
  type: string;
  /** The current type of the column. Null if the column is missing. */
  found: string | null;
  /** The table in the trash, for display. */
  table: string;
}

const ALTERED = `
SELECT e.position::float8 AS position, e.collection, e.field, w.name, w.type,
       pg_catalog.format_type(a.atttypid, a.atttypmod) AS found, c.oid::regclass::text AS table
  FROM pg_catalog.jsonb_to_recordset($1::jsonb)
    AS e (position bigint, collection text, field text, data jsonb, columns jsonb)
  JOIN pg_catalog.pg_class c ON ${isKeptTable('e')}
  CROSS JOIN pg_catalog.jsonb_to_recordset(e.columns) AS w (name text, type text)
  LEFT JOIN pg_catalog.pg_attribute a
    ON a.attrelid = c.oid AND a.attname = w.name AND a.attnum > 0 AND NOT a.attisdropped
 WHERE a.attnum IS NULL OR ${HAS_OTHER_TYPE}
 ORDER BY e.position, w.name`;

/** A kept object with the columns that it should have. */
export interface ExpectedColumns extends Pick<TrashEntry, 'position' | 'collection' | 'field' | 'kept_in'> {
  columns: readonly KeptColumn[];
}

/** Returns the altered columns of kept objects. Objects that do not exist have none. */
export async function alteredColumns(db: Queryable, objects: readonly ExpectedColumns[]): Promise<AlteredColumn[]> {
  const entries = objects.map(({ kept_in, ...object }) => ({ ...object, data: { kept_in } }));
  return (await db.query<AlteredColumn>(ALTERED, [JSON.stringify(entries)])).rows;
}

/** Finds altered columns. It folds the log up to the last deletion, so do not call it under the log's lock. */
export async function findAltered(db: Queryable): Promise<AlteredColumn[]> {
  const expected: ExpectedColumns[] = [];
  await foldBefore(db, createStartPoint(), await selectExisting(db), ({ position, ...kept }, { collections }) => {
    const { collection, field, kept_in } = kept;
    const node = collections.get(collection);
    if (node !== undefined) expected.push({ position, collection, field, kept_in, columns: keptColumns(kept, node) });
  });
  return alteredColumns(db, expected);
}

/* Read the trash from the log: the deletions that kept something and have not ended since. A database that was
   created from its log contains none of the kept objects. */

/** An entry without the members that only a fold or the catalog provides. */
export interface KeptDeletion extends Omit<TrashEntry, 'identity' | 'rows' | 'bytes'> {
  /** True if the kept object exists. */
  there: boolean;
  /** True if the entry has expired by the database's clock. */
  expired: boolean;
}

const QUESTION = `
SELECT e.position::float8 AS position, CASE WHEN e.field IS NULL THEN 'collection' ELSE 'field' END AS kind,
       e.collection, e.field, e.batch, ${KEPT_IN.e} AS kept_in, ${shownTime('e.occurred_at')} AS deleted_at,
       ${shownTime("(e.data ->> 'kept_until'::text)::timestamptz")} AS kept_until, e.actor AS deleted_by,
       coalesce(e.data -> 'publications'::text, '[]') AS publications, coalesce(e.data -> 'foreign_keys'::text, '[]') AS foreign_keys,
       ${keptObjectExists('e')} AS there, (e.data ->> 'kept_until'::text)::timestamptz <= clock_timestamp() AS expired
  FROM ${own.events} e WHERE ${IS_KEPT}`;

export async function allKeptDeletions(db: Queryable): Promise<KeptDeletion[]> {
  return (await db.query<KeptDeletion>(`${QUESTION} ORDER BY e.position`)).rows;
}

/** Returns the deletions at these positions, in order. */
export async function keptDeletions(db: Queryable, positions: readonly number[]): Promise<KeptDeletion[]> {
  if (positions.length === 0) return [];
  const query = `${QUESTION} AND e.position = ANY ($1::bigint[]) ORDER BY e.position`;
  return (await db.query<KeptDeletion>(query, [positions])).rows;
}

/** Finds objects in the trash by identity, under any of their names. */

interface RestorableEntry extends Pick<TrashEntry, 'position' | 'kind' | 'collection' | 'identity' | 'kept_in'> {
  /** True if the log contains the kept object but the database does not, because it was created from that log. */
  empty: boolean;
}

/** Returns entries in the order of deletion. Objects that were dropped from the trash by hand are not found. */
export async function findRestorable(db: Queryable, identities: readonly Identity[]): Promise<RestorableEntry[]> {
  const listed = await findIdentities(db, identities);
  const listedIdentities = new Set(listed.map(({ identity }) => identity));
  const entries = listed
    .filter(({ there }) => there)
    .map(({ position, kind, collection, identity, kept_in }) => ({
      position,
      kind,
      collection,
      identity,
      kept_in,
      empty: false,
    }));
  const unlisted = await findUnlisted(
    db,
    identities.filter((identity) => !listedIdentities.has(identity)),
  );
  return [...entries, ...unlisted].sort((a, b) => a.position - b.position);
}

/** Finds objects that are not in the list by the events that deleted them. */
async function findUnlisted(db: Queryable, identities: readonly Identity[]): Promise<RestorableEntry[]> {
  const ended = new Map<number, Identity>();
  for (const [identity, { position, isOwn }] of await endsOf(db, identities)) if (isOwn) ended.set(position, identity);
  const deletions = await keptDeletions(db, [...ended.keys()]);
  return deletions.map(({ position, kind, collection, kept_in, there }) => {
    const identity = ended.get(position) as Identity;
    return { position, kind, collection, identity, kept_in, empty: !there };
  });
}

/* Find the objects that a plan restores from the trash, and when their entries expire. */

export interface Return {
  collection: string;
  /** Null for a table. */
  field: string | null;
  /** The position of the deletion. */
  position: number;
  /** ISO 8601. After this time, the entry may be purged. Null if it was purged or is not in the list. */
  kept_until: string | null;
}

/** Returns the entries in the order of the events. Empty if the events restore nothing. */
export async function readReturningEntries(db: Queryable, events: readonly LogEvent[]): Promise<Return[]> {
  const taken = events.flatMap((event) => {
    if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
    const { collection, field, data } = event;
    const restored = readRestored(data);
    return restored === undefined ? [] : [{ collection, field, position: restored.position }];
  });
  if (taken.length === 0) return [];
  const { rows } = await db.query<{ position: number; kept_until: string }>(
    `SELECT t.position::float8 AS position, ${shownTime('t.kept_until')} AS kept_until
       FROM ${own.trash} t WHERE t.position = ANY ($1::bigint[])`,
    [taken.map(({ position }) => position)],
  );
  const until = new Map(rows.map(({ position, kept_until }) => [position, kept_until]));
  return taken.map((each) => ({ ...each, kept_until: until.get(each.position) ?? null }));
}

/* Write the list of the trash (service_trash) in the transaction of the events. */

/** The members of an entry that come from the events. */
type Row = Pick<
  TrashEntry,
  'position' | 'kind' | 'collection' | 'field' | 'identity' | 'batch' | 'deleted_at' | 'kept_until'
>;

interface TrashBatch {
  before: State;
  events: readonly StoredEvent[];
}

/**
 * Inserts entries according to the catalog after the DDL. A table that is not in its trash schema is not listed. The
 * number of rows comes from statistics, the size from files, and copied values are counted. LIMIT makes PostgreSQL look
 * up each table separately. Otherwise it would estimate a hundred rows for any list and read all of pg_class.
 */
const INSERT = `
INSERT INTO ${own.trash} (position, kind, collection, field, identity, batch, deleted_at, kept_until, rows, bytes)
SELECT t.position, t.kind, t.collection, t.field, t.identity, t.batch, t.deleted_at, t.kept_until,
       CASE WHEN t.kind = 'field' THEN ${copiedRowCount(sql`c.oid`)} WHEN c.reltuples >= 0::real THEN c.reltuples::bigint END, pg_catalog.pg_total_relation_size(c.oid)
  FROM pg_catalog.jsonb_to_recordset($1::jsonb) AS t (position bigint, kind text, collection text, field text, identity text,
                                       batch uuid, deleted_at timestamptz, kept_until timestamptz)
  CROSS JOIN LATERAL (SELECT c.oid, c.reltuples FROM pg_catalog.pg_class c
                       WHERE ${isKeptTable('t')} LIMIT 1) c`;

const REMOVE = `DELETE FROM ${own.trash} t USING pg_catalog.jsonb_array_elements_text($1::jsonb) AS gone (position) WHERE t.position = gone.position::bigint`;

/** Returns the statement that inserts the rows. Missing objects are skipped. */
const insertRows = (rows: readonly Row[]): Parameterised => ({ text: INSERT, values: [JSON.stringify(rows)] });

/** Returns statements for the entries that a batch adds and removes. They must run after the DDL of the batch. */
export function* trashStatements({ before, events }: TrashBatch): Resumable<Parameterised[]> {
  const rows = events.some(isKeptDeletion) ? yield* rowsOf(before, events) : [];
  const removedPositions = events.flatMap(positionsLeft);
  return [
    ...(rows.length > 0 ? [insertRows(rows)] : []),
    ...(removedPositions.length > 0 ? [{ text: REMOVE, values: [JSON.stringify(removedPositions)] }] : []),
  ];
}

type DeletionEvent = Extract<StoredEvent, { type: 'collection.deleted' | 'field.deleted' }>;

const isKeptDeletion = (event: StoredEvent): event is DeletionEvent =>
  isDeletion(event) && event.data.kept_until !== undefined;

/**
 * Returns the rows of deletions. The names are followed, because the same batch may create or rename an object before
 * it deletes it.
 */
function* rowsOf(before: State, events: readonly StoredEvent[]): Resumable<Row[]> {
  const rows: Row[] = [];
  const folding = startFolding(before);
  for (const event of events) {
    if (isKeptDeletion(event)) rows.push(rowOf(event, folding));
    folding.add(event);
    yield;
  }
  return rows;
}

function rowOf(
  { position, collection, field, data, batch, occurred_at: deleted_at }: DeletionEvent,
  at: RunningFold,
): Row {
  const identity = identityOf({ collection, field }, at.node(collection));
  const kind = field === null ? 'collection' : 'field';
  return { position, kind, collection, field, identity, batch, deleted_at, kept_until: data.kept_until ?? '' };
}

/** @param node the collection immediately before the deletion */
export function identityOf(
  { collection, field }: Pick<Row, 'collection' | 'field'>,
  node: CollectionNode | undefined,
): Identity {
  const identity = field === null ? node?.identities.collection : node?.identities.fields.get(field);
  if (identity === undefined) throw new Error(`trash: ${JSON.stringify(collection)} did not exist before`);
  return identity;
}

/** Returns the positions whose entries an event removes. Alias fields are restored with their table. */
function positionsLeft(event: LogEvent): number[] {
  if (event.type === 'trash.purged') return [event.data.position];
  if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
  const { restored } = event.data;
  return restored === undefined ? [] : [restored.position];
}

/* Rebuild the list of the trash from the log: deletions that have not ended and whose objects still exist. */

export const TRASH_PROJECTION = 'trash';

export interface RebuiltTrash {
  position: number;
  /** The number of objects in the trash. */
  entries: number;
}

/** The identities of deleted objects up to a position of the log. Only a fold provides them. */
interface FoldedIdentities {
  identities: ReadonlyMap<number, Identity>;
  point: Point;
}

/** Folds from the first event without the log's lock, and takes the lock only for the last deletions and the rows. */
export async function rebuildTrash(pool: pg.Pool, lock: LogLock): Promise<RebuiltTrash> {
  const followed = await follow(pool, { identities: new Map(), point: createStartPoint() }, await selectExisting(pool));
  return lock.underLock(async (client, { head: { position } }) => {
    const kept = await selectExisting(client);
    const { identities } = await follow(client, followed, kept);
    await client.query(`DELETE FROM ${own.trash}`);
    const rows = kept.map((each) => ({ ...each, identity: identities.get(each.position) as Identity }));
    await sendBatch(client, [insertRows(rows)]);
    return { position, entries: rows.length };
  });
}

const selectExisting = async (db: Queryable): Promise<KeptDeletion[]> =>
  (await allKeptDeletions(db)).filter(({ there }) => there);

/**
 * Folds the log further, from deletion to deletion.
 * @param kept the deletions in order
 */
async function follow(
  db: Queryable,
  { identities, point }: FoldedIdentities,
  kept: readonly KeptDeletion[],
): Promise<FoldedIdentities> {
  const followed = new Map(identities);
  const added = kept.filter(({ position }) => !followed.has(position));
  const last = await foldBefore(db, point, added, (deletion, { collections }) => {
    followed.set(deletion.position, identityOf(deletion, collections.get(deletion.collection)));
  });
  return { identities: followed, point: last };
}
