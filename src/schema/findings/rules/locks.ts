import { type ColumnField, hasColumn, tableNameOf } from '../../model/state.js';
import { columnType } from '../../sql-text/data-types.js';
import {
  type Rule,
  type PlannedEvent,
  type PlannedStatement,
  scansUnderLock,
  type TableStatistics,
  tableOfRows,
} from '../model.js';
import {
  columnsOf,
  isOldTable,
  labelOf,
  rateBySize,
  observeLasting,
  extraConstraint,
  fieldAfter,
  isRequired,
  isPreparable,
  fillsEveryRow,
  locationOf,
  suggestOnline,
} from './common.js';
import { observeRewrittenByOptions } from './table-options.js';
import { observeConvertedEnum } from './types.js';
import { backfillOfEvent } from '../../model/backfill.js';
import { parseConstraint } from '../../sql-text/definitions.js';
import { NOT_KNOWN, sizeText } from '../levels.js';
import { primaryKeyNameOf, uniqueNameOf } from '../../model/constraint-names.js';

export const checkUnderLock: Rule = {
  code: 'CHECK_UNDER_LOCK',
  level: 'warn',
  title: 'Check validated under a lock',
  what: 'A check constraint is added to a table that may have rows.',
  why: 'PostgreSQL reads every row under an exclusive lock. The change fails if a row violates the constraint.',
  safer: 'Apply it online: the service adds it NOT VALID and validates it while the table stays in use.',
  levels: 'Depends on the size of the table.',
  aliases: { squawk: ['constraint-missing-not-valid'], strong_migrations: ['add_check_constraint'], atlas: ['PG305'] },
  statement: (statement, planned) =>
    statement.preparable?.kind === 'constraint' && statement.preparable.references === null
      ? observeLasting(statement, planned, 'PostgreSQL checks all rows while nobody can read or write')
      : undefined,
};

export const exclusionUnderLock: Rule = {
  code: 'EXCLUSION_UNDER_LOCK',
  level: 'warn',
  title: 'Exclusion constraint built under a lock',
  what: 'An exclusion constraint is added to a table that may have rows.',
  why: 'PostgreSQL builds its index while nobody can read or write, and cannot build it beforehand.',
  safer: 'Add it while the table is small and rarely used.',
  levels: 'Depends on the size of the table.',
  aliases: { strong_migrations: ['add_exclusion_constraint'] },
  statement(statement, planned) {
    if (!statement.may_fail || statement.object.kind !== 'constraint') return undefined;
    const definition = extraConstraint(planned.after, statement.object.name);
    const parsed = definition === undefined ? undefined : parseConstraint(definition);
    return typeof parsed === 'object' && parsed.kind === 'exclusion'
      ? observeLasting(statement, planned, 'PostgreSQL builds its index over all rows while nobody can read or write')
      : undefined;
  },
};

export const foreignKeyUnderLock: Rule = {
  code: 'FOREIGN_KEY_UNDER_LOCK',
  level: 'warn',
  title: 'Foreign key validated under a lock',
  what: 'A foreign key is added to a table that may have rows.',
  why: 'PostgreSQL checks every row while nobody can write to either table. The change fails if a row references a missing row.',
  safer: 'Apply it online: the service adds it NOT VALID and validates it while both tables stay in use.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'POST /relations {"collection": "articles", "field": "author", "related_collection": "authors"}',
    safe: 'POST /relations?online {"collection": "articles", "field": "author", "related_collection": "authors"}',
  },
  aliases: {
    squawk: ['adding-foreign-key-constraint'],
    strong_migrations: ['add_foreign_key', 'add_reference'],
    atlas: ['PG306'],
  },
  statement: (statement, planned) =>
    statement.preparable?.kind === 'constraint' && typeof statement.preparable.references === 'string'
      ? observeLasting(statement, planned, 'PostgreSQL checks all rows while nobody can write to either table')
      : undefined,
};

export const indexUnderLock: Rule = {
  code: 'INDEX_UNDER_LOCK',
  level: 'warn',
  title: 'Index built under a lock',
  what: 'PostgreSQL builds an index in the transaction of the change.',
  why: 'Nobody can write to the table until all its rows are in the index.',
  safer: 'Build it concurrently: apply the change online, or use `concurrentIndexCreation`.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'PATCH /fields/articles/slug {"schema": {"is_indexed": true}}',
    safe: 'PATCH /fields/articles/slug?concurrentIndexCreation {"schema": {"is_indexed": true}}',
  },
  aliases: { squawk: ['require-concurrent-index-creation'], strong_migrations: ['add_index'], atlas: ['PG101'] },
  statement: (statement, planned) =>
    statement.lock === 'SHARE' && statement.preparable?.kind === 'index' && statement.preparable.unique !== true
      ? observeLasting(statement, planned, 'PostgreSQL builds its index while nobody can write to the table')
      : undefined,
};

export const longLock: Rule = {
  code: 'LONG_LOCK',
  level: 'warn',
  title: 'Strong lock held for a long time',
  what: 'PostgreSQL reads the whole table under a lock that blocks writes, or reads and writes.',
  why: 'Applications wait for as long as PostgreSQL reads. Later queries queue behind them.',
  safer: 'Apply it online if possible. Otherwise, apply it while the table is rarely used.',
  levels:
    'Depends on the size of the table: `note` up to 10,000 rows and 8 MB, `warn` up to a million rows and 1 GB, then `danger` if it is in use.',
  example: {
    unsafe: 'PATCH /fields/articles/title {"schema": {"is_nullable": false}}',
    safe: 'PATCH /fields/articles/title?online {"schema": {"is_nullable": false}}',
  },
  statement: (statement, planned) =>
    !statement.rewrites_table && scansUnderLock(statement) && !isRefusedAtOnce(statement, planned)
      ? observeLasting(statement, planned, 'PostgreSQL reads the whole table under a lock')
      : undefined,
};

/**
 * True for a new NOT NULL column without a default. Adding it fails at the first row, and an empty table has none to
 * read.
 */
function isRefusedAtOnce({ object, source }: PlannedStatement, planned: PlannedEvent): boolean {
  const field = fieldAfter(planned, source);
  if (source.type !== 'field.created' || object.kind !== 'column' || backfillOfEvent(planned.event) !== undefined)
    return false;
  return hasColumn(field) && isRequired(field);
}

export const notOnline: Rule = {
  code: 'NOT_ONLINE',
  level: 'danger',
  title: 'Not applied online',
  what: 'The change could be prepared online but is applied directly to a table with more rows than the policy allows (`online_above_rows`).',
  why: 'Users of the table wait until the change is finished. With an online change they wait for short locks only.',
  safer: 'Apply it online.',
  levels:
    'Reported only if a policy sets `online_above_rows`. Rejected unless the policy sets another action for this code.',
  example: {
    unsafe: 'PATCH /fields/articles/title {"schema": {"is_unique": true}}',
    safe: 'PATCH /fields/articles/title?online {"schema": {"is_unique": true}}',
  },
  statement(statement, planned) {
    const { onlineAboveRows: most, online, statistics: of } = planned.batch;
    if (most === null || online || !isPreparable(statement, planned)) return undefined;
    const statistics = of(tableOfRows(statement));
    if (estimateMaxRows(statistics) <= most) return undefined;
    const size = statistics === undefined ? NOT_KNOWN : sizeText(statistics);
    return {
      message: `${statement.summary}: above ${most.toLocaleString('en')} rows the policy requires an online change (${size})`,
      ...locationOf(statement),
      statistics: statistics ?? null,
      safer: suggestOnline(planned),
    };
  },
};

/** Returns the largest possible number of rows. */
const estimateMaxRows = (statistics: TableStatistics | undefined): number =>
  statistics?.rows ?? (statistics?.bytes ?? Infinity) / SMALLEST_ROW;

/** The minimum size of a row in bytes: its header and its line pointer. */
const SMALLEST_ROW = 28;

export const rewritesTable: Rule = {
  code: 'REWRITES_TABLE',
  level: 'warn',
  title: 'Table rewrite',
  what: 'PostgreSQL rewrites every row and all indexes of the table. Most type changes require this, and so does an enum that loses labels or gets them in another order. New columns with a different value in each row require it too, and so does `SET LOGGED` or `SET UNLOGGED`.',
  why: 'The table is locked for reads and writes until it is rewritten. The rewrite needs as much free disk space as the table uses.',
  safer:
    'Add a field of the new type, write both, copy the values in batches, and delete the old field when nothing reads it.',
  levels:
    'Depends on the size of the table: `note` up to 10,000 rows and 8 MB, `warn` up to a million rows and 1 GB, then `danger`.',
  example: {
    unsafe: 'PATCH /fields/articles/views {"schema": {"data_type": "bigint"}}',
    safe: 'POST /fields/articles {"field": "views_64", "type": "bigInteger"}',
  },
  aliases: {
    squawk: ['changing-column-type', 'adding-field-with-default'],
    strong_migrations: ['change_column', 'add_column_default'],
    atlas: ['PG301', 'PG302'],
  },
  statement: (statement, planned) =>
    statement.rewrites_table
      ? observeLasting(statement, planned, 'PostgreSQL rewrites the whole table and locks it for reads and writes')
      : undefined,
  objectEvent: (planned) => observeRewrittenByOptions(planned) ?? observeConvertedEnum(planned),
};

export const primaryKeyOverRows: Rule = {
  code: 'PRIMARY_KEY_OVER_ROWS',
  level: 'warn',
  title: 'Primary key over existing rows',
  what: 'A table that may have rows gets a primary key, or a different one.',
  why: 'PostgreSQL builds its index while nobody can read or write. The change fails if a row has a duplicate or missing key.',
  safer: 'Apply it online: the service builds the index concurrently and then uses it for the key.',
  levels: 'Depends on the size of the table.',
  aliases: { squawk: ['adding-serial-primary-key-field'], atlas: ['PG104', 'PG304'] },
  statement: (statement, planned) =>
    statement.may_fail &&
    statement.object.kind === 'constraint' &&
    planned.after !== undefined &&
    statement.object.name === primaryKeyNameOf(planned.after)
      ? observeLasting(statement, planned, 'PostgreSQL builds the index of the primary key over all rows')
      : undefined,
};

export const notNullOverRows: Rule = {
  code: 'NOT_NULL_OVER_ROWS',
  level: 'warn',
  title: 'NOT NULL over existing rows',
  what: 'A nullable field becomes NOT NULL.',
  why: 'The change fails if a row contains null. PostgreSQL reads all rows while nobody can read or write.',
  safer: 'Apply the change online, with a `backfill` for the rows that contain null.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'PATCH /fields/articles/title {"schema": {"is_nullable": false}}',
    safe: 'PATCH /fields/articles/title?online {"schema": {"is_nullable": false}}',
  },
  aliases: {
    squawk: ['adding-not-nullable-field'],
    strong_migrations: ['change_column_null'],
    atlas: ['MF104', 'PG303'],
  },
  statement: (statement, planned) =>
    statement.may_fail && setsNotNull(statement, planned)
      ? observeLasting(
          statement,
          planned,
          `PostgreSQL reads all rows${fillsEveryRow(planned) ? '' : ', and rows with null make it fail'}`,
        )
      : undefined,
};

function setsNotNull({ source, object, preparable }: PlannedStatement, planned: PlannedEvent): boolean {
  if (source.type !== 'field.updated' || object.kind !== 'column' || preparable?.kind === 'fill') return false;
  const [old, now] = [planned.before?.fields.get(planned.formerField), fieldAfter(planned, source)];
  return hasColumn(old) && hasColumn(now) && old.schema.is_nullable && !now.schema.is_nullable;
}

export const uniqueOverRows: Rule = {
  code: 'UNIQUE_OVER_ROWS',
  level: 'warn',
  title: 'Unique over existing rows',
  what: 'A field or a combination of fields becomes unique on a table that may have rows.',
  why: 'The change fails if one value occurs twice. PostgreSQL builds the index while nobody can write.',
  safer: 'Find duplicates with a dry run, then apply the change online, which builds the index concurrently.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe: 'PATCH /fields/articles/slug {"schema": {"is_unique": true}}',
    safe: 'PATCH /fields/articles/slug?online {"schema": {"is_unique": true}}',
  },
  aliases: {
    squawk: ['disallowed-unique-constraint'],
    strong_migrations: ['add_unique_constraint', 'add_index'],
    atlas: ['MF101', 'MF102', 'PG105'],
  },
  statement: (statement, planned) =>
    statement.may_fail && isUnique(statement, planned)
      ? observeLasting(statement, planned, 'PostgreSQL builds an index over all rows, and duplicates make it fail')
      : undefined,
};

function isUnique({ preparable, object, source }: PlannedStatement, planned: PlannedEvent): boolean {
  if (preparable?.unique === true || preparable?.type === 'UNIQUE') return true;
  const field = fieldAfter(planned, source);
  if (planned.after === undefined || !hasColumn(field) || object.kind !== 'constraint') return false;
  return field.schema.is_unique && object.name === uniqueNameOf(tableNameOf(planned.after), field);
}

export const generatedOverRows: Rule = {
  code: 'GENERATED_OVER_ROWS',
  level: 'warn',
  title: 'Generated column over existing rows',
  what: 'A stored generated column is added to, or recreated on, a table that may have rows.',
  why: 'PostgreSQL computes and writes its value for every row while nobody can read or write.',
  safer: 'Use a plain field that a trigger or the application fills, or put the expression into a view.',
  levels: 'Depends on the size of the table.',
  aliases: {
    squawk: ['adding-field-with-default'],
    strong_migrations: ['add_column_generated_stored'],
    atlas: ['PG309'],
  },
  statement(statement, planned) {
    const field = fieldAfter(planned, statement.source);
    return statement.rewrites_table && hasColumn(field) && field.schema.generation_expression !== null
      ? observeLasting(statement, planned, 'PostgreSQL computes its value for every row')
      : undefined;
  },
};

export const counterOverRows: Rule = {
  code: 'COUNTER_OVER_ROWS',
  level: 'warn',
  title: 'New auto-increment field',
  what: 'An auto-increment field is added to a table that may have rows.',
  why: 'Every row gets a number, so PostgreSQL rewrites the table while nobody can read or write.',
  safer: 'Add a plain field, fill it in batches, and make it auto-increment afterwards.',
  levels: 'Depends on the size of the table.',
  aliases: {
    squawk: ['adding-serial-primary-key-field'],
    strong_migrations: ['add_column_auto_incrementing'],
    atlas: ['PG310'],
  },
  statement(statement, planned) {
    const field = fieldAfter(planned, statement.source);
    const isMade = statement.rewrites_table && statement.source.type === 'field.created';
    return isMade && hasColumn(field) && field.schema.has_auto_increment
      ? observeLasting(statement, planned, 'every row gets a number')
      : undefined;
  },
};

export const volatileDefault: Rule = {
  code: 'VOLATILE_DEFAULT',
  level: 'warn',
  title: 'New field with a volatile default',
  what: 'A field is added with a default that PostgreSQL computes for each row, such as `gen_random_uuid()`.',
  why: 'PostgreSQL rewrites every row while nobody can read or write. A constant default costs nothing.',
  safer: 'Add the field without a default, set the default in a second change, and fill existing rows in batches.',
  levels: 'Depends on the size of the table.',
  example: {
    unsafe:
      'POST /fields/articles {"field": "token", "type": "uuid", "schema": {"default_value": "gen_random_uuid()"}}',
    safe: 'POST /fields/articles {"field": "token", "type": "uuid"}',
  },
  aliases: { squawk: ['adding-field-with-default'], strong_migrations: ['add_column_default'], atlas: ['PG302'] },
  statement(statement, planned) {
    const field = fieldAfter(planned, statement.source);
    if (!statement.rewrites_table || statement.source.type !== 'field.created' || !hasColumn(field)) return undefined;
    if (field.schema.generation_expression !== null || field.schema.has_auto_increment) return undefined;
    return observeLasting(statement, planned, 'PostgreSQL computes its default for every row');
  },
};

export const indexedTypeChange: Rule = {
  code: 'INDEXED_TYPE_CHANGE',
  level: 'warn',
  title: 'Type change on an indexed field',
  what: 'The type changes for a field that is indexed, unique or a primary key.',
  why: 'PostgreSQL rebuilds its indexes in the same transaction. Columns that reference a key must change with it.',
  safer: 'Add a field of the new type, index it concurrently, and migrate to it.',
  levels: 'Depends on the size of the table.',
  aliases: { squawk: ['changing-column-type'], strong_migrations: ['change_column'], atlas: ['PG301'] },
  field(change, planned) {
    const columns = columnsOf(change);
    if (columns === undefined || !isOldTable(planned)) return undefined;
    const { old, now } = columns;
    const [from, to] = [columnType(old.schema), columnType(now.schema)];
    // PostgreSQL keeps the index if a text type only becomes longer.
    if (from === to || !isInIndex(old) || isRoomier(old, now)) return undefined;
    const message = `alter column ${labelOf(now)}: from ${from} to ${to} PostgreSQL rebuilds its indexes`;
    return { message, field: now.field, ...rateBySize(planned, now.collection) };
  },
};

const isInIndex = ({ schema }: ColumnField): boolean => schema.is_indexed || schema.is_unique || schema.is_primary_key;

const isRoomier = ({ schema: old }: ColumnField, { schema: now }: ColumnField): boolean =>
  old.data_type === 'character varying' &&
  (now.data_type === 'text' || now.data_type === old.data_type) &&
  (now.max_length ?? Infinity) >= (old.max_length ?? Infinity);
