/* Helpers of the rules. */
import type { Operation } from 'fast-json-patch';
import { sourceOf, backfillOfEvent } from '../../model/backfill.js';
import { isSerial } from '../../model/extras.js';
import {
  type CollectionNode,
  type ColumnField,
  extrasOf,
  hasColumn,
  hasDefault,
  primaryKeyOf,
} from '../../model/state.js';
import { levelBySize, sizeText } from '../levels.js';
import {
  type Field,
  type FieldChange,
  type Level,
  type Observation,
  type PlannedEvent,
  type TableStatistics,
  type SaferWay,
  type SafeRequest,
  type PlannedStatement,
  tableOfRows,
} from '../model.js';
import { columnType } from '../../sql-text/data-types.js';
import type { NewEvent } from '../../model/events.js';

/** Formats the name of a field: `articles.title`. */
export const labelOf = ({ collection, field }: Pick<Field, 'collection' | 'field'>): string => `${collection}.${field}`;

/** True if the change creates a column or changes the member of an existing column. */
export const changesMember = ({ old, now }: FieldChange, member: 'data_type'): boolean =>
  hasColumn(now) && (!hasColumn(old) || old.schema[member] !== now.schema[member]);

/** Returns both columns if the field keeps its column. */
export const columnsOf = ({ old, now }: FieldChange): { old: ColumnField; now: ColumnField } | undefined =>
  hasColumn(old) && hasColumn(now) ? { old, now } : undefined;

/** Returns the field after the change. */
export const fieldAfter = (
  { after }: Pick<PlannedEvent, 'after'>,
  { field }: { field: string | null },
): Field | undefined => (field === null ? undefined : after?.fields.get(field));

/** True if PostgreSQL gets the values of new rows from a sequence. */
export const hasCounter = ({ schema }: ColumnField): boolean => schema.has_auto_increment || isSerial(schema);

/** True if an INSERT must contain a value for the column. */
export const isRequired = (field: ColumnField): boolean =>
  !field.schema.is_nullable && field.schema.generation_expression === null && !hasDefault(field);

/** True if the table existed before, so that it may contain rows. */
export const isOldTable = ({ event, batch }: PlannedEvent): boolean => !batch.isNew(event.collection);

/** Returns the level by table size, with the statistics. */
export function rateBySize(
  planned: PlannedEvent,
  table: string,
  most?: Level,
): Pick<Observation, 'level' | 'statistics'> {
  const statistics: TableStatistics | undefined = planned.batch.statistics(table);
  const level = levelBySize(statistics);
  return { level: most !== undefined && level === 'danger' ? most : level, statistics: statistics ?? null };
}

/**
 * Returns the definition of a constraint as PostgreSQL writes it. Undefined if the table has no such constraint, or if
 * a field or relation describes it.
 */
export const extraConstraint = (node: CollectionNode | undefined, name: string): string | undefined =>
  extrasOf(node).constraints?.find((each) => each.name === name)?.definition;

const ADDING: ReadonlySet<string> = new Set(['collection.created', 'collection.adopted', 'collection.updated']);

/** Returns the elements of a list of extras that an event adds. */
export function findAdded<K extends 'constraints' | 'indexes' | 'needs'>(
  { event, before, after }: PlannedEvent,
  part: K,
): NonNullable<ReturnType<typeof extrasOf>[K]>[number][] {
  if (!ADDING.has(event.type)) return [];
  type Item = NonNullable<ReturnType<typeof extrasOf>[K]>[number];
  const formerNames = new Set(((extrasOf(before)[part] ?? []) as Item[]).map(({ name }) => name));
  return ((extrasOf(after)[part] ?? []) as Item[]).filter(({ name }) => !formerNames.has(name));
}

/** True if the event leaves no row without a value. Another field may be null in the same rows. */
export function fillsEveryRow({ event }: Pick<PlannedEvent, 'event'>): boolean {
  const backfill = backfillOfEvent(event);
  return backfill !== undefined && sourceOf(backfill) === undefined;
}

/** Formats a location as `articles.title`, or as the name of the collection. */
export const locatedUse = ({ collection, field }: { collection: string; field?: string }): string =>
  field === undefined ? collection : `${collection}.${field}`;

/* Helpers of rules about statements whose duration grows with the table. */

/* The requests of safer alternatives. */

const segment = encodeURIComponent;

/** Returns the online request for one event. An event that has no request of its own needs the whole diff. */
export function onlineRequest(event: NewEvent): SafeRequest {
  const { collection, field } = event;
  const applyRequest: SafeRequest = { method: 'POST', path: '/schema/apply?online' };
  switch (event.type) {
    case 'field.updated': {
      const { patch, backfill } = event.data;
      const changes = bodyOf(patch);
      if (changes === undefined) return applyRequest;
      const body = { ...changes, ...(backfill !== undefined && { backfill }) };
      return { method: 'PATCH', path: `/fields/${segment(collection)}/${segment(field ?? '')}?online`, body };
    }
    case 'field.deleted':
      return { method: 'DELETE', path: `/fields/${segment(collection)}/${segment(field ?? '')}?online` };
    case 'relation.created':
      return { method: 'POST', path: '/relations?online', body: relationBody(event.data.relation) };
    default:
      return applyRequest;
  }
}

function relationBody({ many_collection, many_field, one_collection, schema }: RelationCreated): unknown {
  const key = schema === null ? null : { on_delete: schema.on_delete };
  return { collection: many_collection, field: many_field, related_collection: one_collection, schema: key };
}

type RelationCreated = Extract<NewEvent, { type: 'relation.created' }>['data']['relation'];

/**
 * Returns the body of a PATCH request for an RFC 6902 patch. Undefined if the patch changes more than whole members
 * such as `/schema/is_nullable`.
 */
function bodyOf(patch: readonly Operation[]): object | undefined {
  const body: { [member: string]: unknown } = {};
  for (const each of patch) {
    const path = each.path.split('/').slice(1);
    const [part = '', member] = path;
    if (path.length > 2 || (each.op !== 'add' && each.op !== 'replace')) return undefined;
    if (member === undefined) body[part] = each.value;
    else body[part] = { ...(body[part] as object | undefined), [member]: each.value };
  }
  return body;
}

/**
 * Returns the finding with the table size and the online alternative. Undefined if the change is already made online.
 */
export function observeLasting(
  statement: PlannedStatement,
  planned: PlannedEvent,
  sentence: string,
): Observation | undefined {
  const statistics = planned.batch.statistics(tableOfRows(statement));
  if (statement.preparable !== undefined && planned.batch.online) return undefined;
  const online = isPreparable(statement, planned);
  const way = online ? 'with "online", other sessions wait for short locks only' : 'it cannot be applied online';
  const size = statistics === undefined ? '' : ` (${sizeText(statistics)}; ${way})`;
  return {
    message: `${statement.summary}: ${sentence}${size}`,
    level: levelBySize(statistics),
    ...locationOf(statement),
    statistics: statistics ?? null,
    ...(online && { safer: suggestOnline(planned) }),
  };
}

/**
 * True if the statement can be prepared online. A foreign key cannot if it is recreated because its column changes
 * type.
 */
export const isPreparable = (statement: PlannedStatement, planned: PlannedEvent): boolean =>
  statement.preparable !== undefined && !isRetyped(statement, planned);

function isRetyped({ preparable, source }: PlannedStatement, planned: PlannedEvent): boolean {
  const { before, formerField, batch } = planned;
  const target = preparable?.references;
  if (typeof target !== 'string' || source.type !== 'relation.updated') return false;
  const own = [before?.fields.get(formerField), fieldAfter(planned, source)];
  const keys = [batch.before, batch.after].map(({ collections }) => keyOf(collections.get(target)));
  const [old, now] = keys.map((key, at) => [own[at], ...key].map(typeOf).join());
  return old !== now;
}

const keyOf = (node: CollectionNode | undefined): Field[] => (node === undefined ? [] : primaryKeyOf(node));

const typeOf = (field: Field | undefined): string => (hasColumn(field) ? columnType(field.schema) : '');

/** The online alternative. */
export const suggestOnline = ({ event }: PlannedEvent): SaferWay => ({
  text: 'Apply it online: the service does the slow work before the transaction, while the table stays in use.',
  request: onlineRequest(event),
});

/** The location of a statement's finding. */
export function locationOf({ object, source }: PlannedStatement): Pick<Observation, 'field' | 'object'> {
  const isPart = object.kind === 'constraint' || object.kind === 'index';
  return { field: source.field, ...(isPart && { object: { kind: object.kind, name: object.name } }) };
}
