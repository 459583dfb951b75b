/* Converts an event filter to a condition with parameters. */
import { IS_RENAME, readSpans, withinSpans } from '../../log/lifetimes.js';
import type { Queryable } from '../../postgres/pool.js';
import { EVENT_KINDS } from '../../schema/fold/event-schemas.js';
import type { EventType } from '../../schema/model/events.js';

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
