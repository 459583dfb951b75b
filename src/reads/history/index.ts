/** Read access for auditors: the log itself, and the schema at any point in time. */
import { bytes } from '../../kernel/bytes.js';
import { shareNext } from '../../kernel/memoize.js';
import type { Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isInLog } from '../../log/divergence.js';
import { readExportedLines } from '../../log/documents.js';
import type { Point } from '../../log/fold.js';
import { type EventText, readEventTexts, selectEventTexts } from '../../log/read.js';
import { type LogVerification, verifyLog } from '../../log/verification.js';
import { own, nameOwnSchema, ownTable } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { hasForeignKey } from '../../projector/ddl/create-table.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { type Sql, ident, join, sql, typeName } from '../../projector/ddl/sql.js';
import type { Statement } from '../../projector/ddl/step.js';
import { ERASURE } from '../../schema/model/events.js';
import { isRoutine } from '../../schema/model/objects.js';
import { objectsInOrder } from '../../schema/model/order.js';
import { type Identity, type State, initialState, schemasOf } from '../../schema/model/state.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../../schema/model/system-collections.js';
import type { TrashNode } from '../../schema/transition/restoring-transition.js';
import { transition } from '../../schema/transition/transition.js';
import type { Store } from '../state-store.js';
import type { StoredFolds } from '../stored-folds.js';
import { type Batch, type BatchSelection, readBatches, type EventFilter, createCondition } from './batches.js';
import {
  type ChangedBatches,
  readChanges,
  type CollectionHistory,
  type CollectionHistoryOptions,
  readCollectionHistory,
  readObjectHistory,
  type ObjectHistoryOptions,
} from './changes.js';
import { type Difference, computeDifference, findObstaclesBetween, readTrashEntries } from './difference.js';
import { type Tail, createTail } from './tail.js';
import { type Moment, isReached, findPositionAt, findPositionBefore, createTimeTravel } from './time-travel.js';

export interface History {
  /** Returns matching events in order of position, and one more than `limit` if there are more. */
  events(filter: EventFilter, order: 'asc' | 'desc', limit: number): Promise<EventText[]>;
  event(position: number): Promise<EventText | undefined>;
  /** True if the event at the position has this hash. A prefix of the hash suffices. */
  holds(point: { position: number; hash: string }): Promise<boolean>;
  /** Returns one batch more than `limit` if there are more. */
  batches(selection: BatchSelection): Promise<Batch[]>;
  /** Returns batches with the documents they changed. Returns fewer batches if there are many documents. */
  changes(selection: BatchSelection): Promise<ChangedBatches>;
  /** Returns one event more than `limit` if there are more. Undefined if no collection ever had this name. */
  collection(options: CollectionHistoryOptions): Promise<CollectionHistory | undefined>;
  /** Like `collection`, for a view, a function or another object. */
  object(options: ObjectHistoryOptions): Promise<CollectionHistory | undefined>;
  /**
   * Returns the last position at or before a point in time, in a log that ends at `head`. Null if the log has no such
   * position.
   * @throws FutureMomentError
   */
  resolve(moment: Moment, head: number): Promise<number | null>;
  /** Returns the last position before a time, for filters. The time may be in the future. */
  positionBefore(time: Date): Promise<number>;
  /** Returns the schema after the event at a position. */
  at(position: number): Promise<Point>;
  /** Returns at least the collections with these names, and those that their foreign keys reference. */
  collectionsAt(names: Iterable<string>, position: number): Promise<Point>;
  difference(from: Point, to: Point, isFromNow: boolean): Promise<Difference>;
  /** Returns the reasons why apply would reject the difference. Empty if there are none. */
  obstacles(from: Point, to: Point): Promise<Problem[]>;
  /** Returns the schema as a SQL script. */
  script(point: Point): Resumable<Buffer>;
  /** Returns the objects with these identities that are in the trash. */
  inTrash(identities: readonly Identity[]): Promise<TrashNode[]>;
  verify(): Promise<LogVerification>;
  /** Yields pages of lines of the exported log up to a position, or up to an erasure during the export. */
  exported(upTo: number): AsyncGenerator<readonly string[], void, undefined>;
  tail: Tail;
}

interface HistoryOptions {
  pool: Queryable;
  store: Pick<Store, 'point' | 'subscribe'>;
  folds: StoredFolds;
  release: string;
  /** The schema of the managed tables. */
  schema: string;
  /** The schema of the service's own tables. */
  serviceSchema: string;
  /** Milliseconds that deleted objects stay in the trash. 0 drops them immediately. */
  keepDeleted: number;
}

/** The requested point in time is in the future. */
export class FutureMomentError extends Error {
  override readonly name = 'FutureMomentError';
}

/** Events per query of an export. They amount to a few hundred kilobytes. */
const EXPORT_PAGE = 200;

/** Creates the reads. Concurrent calls of `verify` share one verification. */
export function createHistory(options: HistoryOptions): History {
  const { pool, schema, serviceSchema } = options;
  const travel = createTimeTravel(options);

  return {
    events: async (filter, order, limit) => {
      const values: unknown[] = [];
      const where = await createCondition(pool, filter, values);
      return selectEventTexts(pool, { where, values, order, limit: limit + 1 });
    },
    event: async (position) => (await readEventTexts(pool, { after: position - 1, upTo: position, limit: 1 }))[0],
    holds: (location) => isInLog(pool, location),
    batches: (selection) => readBatches(pool, { ...selection, limit: selection.limit + 1 }),
    changes: (selection) => readChanges(pool, travel, selection),
    collection: (options) => readCollectionHistory(pool, travel, { ...options, limit: options.limit + 1 }),
    object: (options) => readObjectHistory(pool, { ...options, limit: options.limit + 1 }),
    resolve: (moment, head) => resolve(pool, moment, head),
    positionBefore: (time) => findPositionBefore(pool, time),
    at: travel.at,
    collectionsAt: travel.collectionsAt,
    difference: (from, to, isFromNow) =>
      computeDifference(pool, { from: from.state, to: to.state, isFromNow }, { ...options, travel }),
    obstacles: (from, to) => findObstaclesBetween(from.state, to.state),
    script: (point) => scriptOf(point, { schema, serviceSchema }),
    inTrash: (identities) => readTrashEntries(pool, travel, identities),
    // A verification reads the whole log, so concurrent requests share it.
    verify: shareNext(() => verifyLog(pool, options.store.point().head)),
    exported: (upTo) => exportedOf(pool, upTo),
    tail: createTail(options),
  };
}

async function resolve(pool: Queryable, moment: Moment, head: number): Promise<number | null> {
  if (moment.kind === 'now') return head;
  if (moment.kind === 'position') return moment.position <= head ? moment.position : null;
  const { time } = moment;
  // The log may be ahead of this machine's clock. Then the timestamps in the log decide.
  if (time.getTime() > Date.now() && !(await isReached(pool, time))) {
    throw new FutureMomentError(`${time.toISOString()} is in the future`);
  }
  return findPositionAt(pool, time, head);
}

async function* exportedOf(pool: Queryable, upTo: number): AsyncGenerator<readonly string[], void, undefined> {
  for (let from = 0, to = upTo; ;) {
    for await (const events of readPages(pool, from, to)) yield await readExportedLines(pool, events);
    // Events may have been erased while they were read. The export then needs the event that names them.
    const erased = await readLastErasure(pool);
    if (erased <= to) return;
    [from, to] = [to, erased];
  }
}

async function readLastErasure(pool: Queryable): Promise<number> {
  const { rows } = await pool.query<{ position: number | null }>(
    `SELECT pg_catalog.max(position) AS position FROM ${own.events} WHERE subject ->> 'kind'::text = '${ERASURE}'`,
  );
  return rows[0]?.position ?? 0;
}

async function* readPages(
  pool: Queryable,
  from: number,
  upTo: number,
): AsyncGenerator<readonly EventText[], void, undefined> {
  let next = readEventTexts(pool, { after: from, upTo, limit: EXPORT_PAGE });
  for (;;) {
    const events = await next;
    const last = events.at(-1);
    if (last === undefined) return;
    if (last.position < upTo) {
      next = readEventTexts(pool, { after: last.position, upTo, limit: EXPORT_PAGE });
      // The next iteration awaits this promise. If the consumer stops first, nobody needs its error.
      next.catch(() => undefined);
    }
    yield events;
    if (last.position >= upTo) return;
  }
}

/*
 * Writes a state as an SQL script for an empty server. The script contains the statements that the projector would run,
 * in the same order.
 */

/** Types that PostgreSQL provides only with an extension. */
const EXTENSIONS: readonly { type: RegExp; extension: Sql }[] = [
  { type: /^citext\b/, extension: sql`citext` },
  { type: /^(?:public\.)?geo(?:metry|graphy)\b/, extension: sql`postgis` },
];

/**
 * The schema of the managed tables, and the schema of the service tables that they reference. The script creates them
 * if they are missing.
 */
interface ScriptTarget {
  schema: string;
  serviceSchema: string;
}

/** Returns the SQL script as UTF-8. */
export function* scriptOf({ state, head }: Point, { schema, serviceSchema }: ScriptTarget): Resumable<Buffer> {
  const events = yield* transition(initialState(), state, state.collections.keys());
  const { statements } = yield* planBatch(initialState(), events, schema);
  const before = [
    `-- The schema at position ${head.position}${head.occurred_at === null ? '' : ` (${head.occurred_at})`}: tables, keys, indexes and comments, without data.`,
    '-- Folders, aliases and the metadata of fields exist in the service only.',
    '',
    'BEGIN;',
    "SET LOCAL client_encoding = 'UTF8';",
    `SET LOCAL search_path = ${schema === 'public' ? ident('public') : `${ident(schema)}, public`};`,
    // Like pg_dump, because a body may use objects that the script creates later.
    ...(objectsInOrder(state).some(isRoutine) ? ['SET LOCAL check_function_bodies = off;'] : []),
    ...createPreparations(state, schema).map((statement) => `${statement};`),
    ...systemTables(state, serviceSchema),
    '',
  ];
  return yield* bytes(linesOf(before, scriptLines(statements, serviceSchema), ['', 'COMMIT;']));
}

function* scriptLines(statements: readonly Statement[], serviceSchema: string) {
  for (const { sql: text } of statements) yield `${nameOwnSchema(text, serviceSchema)};`;
}

function* linesOf(before: readonly string[], statements: Iterable<string>, after: readonly string[]) {
  for (const line of before) yield `${line}\n`;
  for (const line of statements) yield `${line}\n`;
  for (const line of after) yield `${line}\n`;
}

function createPreparations(state: State, schema: string): Sql[] {
  const types = findUsedTypes(state);
  const extensions = EXTENSIONS.filter(({ type }) => types.some((each) => type.test(each)));
  return [
    ...schemasOf(state, schema).flatMap((each) =>
      each === 'public' ? [] : [sql`CREATE SCHEMA IF NOT EXISTS ${ident(each)}`],
    ),
    ...extensions.map(({ extension }) => sql`CREATE EXTENSION IF NOT EXISTS ${extension}`),
  ];
}

function findUsedTypes(state: State): string[] {
  const types = new Set<string>();
  for (const { fields } of state.collections.values()) {
    for (const { schema } of fields.values()) if (schema !== null) types.add(schema.data_type);
  }
  return [...types];
}

/** Creates the referenced tables outside the managed schema, with just enough columns for the foreign keys. */
function systemTables(state: State, serviceSchema: string): string[] {
  const named = new Set<string>();
  for (const { relations } of state.collections.values()) {
    for (const relation of relations.values()) if (hasForeignKey(relation)) named.add(relation.one_collection);
  }
  return [...REFERABLE_SYSTEM_COLLECTIONS].flatMap(([table, { field, data_type }]) => {
    if (!named.has(table)) return [];
    const column = join([ident(field), typeName(data_type)], sql` `);
    return [
      '',
      `-- The table of the service, reduced to its key: foreign keys below reference it.`,
      `CREATE SCHEMA IF NOT EXISTS ${ident(serviceSchema)};`,
      nameOwnSchema(`CREATE TABLE IF NOT EXISTS ${ownTable(table)} (${column} PRIMARY KEY);`, serviceSchema),
    ];
  });
}
