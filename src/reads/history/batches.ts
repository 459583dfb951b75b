/** Reads batches, the accepted commands: who sent each one, when and why, with a one-line summary. */
import { IS_RENAME, readSpans, withinSpans } from '../../log/lifetimes.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { EVENT_KINDS } from '../../schema/fold/event-schemas.js';
import type { EventType, Cause } from '../../schema/model/events.js';
import { ENVIRONMENT, WEBHOOK } from '../../schema/model/service-events.js';

/* Converts an event filter to a condition with parameters. */

/* All event types. Those of collections come first, because a batch summary begins with the most important change. */

export const EVENT_TYPES = Object.keys(EVENT_KINDS) as [EventType, ...EventType[]];

export interface EventFilter {
  /** The name of a collection. The filter also matches events of the collection under its earlier and later names. */
  collection?: string | undefined;
  /** The name of a field of the collection. Without `collection`, all fields with that name match. */
  field?: string | undefined;
  /** The position at which `collection` and `field` had these names. Undefined means the head. */
  namesAt?: number | undefined;
  type?: string | undefined;
  /** Id or name of the actor. */
  actor?: string | undefined;
  batch?: string | undefined;
  /** The kind of the subject, if it is not a collection. */
  subjectKind?: string | undefined;
  subjectId?: string | undefined;
  command?: string | undefined;
  /** Text to find in reasons and object names, ignoring case. */
  text?: string | undefined;
  /** Exclusive. */
  after?: number | undefined;
  /** Exclusive. */
  before?: number | undefined;
}

type Condition = (placeholder: string) => string;

const CONDITIONS: Record<Exclude<keyof EventFilter, 'collection' | 'namesAt'>, Condition> = {
  field: (placeholder) =>
    `(e.field = ${placeholder} OR (${IS_RENAME} AND e.type = 'field.renamed' AND e.data ->> 'to'::text = ${placeholder}))`,
  type: (placeholder) => `e.type = ${placeholder}`,
  actor: (placeholder) => `(e.actor ->> 'id'::text = ${placeholder} OR e.actor ->> 'name'::text = ${placeholder})`,
  subjectKind: (placeholder) => `e.subject ->> 'kind'::text = ${placeholder}`,
  subjectId: (placeholder) => `e.subject ->> 'id'::text = ${placeholder}`,
  batch: (placeholder) => `e.batch = ${placeholder}`,
  command: (placeholder) => `e.command = ${placeholder}`,
  text: (placeholder) =>
    `pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(E'\\n', e.reason, e.collection, e.field, e.collection || '.' || e.field,
       CASE WHEN e.type IN ('collection.renamed', 'field.renamed') THEN e.data ->> 'to'::text END)), pg_catalog.lower(${placeholder})) > 0`,
  after: (placeholder) => `e.position > ${placeholder}`,
  before: (placeholder) => `e.position < ${placeholder}`,
};

/**
 * Returns an SQL condition on service_events AS e.
 * @param values the parameters so far; those of the condition are appended
 */
export async function createCondition(db: Queryable, filter: EventFilter, values: unknown[]): Promise<string> {
  const { collection, namesAt, ...rest } = filter;
  const { field, ...others } = rest;
  const conditions: string[] = [];
  if (collection !== undefined)
    conditions.push(withinSpans(await readSpans(db, { collection, field, at: namesAt }), values));
  const single: typeof rest = collection === undefined ? rest : others;
  for (const name of Object.keys(CONDITIONS) as (keyof typeof CONDITIONS)[]) {
    const value = single[name];
    if (value !== undefined) conditions.push(CONDITIONS[name](`$${values.push(value)}`));
  }
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/* Summarises a batch in one line. */

interface TypeCount {
  type: string;
  /** True if the event restores an object from the trash. */
  restored: boolean;
  count: number;
  /** Set only if the count is 1. */
  collection: string | null;
  field: string | null;
  /** The new name of a rename. */
  to?: string | null;
  /** The title of the change request, or the name of the user, API token, webhook or environment. */
  title?: string | null;
}

/** Returns a summary such as `created collection articles, updated 3 fields, deleted relation articles.author`. */
export function summarise(counts: readonly TypeCount[]): string {
  const ordered = [...counts].sort((a, b) => rank(a.type) - rank(b.type) || Number(a.restored) - Number(b.restored));
  return ordered.map(describeCount).join(', ');
}

/** Nouns for events whose type alone would not be understood. */
const NOUNS: Readonly<Record<string, string>> = {
  change: 'change request',
  account: 'user',
  token: 'API token',
  trust: 'trust rules',
};
const VERBS: Readonly<Record<string, string>> = { 'change.commented': 'commented on' };

/** Describes the events of one type. The name of an object other than a table contains its kind. */
function describeCount({ type, restored, count, collection, field, to, title }: TypeCount): string {
  const [subject = '', done = ''] = type.split('.');
  const kind = NOUNS[subject] ?? subject;
  const verb = restored ? 'restored' : (VERBS[type] ?? done);
  if (count > 1) return `${verb} ${count} ${kind}s`;
  const name = [collection, field].filter((part) => part !== null).join('.');
  if (title != null) return `${verb} ${kind} “${title}”`;
  const message = [verb, kind === 'object' ? '' : kind, name].filter((word) => word !== '').join(' ');
  return to == null ? message : describeRename(message, to, name);
}

/** A collection can keep its name when its table moves to another schema. */
const describeRename = (message: string, to: string, name: string): string =>
  to === name ? `moved the table of collection ${name}` : `${message} to ${to}`;

function rank(type: string): number {
  const index = EVENT_TYPES.findIndex((each) => each === type);
  return index < 0 ? EVENT_TYPES.length : index;
}

export interface Batch extends Cause {
  batch: string;
  occurred_at: string;
  first_position: number;
  last_position: number;
  events: number;
  /** A summary in one line, such as `created collection articles`. */
  summary: string;
  types: Record<string, number>;
}

export interface BatchSelection {
  filter: EventFilter;
  /** `asc` returns the oldest batches after `filter.after`. `desc` returns the newest before `filter.before`. */
  order: 'asc' | 'desc';
  limit: number;
}

type Row = Omit<Batch, 'occurred_at' | 'events' | 'summary' | 'types'> & { occurred_at: Date; last_hash: string };

/** SQL for the first step, and for each following step, which starts after a batch. */
const STEPS = {
  asc: { from: 'after', beyond: '>', end: 'last_position', start: 0 },
  desc: { from: 'before', beyond: '<', end: 'first_position', start: Number.MAX_SAFE_INTEGER },
} as const;

/** The cache holds the counts of up to `batches` batches. Smaller batches than `events` events are not cached. */
export async function readBatches(db: Queryable, { filter, order, limit }: BatchSelection): Promise<Batch[]> {
  const values: unknown[] = [limit];
  const { from, beyond, end, start } = STEPS[order];
  const { [from]: bound, ...rest } = filter;
  const condition = await createCondition(db, rest, values);
  values.push(bound ?? start);
  const step = (bound: string): string => `
    SELECT e.batch,
           (SELECT pg_catalog.min(b.position) FROM ${own.events} b WHERE b.batch = e.batch) AS first_position,
           (SELECT pg_catalog.max(b.position) FROM ${own.events} b WHERE b.batch = e.batch) AS last_position
      FROM ${own.events} e WHERE e.position ${beyond} ${bound} AND ${condition}
     ORDER BY e.position ${order} LIMIT 1`;
  const { rows } = await db.query<Row>(
    `WITH RECURSIVE found AS (
       SELECT 1 AS number, s.* FROM (${step(`$${values.length}::bigint`)}) s
       UNION ALL
       SELECT f.number + 1, s.* FROM found f CROSS JOIN LATERAL (${step(`f.${end}`)}) s WHERE f.number < $1
     )
     SELECT f.batch, e.occurred_at, e.actor, e.command, e.reason, e.request_id, e.ip, e.user_agent,
            f.first_position, f.last_position, e.hash AS last_hash
       FROM found f CROSS JOIN LATERAL (SELECT * FROM ${own.events} l WHERE l.position = f.last_position OFFSET 0) e
      ORDER BY f.number`,
    values,
  );
  const counts = await readCounts(db, rows);
  return rows.map(({ last_hash, ...row }) => ({
    ...row,
    occurred_at: row.occurred_at.toISOString(),
    events: row.last_position - row.first_position + 1,
    ...summariseCounts(counts.get(last_hash) ?? []),
  }));
}

function summariseCounts(counts: readonly TypeCount[]): Pick<Batch, 'summary' | 'types'> {
  const types: Record<string, number> = {};
  for (const { type, count } of counts) types[type] = (types[type] ?? 0) + count;
  return { summary: summarise(counts), types };
}

/** SQL that is true for events that restore from the trash. It reads the subject, because the data may be large. */
const RESTORED = `(coalesce(subject ->> 'kind'::text, '') = 'trash' AND type IN ('collection.created', 'field.created'))`;

/**
 * SQL for the id of what an event is about: a change request, user, API token, webhook or environment. The subject of an
 * event about a token is its user.
 */
const TITLED = `CASE pg_catalog.split_part(type, '.', 1) WHEN 'token' THEN data ->> 'token'::text
  WHEN 'change' THEN subject ->> 'id'::text WHEN 'account' THEN subject ->> 'id'::text WHEN 'identity' THEN subject ->> 'id'::text
  WHEN 'webhook' THEN subject ->> 'id'::text WHEN 'environment' THEN subject ->> 'id'::text END`;

/** SQL for the name of an object other than a table that an event is about: `view active_posts`. */
const OBJECT = `CASE WHEN type LIKE 'object.%' THEN pg_catalog.replace(subject ->> 'kind'::text, '_', ' ') || ' ' || (subject ->> 'id'::text) END`;

type BatchTypeCount = TypeCount & { batch: string; type: EventType; titled: string | null };

/**
 * Counts of large batches by the hash of their last event, which identifies all events up to it. Counting 100 batches
 * of 5,000 events takes most of a second.
 */
const countsByHash = new Map<string, readonly BatchTypeCount[]>();

/** The counts of a batch are cached if it has at least `events` events. The cache holds `batches` batches. */
const KNOWN = { events: 100, batches: 5_000 } as const;

/** Returns the counts by the hash of the batch's last event. */
async function readCounts(db: Queryable, batches: readonly Row[]): Promise<Map<string, TypeCount[]>> {
  const missing = batches.filter(({ last_hash }) => !countsByHash.has(last_hash));
  const counted = new Map<string, BatchTypeCount[]>(missing.map(({ batch }) => [batch, []]));
  for (const row of missing.length === 0 ? [] : await countEvents(db, missing)) counted.get(row.batch)?.push(row);
  const countsByBatch = new Map<string, readonly BatchTypeCount[]>();
  for (const { batch, first_position, last_position, last_hash } of batches) {
    const counts = countsByHash.get(last_hash) ?? counted.get(batch) ?? [];
    countsByBatch.set(last_hash, counts);
    if (last_position - first_position >= KNOWN.events) cacheCounts(last_hash, counts);
  }
  return withTitles(db, countsByBatch);
}

/** Stores the counts, and removes the least recently used ones. */
function cacheCounts(hash: string, counts: readonly BatchTypeCount[]): void {
  countsByHash.delete(hash);
  countsByHash.set(hash, counts);
  for (const oldest of countsByHash.keys()) if (countsByHash.size > KNOWN.batches) countsByHash.delete(oldest);
}

/** Titles and names can change, so they are not cached. */
async function withTitles(
  db: Queryable,
  countsByBatch: ReadonlyMap<string, readonly BatchTypeCount[]>,
): Promise<Map<string, TypeCount[]>> {
  const ids = [...countsByBatch.values()].flat().flatMap(({ titled }) => titled ?? []);
  const titles = ids.length === 0 ? new Map<string, string>() : await readTitles(db, ids);
  const withTitle = ({ titled, ...count }: BatchTypeCount): TypeCount =>
    titled === null ? count : { ...count, title: titles.get(titled) ?? null };
  return new Map([...countsByBatch].map(([hash, counts]) => [hash, counts.map(withTitle)]));
}

/**
 * Returns the titles of reviewed change requests, and names. The log contains no names of users and API tokens, so those
 * of deleted ones are unknown. Names of deleted webhooks and environments are in their events.
 */
async function readTitles(db: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<{ id: string; title: string | null }>(
    `SELECT id::text, request #>> '{proposal,title}'::text[] AS title FROM ${own.changes} WHERE id = ANY ($1::text[]::uuid[])
     UNION ALL SELECT id::text, name FROM ${own.users} WHERE id = ANY ($1::text[]::uuid[])
     UNION ALL SELECT id::text, name FROM ${own.tokens} WHERE id = ANY ($1::text[]::uuid[])
     UNION ALL (SELECT DISTINCT ON (subject ->> 'id'::text) subject ->> 'id'::text, data ->> 'name'::text FROM ${own.events}
       WHERE subject ->> 'kind'::text IN ('${WEBHOOK}', '${ENVIRONMENT}') AND subject ->> 'id'::text = ANY ($1::text[])
         AND data ->> 'name'::text IS NOT NULL ORDER BY subject ->> 'id'::text, position DESC)`,
    [ids],
  );
  return new Map(rows.flatMap(({ id, title }) => (title === null ? [] : [[id, title]])));
}

async function countEvents(db: Queryable, batches: readonly Row[]): Promise<BatchTypeCount[]> {
  const { rows } = await db.query<BatchTypeCount>(
    `SELECT batch, type, ${RESTORED} AS restored, count(*)::int AS count, pg_catalog.min(coalesce(collection, ${OBJECT})) AS collection, pg_catalog.min(field) AS field,
            pg_catalog.min(CASE WHEN type IN ('collection.renamed', 'field.renamed', 'object.renamed') THEN data ->> 'to'::text END) AS "to",
            pg_catalog.min(${TITLED}) AS titled
       FROM ${own.events} e WHERE batch = ANY ($1) GROUP BY 1, 2, 3`,
    [batches.map(({ batch }) => batch)],
  );
  return rows;
}
