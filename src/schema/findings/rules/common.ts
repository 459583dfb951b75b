/** Helpers of the rules. */
import { isSerial } from '../../model/extras.js';
import { type CollectionNode, type ColumnField, extrasOf, hasColumn, hasDefault } from '../../model/state.js';
import { levelBySize } from '../levels.js';
import type { Field, FieldChange, Level, Observed, PlannedEvent, TableStatistics } from '../model.js';

/** `articles.title` */
export const labelOf = ({ collection, field }: Pick<Field, 'collection' | 'field'>): string => `${collection}.${field}`;

/** True for a new column, or one whose member changes. */
export const comes = ({ old, now }: FieldChange, member: 'data_type'): boolean =>
  hasColumn(now) && (!hasColumn(old) || old.schema[member] !== now.schema[member]);

/** Returns both columns if the field keeps its column. */
export const columnsOf = ({ old, now }: FieldChange): { old: ColumnField; now: ColumnField } | undefined =>
  hasColumn(old) && hasColumn(now) ? { old, now } : undefined;

/** Returns the field after the change. */
export const fieldAfter = (
  { after }: Pick<PlannedEvent, 'after'>,
  { field }: { field: string | null },
): Field | undefined => (field === null ? undefined : after?.fields.get(field));

/** True if PostgreSQL generates values of new rows from a sequence. */
export const counts = ({ schema }: ColumnField): boolean => schema.has_auto_increment || isSerial(schema);

/** True if an INSERT must contain a value for the column. */
export const isRequired = (field: ColumnField): boolean =>
  !field.schema.is_nullable && field.schema.generation_expression === null && !hasDefault(field);

/** True if the table existed before, so that it may contain rows. */
export const isOldTable = ({ event, batch }: PlannedEvent): boolean => !batch.isNew(event.collection);

/** Returns the level by table size, with the statistics. */
export function sized(planned: PlannedEvent, table: string, most?: Level): Pick<Observed, 'level' | 'statistics'> {
  const statistics: TableStatistics | undefined = planned.batch.statistics(table);
  const level = levelBySize(statistics);
  return { level: most !== undefined && level === 'danger' ? most : level, statistics: statistics ?? null };
}

/**
 * The definition as PostgreSQL writes it. Undefined if the table has no such constraint, or a field or relation
 * contains it.
 */
export const extraConstraint = (node: CollectionNode | undefined, name: string): string | undefined =>
  extrasOf(node).constraints?.find((each) => each.name === name)?.definition;

const ADDING: ReadonlySet<string> = new Set(['collection.created', 'collection.adopted', 'collection.updated']);

/** Returns the elements of a list of extras that an event adds. */
export function added<K extends 'constraints' | 'indexes' | 'needs'>(
  { event, before, after }: PlannedEvent,
  part: K,
): NonNullable<ReturnType<typeof extrasOf>[K]>[number][] {
  if (!ADDING.has(event.type)) return [];
  type Item = NonNullable<ReturnType<typeof extrasOf>[K]>[number];
  const known = new Set(((extrasOf(before)[part] ?? []) as Item[]).map(({ name }) => name));
  return ((extrasOf(after)[part] ?? []) as Item[]).filter(({ name }) => !known.has(name));
}

/** `articles.title`, or only the collection. */
export const placedUse = ({ collection, field }: { collection: string; field?: string }): string =>
  field === undefined ? collection : `${collection}.${field}`;
