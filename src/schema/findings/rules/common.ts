/** What rules ask of documents. */
import { isSerial } from '../../model/extras.js';
import { type CollectionNode, type ColumnField, extrasOf, hasColumn, hasDefault } from '../../model/state.js';
import { levelBySize } from '../levels.js';
import type { Field, FieldChange, Level, Observed, PlannedEvent, TableStatistics } from '../model.js';

/** `articles.title` */
export const labelOf = ({ collection, field }: Pick<Field, 'collection' | 'field'>): string => `${collection}.${field}`;

/** A column that comes, or whose member differs from before. */
export const comes = ({ old, now }: FieldChange, member: 'data_type'): boolean =>
  hasColumn(now) && (!hasColumn(old) || old.schema[member] !== now.schema[member]);

/** Both columns, where a column stays one. */
export const columnsOf = ({ old, now }: FieldChange): { old: ColumnField; now: ColumnField } | undefined =>
  hasColumn(old) && hasColumn(now) ? { old, now } : undefined;

/** The field that something is about, as it is afterwards. */
export const fieldAfter = (
  { after }: Pick<PlannedEvent, 'after'>,
  { field }: { field: string | null },
): Field | undefined => (field === null ? undefined : after?.fields.get(field));

/** Whether PostgreSQL gives the values of new rows from a sequence. */
export const counts = ({ schema }: ColumnField): boolean => schema.has_auto_increment || isSerial(schema);

/** Whether a column has to be given a value by whoever inserts a row. */
export const isRequired = (field: ColumnField): boolean =>
  !field.schema.is_nullable && field.schema.generation_expression === null && !hasDefault(field);

/** Whether the event's table was there before, so that it may have rows. */
export const isOldTable = ({ event, batch }: PlannedEvent): boolean => !batch.isNew(event.collection);

/** The level by a table's size, with what it is by. */
export function sized(planned: PlannedEvent, table: string, most?: Level): Pick<Observed, 'level' | 'statistics'> {
  const statistics: TableStatistics | undefined = planned.batch.statistics(table);
  const level = levelBySize(statistics);
  return { level: most !== undefined && level === 'danger' ? most : level, statistics: statistics ?? null };
}

/**
 * The definition in PostgreSQL's words; undefined where the table has none of the name, or a field or relation says it.
 */
export const extraConstraint = (node: CollectionNode | undefined, name: string): string | undefined =>
  extrasOf(node).constraints?.find((each) => each.name === name)?.definition;

const ADDING: ReadonlySet<string> = new Set(['collection.created', 'collection.adopted', 'collection.updated']);

/** The parts of a list of extras that an event adds. */
export function added<K extends 'constraints' | 'indexes' | 'needs'>(
  { event, before, after }: PlannedEvent,
  part: K,
): NonNullable<ReturnType<typeof extrasOf>[K]>[number][] {
  if (!ADDING.has(event.type)) return [];
  type Item = NonNullable<ReturnType<typeof extrasOf>[K]>[number];
  const known = new Set(((extrasOf(before)[part] ?? []) as Item[]).map(({ name }) => name));
  return ((extrasOf(after)[part] ?? []) as Item[]).filter(({ name }) => !known.has(name));
}

/** `articles.title`, or the collection alone. */
export const placedUse = ({ collection, field }: { collection: string; field?: string }): string =>
  field === undefined ? collection : `${collection}.${field}`;
