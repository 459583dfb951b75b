import { primaryKeyNameOf, uniqueNameOf } from '../../model/constraint-names.js';
import { hasColumn, hasTable, type CollectionNode, primaryKeyOf, hasDefault, tableNameOf } from '../../model/state.js';
import type { PlannedEvent, Rule, PlannedStatement, Level, TableStatistics } from '../model.js';
import { isDeletion } from '../../model/events.js';
import { isSequence, objectLabel } from '../../model/objects.js';
import { collectionsNeeding } from '../../model/order.js';
import {
  extraConstraint,
  fieldAfter,
  columnsOf,
  isOldTable,
  labelOf,
  rateBySize,
  locationOf,
  isRequired,
  fillsEveryRow,
} from './common.js';
import { durationText, NOT_KNOWN, sizeText } from '../levels.js';
import { type Backfill, sourceOf, backfillOfEvent } from '../../model/backfill.js';
import { type ColumnSchema, TEXT_TYPES } from '../../model/model.js';
import { columnType, isWider } from '../../sql-text/data-types.js';
import { jsonEqual } from '../../../kernel/json.js';

const OF_WHAT_GOES =
  'First change applications to stop using it. Keep it in the trash (KEEP_DELETED) instead of purging it.';
const OF_VALUES = 'If the new type cannot hold every value exactly, add a field of the new type next to the old one.';

export const losesData: Rule = {
  code: 'LOSES_DATA',
  level: 'danger',
  title: 'Data is lost',
  what: 'The change drops a table or column with its values, or converts values irreversibly: rounded numbers, a lost time of day, leading zeros, trailing blanks, duplicate JSON keys.',
  why: 'Every application loses the data immediately. Data in the trash can be restored for a limited time. Everything else can be restored only from a backup.',
  safer: `${OF_WHAT_GOES} ${OF_VALUES}`,
  levels: '`warn` if the trash keeps the data, `danger` if the loss is permanent.',
  example: { unsafe: 'DELETE /fields/articles/body?purge', safe: 'DELETE /fields/articles/body' },
  aliases: {
    squawk: ['ban-drop-table', 'ban-drop-column'],
    strong_migrations: ['remove_column'],
    atlas: ['DS102', 'DS103'],
  },
  statement(statement, planned) {
    if (!statement.loses_data) return undefined;
    const { text, level } = describeLoss(statement, planned);
    const safer = { text: dropsData(statement) ? OF_WHAT_GOES : OF_VALUES };
    return { message: `${statement.summary}: ${text}`, level, field: statement.source.field, safer };
  },
};

const dropsData = ({ drops }: PlannedStatement): boolean =>
  drops.some(({ kind }) => kind === 'table' || kind === 'column');

/** The data loss of a statement with `kept_until` was already checked. */
function describeLoss(statement: PlannedStatement, { batch: { keep } }: PlannedEvent) {
  const { kept_until: until } = statement;
  if (until !== undefined) return { text: `data is restorable from the trash until ${until}`, level: 'warn' } as const;
  const mayBeKept = keep !== 0 && dropsData(statement);
  if (!mayBeKept) return { text: 'data is permanently lost', level: 'danger' } as const;
  const condition = 'if the trash can keep it (a dry run checks that)';
  return {
    text: `data is deleted, restorable from the trash for ${durationText(keep)} ${condition}`,
    level: 'warn',
  } as const;
}

export const dropsSequence: Rule = {
  code: 'DROPS_SEQUENCE',
  level: 'warn',
  title: 'Sequence is dropped',
  what: 'The change drops a sequence that no managed table needs.',
  why: 'Its current value is lost. If you create or restore the sequence later, it starts again and returns the same values a second time. PostgreSQL rejects the change while the default of an unmanaged column uses the sequence.',
  safer:
    'First change the applications and functions that use it. To create it again later, write the next value after `START WITH`.',
  example: { unsafe: 'DELETE /objects/sequence/invoice_numbers' },
  objectEvent({ event: { type, subject }, batch, found }) {
    if (type !== 'object.deleted' || !isSequence(subject) || found) return undefined;
    if (collectionsNeeding(batch.after, subject).length > 0) return undefined;
    return {
      message: `drop ${objectLabel(subject)}: its current value is lost`,
      object: { kind: subject.kind, name: subject.id },
    };
  },
};

export const narrowsType: Rule = {
  code: 'NARROWS_TYPE',
  level: 'warn',
  title: 'Narrower type',
  what: 'A field gets a type with a smaller range: a smaller number, a shorter text, fewer digits, a date instead of a timestamp.',
  why: 'If values do not fit, the change fails or rounds them. Applications that still write such values will fail.',
  safer: 'First change applications to write values that fit. Then check the existing rows with a dry run.',
  levels: 'Depends on the size of the table.',
  example: { unsafe: 'PATCH /fields/articles/title {"schema": {"max_length": 50}}' },
  aliases: { squawk: ['changing-column-type'], strong_migrations: ['change_column'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (!isNarrower(old.schema, now.schema)) return undefined;
    const message = `alter column ${labelOf(now)}: ${columnType(now.schema)} holds less than ${columnType(old.schema)}`;
    return { message, field: now.field, ...rateBySize(planned, now.collection) };
  },
};

function isNarrower(old: ColumnSchema, now: ColumnSchema): boolean {
  if (TEXT_TYPES.has(now.data_type))
    return TEXT_TYPES.has(old.data_type) && (now.max_length ?? Infinity) < (old.max_length ?? Infinity);
  if (old.data_type === 'numeric' && now.data_type === 'numeric') return hasFewerDigits(old, now);
  return isWider(old.data_type, now.data_type);
}

function hasFewerDigits(old: ColumnSchema, now: ColumnSchema): boolean {
  if (now.numeric_precision === null) return false;
  if (old.numeric_precision === null) return true;
  const [from, to] = [old.numeric_scale ?? 0, now.numeric_scale ?? 0];
  return to < from || now.numeric_precision - to < old.numeric_precision - from;
}

export const cascadeDeletes: Rule = {
  code: 'CASCADE_DELETES',
  level: 'note',
  standing: true,
  title: 'Cascading deletes',
  what: 'A foreign key deletes the rows that reference a deleted row. Junction rows (`junction_field`) are meant to be deleted with either side and are not reported.',
  why: 'One DELETE may delete any number of rows in one transaction. On a large table it holds locks for a long time.',
  safer: 'Delete dependent rows in batches from the application, or use `RESTRICT`.',
  levels: '`note` on a new or small table, `warn` on a larger one.',
  example: {
    unsafe:
      'POST /relations {"collection": "comments", "field": "article", "related_collection": "articles", "schema": {"on_delete": "CASCADE"}}',
  },
  relation({ old, now }, planned) {
    if (now.schema?.on_delete !== 'CASCADE' || old?.schema?.on_delete === 'CASCADE') return undefined;
    if (now.junction_field !== null) return undefined;
    const { many_collection: table, many_field: field, one_collection: one } = now;
    return {
      message: `${table}.${field} references ${one}: deleting a row there also deletes all rows of ${table} that reference it`,
      field,
      ...(planned.batch.isNew(table) ? { level: 'note' as const } : rateBySize(planned, table, 'warn')),
    };
  },
};

export const mayFail: Rule = {
  code: 'MAY_FAIL',
  level: 'warn',
  title: 'Existing rows may violate it',
  what: 'The change applies to every row. Existing rows may violate it: nulls, duplicate values, values that are too long or too large for a new type, keys without a target.',
  why: 'The whole change fails if one row violates it. On a database with other rows it may succeed.',
  safer: 'Use a dry run first: it executes the change, counts the violating rows, and rolls back.',
  example: { unsafe: 'PATCH /fields/articles/title {"schema": {"is_unique": true}}' },
  aliases: { squawk: ['ban-new-write-restriction'], atlas: ['MF101', 'MF102', 'MF104'] },
  statement: (statement, planned) =>
    statement.may_fail && !isOfNulls(statement, planned) && !isOfFilledRows(statement, planned)
      ? { message: `${statement.summary}: ${whyOf(statement)}`, ...locationOf(statement) }
      : undefined,
};

const whyOf = ({ object, preparable }: PlannedStatement): string =>
  object.kind === 'index' && preparable?.unique !== true
    ? 'it fails if a value is too long for an index (about 2,700 bytes)'
    : 'existing rows can make it fail';

/** True if the statement fills rows with values of its own, or then requires a value in every row. */
const isOfFilledRows = ({ object, source, preparable }: PlannedStatement, planned: PlannedEvent): boolean =>
  fillsEveryRow(planned) &&
  object.kind === 'column' &&
  (preparable?.kind === 'fill' || preparable?.kind === 'not null' || source.type === 'field.created');

/** True if the foreign key is on a new field, which is NULL in all existing rows. */
function isOfNulls({ source }: PlannedStatement, planned: PlannedEvent): boolean {
  const { before, formerField } = planned;
  const field = fieldAfter(planned, source);
  if (source.type !== 'relation.created' || before === undefined || before.fields.has(formerField)) return false;
  return hasColumn(field) && !hasDefault(field);
}

export const nullOnRequired: Rule = {
  code: 'NULL_ON_REQUIRED',
  level: 'warn',
  standing: true,
  title: 'ON DELETE action that always fails',
  what: 'ON DELETE sets the field of a foreign key to null or to a missing default, but the field is NOT NULL.',
  why: 'Every delete of a referenced row fails with an error about another table.',
  safer: 'Use `RESTRICT`, `CASCADE`, or a nullable field.',
  relation({ now }, { after }) {
    const field = after?.fields.get(now.many_field);
    if (now.schema === null || !hasColumn(field) || field.schema.is_nullable) return undefined;
    const { on_delete } = now.schema;
    if (on_delete !== 'SET NULL' && !(on_delete === 'SET DEFAULT' && !hasDefault(field))) return undefined;
    const { many_collection: table, many_field } = now;
    return { message: `${table}.${many_field}: ON DELETE ${on_delete}, but it is NOT NULL`, field: many_field };
  },
};

export const requiredField: Rule = {
  code: 'REQUIRED_FIELD',
  level: 'warn',
  title: 'Required field without a value for existing rows',
  what: 'A NOT NULL field without a default is added to an existing table.',
  why: 'The change fails if the table has rows. Applications that do not set the field can no longer insert rows.',
  safer: 'Add it with a default or a `backfill`, or add it as nullable, and make it NOT NULL online with a `backfill`.',
  levels: '`note` if the statistics count no rows, `danger` if they count some, `warn` with a `backfill`.',
  example: {
    unsafe: 'POST /fields/articles {"field": "slug", "type": "string", "schema": {"is_nullable": false}}',
    safe: 'POST /fields/articles {"field": "slug", "type": "string"}',
  },
  aliases: { squawk: ['adding-required-field'], atlas: ['MF103'] },
  field({ old, now }, planned) {
    if (old !== undefined || !hasColumn(now) || !isOldTable(planned)) return undefined;
    if (!isRequired(now)) return undefined;
    const statistics = planned.batch.statistics(now.collection);
    const effect =
      backfillOfEvent(planned.event) === undefined ? 'it fails if the table has a row' : 'an INSERT must contain it';
    const message = `add column ${labelOf(now)}: it is NOT NULL without a default, so ${effect}`;
    const level = backfillOfEvent(planned.event) === undefined ? levelByRows(statistics) : 'warn';
    return { message, field: now.field, level, statistics: statistics ?? null };
  },
};

function levelByRows(statistics: TableStatistics | undefined): Level {
  const rows = statistics?.rows ?? null;
  return rows === null ? 'warn' : rows > 0 ? 'danger' : 'note';
}

export const fillsRows: Rule = {
  code: 'FILLS_ROWS',
  level: 'warn',
  title: 'Existing rows are filled',
  what: 'A field change includes a `backfill`, so the service fills the field in all rows in which it is null.',
  why: 'Afterwards, filled rows cannot be told apart from others, and a revert of the change does not clear them. An UPDATE fires the triggers on the table.',
  safer: 'Check the number of rows first. Fill a large table online: the service then writes the rows in batches.',
  levels: '`note` on a small table, `warn` on a larger one.',
  example: {
    unsafe: 'PATCH /fields/orders/status {"schema": {"is_nullable": false}, "backfill": {"value": "new"}}',
  },
  event(planned) {
    const backfill = backfillOfEvent(planned.event);
    if (backfill === undefined || !isOldTable(planned)) return undefined;
    const { collection, field, type } = planned.event;
    const rated = rateBySize(planned, collection, 'warn');
    const rows = type === 'field.created' ? 'all rows' : 'the rows in which it is null';
    const size = rated.statistics == null ? NOT_KNOWN : sizeText(rated.statistics);
    const message = `fill column ${collection}.${field} with ${describeBackfill(backfill)}: the service writes ${rows} (${size})`;
    return { message, ...rated };
  },
};

/** Describes the values without the value itself. */
function describeBackfill(backfill: Backfill): string {
  if ('value' in backfill) return 'one value';
  if (!('expression' in backfill)) return `the values of ${backfill.field}`;
  return `${backfill.expression}(${sourceOf(backfill) ?? ''})`;
}

export const allowsNull: Rule = {
  code: 'ALLOWS_NULL',
  level: 'note',
  title: 'Field becomes nullable',
  what: 'A required field becomes nullable.',
  why: 'Applications that rely on a value may read null. Making the field required again needs a value for every null.',
  safer: 'Make sure that readers handle null, or set a default instead.',
  aliases: { squawk: ['ban-drop-not-null'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (old.schema.is_nullable || !now.schema.is_nullable) return undefined;
    return { message: `alter column ${labelOf(now)}: it becomes nullable`, field: now.field };
  },
};

export const defaultForNewRows: Rule = {
  code: 'DEFAULT_FOR_NEW_ROWS',
  level: 'note',
  title: 'Default applies to new rows only',
  what: 'The default of a field changes in a table that may have rows.',
  why: 'Existing rows keep their value. Applications that name the column in every INSERT keep writing the old value.',
  safer: 'If existing rows need the new value, update them in batches.',
  aliases: { squawk: ['ban-set-default'], strong_migrations: ['change_column_default'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned) || !hasDefault(columns.now)) return undefined;
    const [old, now] = [columns.old.schema, columns.now.schema];
    const same = jsonEqual(old.default_value, now.default_value) && old.extras?.default === now.extras?.default;
    if (same || now.has_auto_increment) return undefined;
    return {
      message: `alter column ${labelOf(columns.now)}: the new default applies to new rows only`,
      field: columns.now.field,
    };
  },
};

export const dropsDefault: Rule = {
  code: 'DROPS_DEFAULT',
  level: 'note',
  title: 'Default is dropped',
  what: 'A field of an existing table loses its default.',
  why: 'An INSERT without the column writes null, or fails if the column is NOT NULL.',
  safer: 'First change applications to name the column in every INSERT.',
  levels: '`warn` if the column is NOT NULL, otherwise `note`.',
  example: { unsafe: 'PATCH /fields/articles/views {"schema": {"default_value": null}}' },
  aliases: { squawk: ['ban-drop-default'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    if (!hasDefault(old) || hasDefault(now) || now.schema.generation_expression !== null) return undefined;
    const isRefused = isRequired(now);
    const then = isRefused ? 'is rejected' : 'writes null';
    return {
      message: `alter column ${labelOf(now)}: without a default, an INSERT that omits it ${then}`,
      field: now.field,
      level: isRefused ? 'warn' : 'note',
    };
  },
};

export const dropsConstraint: Rule = {
  code: 'DROPS_CONSTRAINT',
  level: 'note',
  title: 'Constraint is dropped',
  what: 'A key, foreign key or check is dropped from an existing table and not replaced under the same name.',
  why: 'Applications can now write rows that violate it. Such rows must be corrected before the constraint can be added again.',
  safer: 'Make sure that no application relies on it, for example on a single row, ON DELETE or ON CONFLICT.',
  aliases: { squawk: ['ban-drop-constraint'], atlas: ['CD101', 'CD102', 'CD103'] },
  statement(statement, planned) {
    const dropped = statement.drops.find(({ kind }) => kind === 'constraint');
    const { source } = statement;
    if (dropped === undefined || isDeletion(source)) return undefined;
    if (planned.after === undefined || isThere(planned.after, dropped.name) || isDroppedWithTarget(planned))
      return undefined;
    const object = { kind: dropped.kind, name: dropped.name };
    return { message: `${statement.summary}: rows that violate it can be written`, field: source.field, object };
  },
};

/** True if the changed table still has a constraint with this name, because the change recreates it. */
function isThere(node: CollectionNode, name: string): boolean {
  if (extraConstraint(node, name) !== undefined) return true;
  if (primaryKeyOf(node).length > 0 && primaryKeyNameOf(node) === name) return true;
  const { fields, relations } = node;
  if ([...relations.values()].some(({ schema }) => schema?.constraint_name === name)) return true;
  return [...fields.values()].some(
    (field) => hasColumn(field) && field.schema.is_unique && uniqueNameOf(tableNameOf(node), field) === name,
  );
}

/** True if the foreign key is dropped because one of its two sides is deleted. */
function isDroppedWithTarget(planned: PlannedEvent): boolean {
  const { event, before, formerField, batch } = planned;
  if (event.type !== 'relation.deleted' && event.type !== 'relation.updated') return false;
  const old = before?.relations.get(formerField);
  return (
    fieldAfter(planned, event) === undefined ||
    (old?.one_collection != null && !hasTable(batch.after, old.one_collection))
  );
}
