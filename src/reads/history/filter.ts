/** Which events are asked for, as a condition with its values. */

export interface EventFilter {
  collection?: string | undefined;
  field?: string | undefined;
  type?: string | undefined;
  /** Id or name of the actor. */
  actor?: string | undefined;
  batch?: string | undefined;
  /** What it is about other than a collection: its kind. */
  subjectKind?: string | undefined;
  subjectId?: string | undefined;
  command?: string | undefined;
  /** A part of a reason, or of a name of what it is about, in any case. */
  text?: string | undefined;
  /** Events after this position. */
  after?: number | undefined;
  /** Events before this position. */
  before?: number | undefined;
}

type Condition = (place: string) => string;

const CONDITIONS: Record<keyof EventFilter, Condition> = {
  // A rename concerns what it touches, and who has the name from then on.
  collection: (place) => `(e.collection = ${place} OR (e.type IN ('collection.renamed', 'field.renamed')
    AND (e.data -> 'touches'::text ? ${place} OR (e.type = 'collection.renamed' AND e.data ->> 'to'::text = ${place}))))`,
  field: (place) => `e.field = ${place}`,
  type: (place) => `e.type = ${place}`,
  actor: (place) => `(e.actor ->> 'id'::text = ${place} OR e.actor ->> 'name'::text = ${place})`,
  subjectKind: (place) => `e.subject ->> 'kind'::text = ${place}`,
  subjectId: (place) => `e.subject ->> 'id'::text = ${place}`,
  batch: (place) => `e.batch = ${place}`,
  command: (place) => `e.command = ${place}`,
  text: (place) =>
    `pg_catalog.strpos(pg_catalog.lower(pg_catalog.concat_ws(E'\\n', e.reason, e.collection, e.field, e.collection || '.' || e.field,
       CASE WHEN e.type IN ('collection.renamed', 'field.renamed') THEN e.data ->> 'to'::text END)), pg_catalog.lower(${place})) > 0`,
  after: (place) => `e.position > ${place}`,
  before: (place) => `e.position < ${place}`,
};

/** A condition on service_events AS e. @param values gets the values; their places are numbered behind what it holds */
export function conditionOf(filter: EventFilter, values: unknown[]): string {
  const conditions = (Object.keys(CONDITIONS) as (keyof EventFilter)[]).flatMap((name) => {
    const value = filter[name];
    if (value === undefined) return [];
    values.push(value);
    return [CONDITIONS[name](`$${values.length}`)];
  });
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}
