/** Compares a field of the fold with a column of the catalog. */
import type { ColumnField } from '../../schema/model/state.js';
import { isIdentity } from '../../schema/model/extras.js';
import type { ColumnSchema } from '../../schema/model/model.js';
import { columnType, defaultFromCatalog } from '../../schema/normal-form/index.js';
import { jsonEqual, type Json } from '../../kernel/json.js';
import type { CatalogColumn } from '../catalog/model.js';
import type { Difference } from './difference.js';
import type { SpelledColumn } from './column-spellings.js';

type Member = Pick<Difference, 'member' | 'expected' | 'found'>;

interface How {
  /** PostgreSQL's spelling of the stored definition, if it was determined. */
  spelled: SpelledColumn | undefined;
  /** Checks whether the default or generation expression is unmanaged. */
  isUnmanaged: (kind: 'default' | 'generated') => boolean;
}

/** Returns each differing member once. Indexes and constraints are compared with the table. */
export function compareColumn(field: ColumnField, column: CatalogColumn, { spelled, isUnmanaged }: How): Member[] {
  const { schema } = field;
  const members: [string, Json, Json][] = [
    ['schema.data_type', columnType(schema), typeOf(column, columnType(schema), spelled)],
    ['schema.is_nullable', schema.is_nullable, column.nullable],
    ...(isUnmanaged('default') ? [] : [defaultMember(field, column, spelled)]),
    ['schema.has_auto_increment', expectedCounting(schema), countsOnItsOwn(column)],
    ...(isUnmanaged('generated') ? [] : [generationMember(field, column, spelled)]),
    ['schema.comment', schema.comment, column.comment],
    ['not null name', ...notNullNames(schema, column)],
    ['collation', ...collations(schema, column, spelled)],
  ];
  return members
    .filter(([, expected, found]) => !jsonEqual(expected, found))
    .map(([member, expected, found]) => ({ member, expected, found }));
}

/** Checks whether only the texts differ, so that PostgreSQL may spell both alike. */
export function mayBeSpelled(field: ColumnField, column: CatalogColumn): boolean {
  const { generation_expression: generated, extras } = field.schema;
  const type = columnType(field.schema);
  const pairs: [string | null | undefined, string | null | undefined][] = [
    [type, typeOf(column, type, undefined)],
    [extras?.default, column.default],
    [generated, column.generated?.expression],
  ];
  const isOther = pairs.some(([ours, there]) => ours != null && there != null && ours !== there);
  // PostgreSQL stores no default for the NULL of a type that is no domain.
  if (column.default === null && /\bnull\b/i.test(extras?.default ?? '')) return true;
  return isOther || (extras?.collation !== undefined && extras.collation !== column.collation);
}

/** format_type qualifies a type outside the search path. For a type of an extension the schema is irrelevant. */
function typeOf({ type, builtIn }: CatalogColumn, expected: string, spelled: SpelledColumn | undefined): string {
  if (spelled?.type === type) return expected;
  return !builtIn && type.endsWith(`.${expected}`) ? expected : type;
}

/** A default stored as SQL is compared as SQL. */
function defaultMember(
  field: ColumnField,
  column: CatalogColumn,
  spelled: SpelledColumn | undefined,
): [string, Json, Json] {
  const { default_value: value, extras } = field.schema;
  if (extras?.default === undefined) return ['schema.default_value', value, defaultOf(field, column)];
  if (spelled !== undefined && column.default === spelled.default) return ['schema.default_value', null, null];
  return ['schema.default_value', { sql: extras.default }, column.default === null ? null : { sql: column.default }];
}

/** A default without a normal form is reported in PostgreSQL's spelling, marked as SQL. */
function defaultOf({ type, schema }: ColumnField, column: CatalogColumn): Json {
  if (column.default === null) return null;
  const value = defaultFromCatalog(type, schema, column.default);
  return value === undefined ? { sql: column.default } : value;
}

/** The name of a NOT NULL constraint is compared only if the log records it and the server has such names. */
function notNullNames({ extras }: ColumnSchema, { notNull }: CatalogColumn): [Json, Json] {
  const expected = extras?.not_null_name ?? null;
  return expected === null || notNull === null ? [null, null] : [expected, notNull.name];
}

function collations(
  { extras }: ColumnSchema,
  { collation }: CatalogColumn,
  spelled: SpelledColumn | undefined,
): [Json, Json] {
  const expected = extras?.collation ?? null;
  return spelled !== undefined && spelled.collation === collation ? [null, null] : [expected, collation];
}

function expectedCounting(schema: ColumnSchema): Json {
  return isIdentity(schema) && schema.extras?.identity === 'always' ? 'always' : isIdentity(schema);
}

/** The service never creates GENERATED ALWAYS AS IDENTITY, because it would reject explicit keys. */
function countsOnItsOwn({ identity }: CatalogColumn): Json {
  return identity === 'always' ? 'always' : identity !== null;
}

/** Equal expressions are displayed alike, whatever PostgreSQL's spelling is. */
function generationMember(
  { schema }: ColumnField,
  { generated }: CatalogColumn,
  spelled: SpelledColumn | undefined,
): [string, Json, Json] {
  const member = 'schema.generation_expression';
  const ours = schema.generation_expression;
  if (generated === null) return [member, ours, null];
  const kind = schema.extras?.virtual === true ? 'virtual' : 'stored';
  const same =
    (generated.expression === spelled?.generated || generated.expression === ours) && generated.kind === kind;
  return [member, ours, same ? ours : `${generated.expression} ${generated.kind.toUpperCase()}`];
}
