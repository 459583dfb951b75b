/*
 * Stored folds are states along the log, written in the background and verified by hash. They only save time. An
 * invalid one is deleted, and the next fold writes it again.
 */
import { type Hmac, createHmac } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createGunzip, createGzip } from 'node:zlib';
import type { Logger } from '../postgres/logger.js';
import type { Queryable } from '../postgres/pool.js';
import { REFUSE_OLDER_RELEASE, own } from '../postgres/own-tables.js';
import type { Point } from '../log/fold.js';
import { type Texts, inChunks } from '../kernel/bytes.js';
import { runYielding, createTimeSlice } from '../kernel/event-loop.js';
import {
  type Collection,
  type ColumnSchema,
  type Field,
  type Relation,
  COLLECTION_META_DEFAULTS,
  COLUMN_DEFAULTS,
  FIELD_META_DEFAULTS,
} from '../schema/model/model.js';
import { renameIndexes, reindex } from '../schema/fold/replace-names.js';
import { objectKey } from '../schema/model/objects.js';
import {
  type CollectionNode,
  type Identity,
  type ObjectNode,
  type State,
  initialState,
} from '../schema/model/state.js';

/* Reads and writes the rows of service_folds. */

/*
 * Serialises a state: one line with the distinct column definitions, then one line per collection, and one per view or
 * materialized view. Members with the most common value are omitted.
 */

/**
 * Version of the format and of the states in it. Increase it when the templates below change, or when a release folds
 * the same events to a different state. Stored folds of older versions are ignored and replaced.
 */
export const FOLD_FORMAT = 3;

/** Values of omitted members. They are part of the format: a test fails if they change and the version does not. */
export const OMITTED = {
  collectionMeta: COLLECTION_META_DEFAULTS,
  fieldMeta: FIELD_META_DEFAULTS,
  column: { data_type: 'character varying', ...COLUMN_DEFAULTS },
} as const;

/**
 * `column` is an index into the column definitions or null. If there are too many definitions, it is the column itself.
 */
type StoredField = [name: string, identity: Identity, type: string, meta: unknown, column: unknown];
type StoredNode = [
  name: string,
  identity: Identity,
  meta: unknown,
  schema: Collection['schema'],
  fields: StoredField[],
  relations: Relation[],
];

/**
 * Maximum number of column definitions. Most columns share a few of them, and equal definitions become one object in
 * memory.
 */
const KINDS = 5_000;

/** @returns the lines */
export async function writeState(state: State): Promise<string[]> {
  const kinds = new Map<string, number>();
  const lines: string[] = [''];
  const slice = createTimeSlice();
  for (const node of state.collections.values()) {
    lines.push(JSON.stringify(toStored(node, kinds)));
    if (slice.isOver()) await slice.yield();
  }
  for (const node of state.objects.values()) lines.push(JSON.stringify(node));
  lines[0] = `[${[...kinds.keys()].join(',')}]`;
  return lines;
}

/** @throws if `writeState` did not write the lines */
export async function readState(text: Iterable<string>, position: number): Promise<State> {
  const lines = text[Symbol.iterator]();
  const slice = createTimeSlice();
  let { referencedBy, indexNames, objects } = initialState();
  const collections = initialState().collections.asMutable();
  const kinds = (JSON.parse(String(lines.next().value)) as unknown[]).map((kind) => expandStored(kind, OMITTED.column));
  for (let line = lines.next(); line.done !== true; line = lines.next()) {
    const stored = JSON.parse(line.value) as StoredNode | ObjectNode;
    if (!Array.isArray(stored)) {
      objects = objects.set(objectKey(stored.object), stored);
      continue;
    }
    const node = fromStored(stored, kinds);
    const name = node.collection.collection;
    collections.set(name, node);
    referencedBy = reindex(referencedBy, name, undefined, node.relations);
    indexNames = renameIndexes(indexNames, [{ collection: name, before: undefined, after: node }]);
    if (slice.isOver()) await slice.yield();
  }
  return { position, collections: collections.asImmutable(), referencedBy, indexNames, objects };
}

function toStored(
  { identities, collection, fields, relations }: CollectionNode,
  kinds: Map<string, number>,
): StoredNode {
  return [
    collection.collection,
    identities.collection,
    shrink(collection.meta, OMITTED.collectionMeta),
    collection.schema,
    [...fields.values()].map(({ field, type, meta, schema }) => [
      field,
      identities.fields.get(field) as Identity,
      type,
      shrink(meta, OMITTED.fieldMeta),
      schema === null ? null : kindOf(shrink(schema, OMITTED.column), kinds),
    ]),
    [...relations.values()],
  ];
}

function kindOf(column: unknown, kinds: Map<string, number>): unknown {
  const text = JSON.stringify(column);
  const cached = kinds.get(text);
  if (cached !== undefined) return cached;
  if (kinds.size >= KINDS) return column;
  kinds.set(text, kinds.size);
  return kinds.size - 1;
}

function fromStored(stored: StoredNode, kinds: ColumnSchema[]): CollectionNode {
  const [name, identity, meta, schema, fields, relations] = stored;
  const collection: Collection = { collection: name, meta: expandStored(meta, OMITTED.collectionMeta), schema };
  return {
    identities: { collection: identity, fields: new Map(fields.map((field) => [field[0], field[1]])) },
    collection,
    fields: new Map(fields.map((field) => [field[0], fromStoredField(name, field, kinds)])),
    relations: new Map(relations.map((relation) => [relation.many_field, relation])),
  };
}

function fromStoredField(collection: string, stored: StoredField, kinds: readonly ColumnSchema[]): Field {
  const [field, _identity, type, meta, column] = stored;
  return {
    collection,
    field,
    type,
    meta: expandStored(meta, OMITTED.fieldMeta),
    schema: columnOf(column, kinds),
  };
}

function columnOf(column: unknown, kinds: readonly ColumnSchema[]): ColumnSchema | null {
  if (typeof column !== 'number') return column === null ? null : expandStored(column, OMITTED.column);
  const kind = kinds[column];
  if (kind === undefined) throw new Error(`no column of kind ${column} exists`);
  return kind;
}

/** Returns the members that differ, or the whole document in an array if it lacks a member of the template. */
function shrink(document: object, template: object): unknown {
  const usual = template as Record<string, unknown>;
  const rest: Record<string, unknown> = {};
  let sharedCount = 0;
  for (const [member, value] of Object.entries(document)) {
    const isShared = Object.hasOwn(usual, member);
    if (isShared) sharedCount += 1;
    if (!isShared || usual[member] !== value) rest[member] = value;
  }
  return sharedCount === Object.keys(usual).length ? rest : [document];
}

function expandStored<T extends object>(stored: unknown, template: T): T {
  return Array.isArray(stored) ? (stored[0] as T) : { ...template, ...(stored as Partial<T>) };
}

interface Row {
  position: number;
  format: number;
  event_hash: string;
  occurred_at: Date;
  hash: string;
  content: Buffer;
  /** Hash of the event at the position in the log. */
  log_hash: string | null;
}

/** A stored fold that is invalid and must be deleted. */
interface WrongFold {
  position: number;
  why: string;
}

/** Bytes that are hashed and decoded per step, so that the event loop is not blocked. */
const CHUNK = 131_072;

/** Positions of all folds of this format, ascending. */
export async function foldPositions(db: Queryable): Promise<number[]> {
  const { rows } = await db.query<{ position: number }>(
    `SELECT position FROM ${own.folds} WHERE format = $1 ORDER BY position`,
    [FOLD_FORMAT],
  );
  return rows.map((row) => row.position);
}

/** Returns null if there is no fold at the position. */
export async function readFold(db: Queryable, position: number, secret: string): Promise<Point | WrongFold | null> {
  const { rows } = await db.query<Row>(
    `SELECT f.*, e.hash AS log_hash FROM ${own.folds} f LEFT JOIN ${own.events} e USING (position)
      WHERE f.position = $1 AND f.format = $2`,
    [position, FOLD_FORMAT],
  );
  const [row] = rows;
  if (row === undefined) return null;
  if (row.log_hash !== row.event_hash) return { position, why: 'it belongs to another log' };
  try {
    const head = { position, hash: row.event_hash, occurred_at: row.occurred_at.toISOString() };
    const hash = hasherOf(head, secret);
    const chunks = await decompress(row.content, (chunk) => hash.update(chunk));
    if (hash.digest('hex') !== row.hash) return { position, why: 'its hash does not match its content' };
    return { state: await readState(linesIn(chunks), position), head };
  } catch (error) {
    return { position, why: `it cannot be read (${(error as Error).message})` };
  }
}

/** Replaces an existing fold. */
export async function insertFold(db: Queryable, { state, head }: Point, secret: string): Promise<void> {
  const hash = hasherOf(head, secret);
  const content = await compress(await writeState(state), (chunk) => hash.update(chunk));
  await db.query(
    `INSERT INTO ${own.folds} (position, format, event_hash, occurred_at, hash, content)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (position) DO UPDATE SET format = excluded.format, event_hash = excluded.event_hash,
       occurred_at = excluded.occurred_at, hash = excluded.hash, content = excluded.content, made_at = now()`,
    [head.position, FOLD_FORMAT, head.hash, head.occurred_at, hash.digest('hex'), content],
  );
}

/** Does nothing if there is no fold at the position. */
async function deleteFold(db: Queryable, position: number): Promise<void> {
  await db.query(`DELETE FROM ${own.folds} WHERE position = $1`, [position]);
}

/**
 * Creates the hasher of a fold. The event's hash binds the fold to the chain and the secret binds it to the service.
 * Someone who can write rows cannot forge a fold.
 */
function hasherOf({ position, hash, occurred_at }: Point['head'], secret: string): Hmac {
  return createHmac('sha256', `stored folds\n${secret}`)
    .update(JSON.stringify([FOLD_FORMAT, position, hash, occurred_at]))
    .update('\n');
}

async function compress(lines: readonly string[], see: (chunk: Buffer) => void): Promise<Buffer> {
  const gzip = createGzip({ level: 1 });
  const compressed = buffer(gzip);
  await runYielding(
    inChunks(joinLines(lines), (chunk) => {
      see(chunk);
      gzip.write(chunk);
    }),
  );
  gzip.end();
  return compressed;
}

function* joinLines(lines: readonly string[]): Texts & Generator<string, void, void> {
  for (const [index, line] of lines.entries()) yield index === 0 ? line : `\n${line}`;
}

/** @throws if `packed` did not write it */
async function decompress(content: Buffer, see: (chunk: Buffer) => void): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  const gunzip = createGunzip({ chunkSize: CHUNK });
  gunzip.end(content);
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    see(chunk);
    chunks.push(chunk);
  }
  return chunks;
}

function* linesIn(chunks: readonly Buffer[]): Generator<string, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest + decoder.decode();
}

export interface StoredFolds {
  /** Returns the newest valid fold after `above` and up to `position`. */
  nearest(position: number, above?: number): Promise<Point | undefined>;
  /** Returns the position after `from` at which the next state should be stored. */
  nextStop(from: Point): number;
  /** Stores a state in the background, unless a stored one is nearby. */
  offer(point: Point): void;
  /** Resolves when nothing is being stored. */
  idle(): Promise<void>;
  /** Stores `last` if that is fast, and waits for running writes. Nothing is stored afterwards. */
  close(last?: Point): Promise<void>;
}

export interface StoredFoldsOptions {
  pool: Queryable;
  logger: Logger;
  /** The secret of the service. Folds written with another secret are discarded. */
  secret: string;
  /** True while the database is read-only. Nothing is stored or deleted then. */
  readOnly?: () => boolean;
  /** Returns the number of events between stored folds for a number of collections. */
  interval?: (collections: number) => number;
}

/**
 * Number of events between stored folds. The cost of a fold grows with the collections, and its benefit grows with the
 * events. As many events as collections keep both in balance.
 */
const INTERVAL = (collections: number): number => Math.min(50_000, Math.max(5_000, collections));

/** Maximum number of states that wait to be stored. Each one is held in memory. */
const MAX_WAITING = 4;

/** At shutdown, the state is stored only if it has at most this many collections and at least this many new events. */
const AT_THE_END = { collections: 2_000, events: 1_000 } as const;

/**
 * Creates the stored folds. If a write fails, the error is logged and the fold is skipped. An invalid fold is logged
 * and deleted.
 */
export function createStoredFolds(options: StoredFoldsOptions): StoredFolds {
  const { pool, logger, secret, readOnly = () => false, interval = INTERVAL } = options;
  const waiting: Point[] = [];
  let positions: number[] | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  /**
   * Reads the positions of all folds. Other processes store folds too, so the list is only a hint and is read again
   * before each write.
   */
  const list = async (): Promise<number[]> => (positions = await foldPositions(pool));

  const before = (position: number): number => positions?.findLast((each) => each <= position) ?? 0;

  const isDue = ({ state, head }: Point, events = interval(state.collections.size)): boolean => {
    const after = positions?.find((each) => each > head.position);
    // Requires half an interval to the next later fold, so that the folds stay evenly spread.
    const farFromNext = after === undefined || after - head.position >= events / 2;
    return head.position - before(head.position) >= events && farFromNext;
  };

  const store = async (point: Point, events?: number): Promise<void> => {
    try {
      await list();
      if (!isDue(point, events)) return;
      const started = performance.now();
      await pool.query(REFUSE_OLDER_RELEASE.text);
      await insertFold(pool, point, secret);
      await list();
      const milliseconds = Math.round(performance.now() - started);
      logger.debug('state stored', { position: point.head.position, milliseconds });
    } catch (error) {
      logger.warn('a state could not be stored', { position: point.head.position, error });
    }
  };

  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await store(next);
    running = undefined;
  };

  const offer = (point: Point): void => {
    if (closed || readOnly() || waiting.length >= MAX_WAITING || !isDue(point)) return;
    const last = waiting.at(-1)?.head.position;
    if (last !== undefined && point.head.position - last < interval(point.state.collections.size)) return;
    waiting.push(point);
    running ??= work();
  };

  const nearest = async (position: number, above = 0): Promise<Point | undefined> => {
    const candidates = (await list()).filter((each) => each > above && each <= position);
    for (const candidate of candidates.reverse()) {
      const fold = await readFold(pool, candidate, secret);
      if (fold !== null && 'state' in fold) return fold;
      if (fold === null) continue;
      logger.warn('a stored state is invalid and is discarded', { position: candidate, why: fold.why });
      if (!readOnly()) await deleteFold(pool, candidate);
      positions = positions?.filter((each) => each !== candidate);
    }
    return undefined;
  };

  return {
    nearest,
    nextStop: (from) => from.head.position + interval(from.state.collections.size),
    offer,
    idle: async () => running,
    close: async (last) => {
      closed = true;
      await running;
      if (last !== undefined && !readOnly() && last.state.collections.size <= AT_THE_END.collections) {
        await store(last, AT_THE_END.events);
      }
    },
  };
}
