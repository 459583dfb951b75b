import { quoteName } from '../../kernel/text.js';
import { notNullName, identitySequenceName } from '../../schema/model/constraint-names.js';
import { type ColumnExtras, type TableExtras, isSerial } from '../../schema/model/extras.js';
import { checkExpression } from '../../schema/sql-text/expression.js';
import { columnType, defaultFromCatalog, readNewField, typeFromColumn } from '../../schema/normal-form/index.js';
import { isExtensionType } from '../../schema/sql-text/data-types.js';
import type { Field } from '../../schema/model/model.js';
import { type Result, refuse } from '../../kernel/problem.js';
import type { CatalogColumn } from '../catalog/model.js';
import { type TableConversion, note, listFault, findUnmanagedUse, sequenceOptions } from './needs.js';
import type { Json } from '../../kernel/json.js';

/*
 * Determines whether PostgreSQL spells a default exactly as if the service had set it. If so, the value alone
 * represents the default.
 */

/**
 * @param text from pg_get_expr
 * @param columnType from format_type
 * @param value the normal form of the text
 */
export function isUsualDefault(text: string, columnType: string, value: Json): boolean {
  // An explicit NULL is not a usual default. PostgreSQL keeps it, and it hides the default of a domain.
  if (value === null) return false;
  const type = columnType.replace(/ ?\(.*\)/, '');
  const written = typeof value === 'string' ? value : JSON.stringify(value);
  const label = `'::${type === 'character' ? 'bpchar' : type}`;
  if (!text.startsWith("'")) return text === written && isBare(type, written);
  if (!text.endsWith(label)) return false;
  const kept = KEPT.get(type);
  return kept === undefined || kept(text.slice(1, -label.length).replaceAll("''", "'")) === written;
}

const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")| /g;

/** PostgreSQL keeps the text of these types as written. For all others it prints the value in its own format. */
const KEPT: ReadonlyMap<string, (text: string) => string> = new Map([
  ['json', (text: string) => text],
  ['numeric', (text: string) => text],
  // PostgreSQL prints its own spaces between the parts.
  ['jsonb', (text: string) => text.replace(STRING_OR_SPACE, '$1')],
]);

/** Literals that PostgreSQL prints without quotes; -1 is not one of them. Other unquoted text is a function call. */
function isBare(type: string, written: string): boolean {
  if (/^\d/.test(written)) return type === 'integer' || (type === 'numeric' && written.includes('.'));
  return written === 'true' || written === 'false' ? type === 'boolean' : true;
}

export interface ColumnParts {
  is_unique: boolean;
  is_indexed: boolean;
  is_primary_key: boolean;
  names: Pick<ColumnExtras, 'primary_key_name' | 'unique_name' | 'index_name'>;
}

export const createNoParts = (): ColumnParts => ({
  is_unique: false,
  is_indexed: false,
  is_primary_key: false,
  names: {},
});

export type Unmanaged = NonNullable<TableExtras['unmanaged']>;

export interface LocatedColumn {
  column: CatalogColumn;
  /** Ordinal position in the table, starting at 1. */
  sort: number;
  parts: ColumnParts;
}

interface TypedColumn {
  type: string;
  data_type: string;
  max_length: number | null;
  numeric_precision: number | null;
  numeric_scale: number | null;
  precision?: number;
}

/**
 * Converts a column to a field. Where several representations are equal, it uses the one in `like`. Parts that cannot
 * be represented are noted and added to `unmanaged`. Fails where the API would reject a request with this field.
 */
export function toField(
  converting: TableConversion,
  { column, sort, parts }: LocatedColumn,
  unmanaged: Unmanaged,
): Result<Field> {
  const { table, like } = converting;
  const field = like?.fields.get(column.name);
  const typed = typeOf(column, field);
  const value = defaultOf(converting, column, typed, unmanaged);
  const generated = generationOf(converting, column, unmanaged);
  const extras: ColumnExtras = {
    ...plainExtras(column, typed.precision, value),
    ...(generated?.kind === 'virtual' ? { virtual: true } : {}),
    ...identitySequence(converting, column),
    ...parts.names,
    ...notNullExtras(converting, column),
  };
  // Written out by hand: object spread takes half of the conversion time of a large database.
  const schema = {
    data_type: typed.data_type,
    max_length: typed.max_length,
    numeric_precision: typed.numeric_precision,
    numeric_scale: typed.numeric_scale,
    is_unique: parts.is_unique,
    is_indexed: parts.is_indexed,
    is_primary_key: parts.is_primary_key,
    default_value: value.literal,
    is_nullable: column.nullable,
    generation_expression: generated?.expression ?? null,
    has_auto_increment: column.identity !== null || isSerial({ extras }),
    comment: column.comment,
    ...(Object.keys(extras).length === 0 ? {} : { extras }),
  };
  const meta = field?.meta ?? { sort };
  const document = { collection: table.name, field: column.name, type: typed.type, meta, schema };
  return explainUnsupported(column, readNewField(document, [], { imported: false }));
}

/** Rewords a problem for a client that sent only the name of a table, and knows no members of the document. */
function explainUnsupported({ name, type, default: text }: CatalogColumn, read: Result<Field>): Result<Field> {
  if (read.ok) return read;
  const definition = text === null ? type : `${type} DEFAULT ${text}`;
  const message = `column ${quoteName(name)} is defined as ${definition}, which the service does not support: change the column in the database, or leave the table unmanaged`;
  return refuse({ code: 'INVALID_PAYLOAD', message });
}

function plainExtras(column: CatalogColumn, precision: number | undefined, value: Default): ColumnExtras {
  return {
    ...(precision === undefined ? {} : { precision }),
    ...(column.collation === null ? {} : { collation: column.collation }),
    ...(value.sql === undefined ? {} : { default: value.sql }),
    ...(column.identity === 'always' ? { identity: 'always' } : {}),
  };
}

const TIMED = /^(time|timestamp)\((\d)\) (without time zone|with time zone)$/;

function typeOf(column: CatalogColumn, field: Field | undefined): TypedColumn {
  const timed = TIMED.exec(column.type);
  const plain = typeFromColumn(timed === null ? column.type : `${timed[1]} ${timed[3]}`);
  const named = plain.type === 'unknown' || isOwnType(column) ? UNKNOWN(column.type) : plain;
  const typed: TypedColumn =
    timed === null || named.type === 'unknown' ? named : { ...named, precision: Number(timed[2]) };
  const sameColumn = field?.schema && columnType(field.schema) === column.type;
  if (!sameColumn) return typed;
  return field.type === 'unknown' ? UNKNOWN(column.type) : { ...typed, type: field.type };
}

const UNKNOWN = (text: string): TypedColumn => ({
  type: 'unknown',
  data_type: text,
  max_length: null,
  numeric_precision: null,
  numeric_scale: null,
});

/**
 * True for a user-defined type, which may have the same name as one of ours. Types of known extensions keep their
 * names.
 */
const isOwnType = ({ builtIn, type }: CatalogColumn): boolean =>
  !builtIn && !isExtensionType(type) && !type.endsWith('[]');

interface Default {
  literal: Json;
  /**
   * SQL of the default. It is set if no literal is equivalent, or if PostgreSQL would spell the default differently.
   */
  sql?: string;
}

const NONE: Default = { literal: null };

function defaultOf(
  converting: TableConversion,
  column: CatalogColumn,
  typed: TypedColumn,
  unmanaged: Unmanaged,
): Default {
  const text = column.default;
  if (text === null || column.identity !== null) return NONE;
  const literal = defaultFromCatalog(typed.type, typed, text);
  if (literal !== undefined) return isUsualDefault(text, column.type, literal) ? { literal } : { literal, sql: text };
  const used = findUnmanagedUse(converting, 'default', column.name);
  const part = { kind: 'default', name: column.name, text } as const;
  const fault = used === null ? (checkExpression(text) ?? listFault(converting, part)) : `uses ${used}`;
  if (fault === null) return { literal: null, sql: text };
  unmanaged.push({ kind: 'default', name: column.name });
  const message = `the default of ${JSON.stringify(column.name)} ${fault}: it stays unchanged and is not included in snapshots`;
  note(converting, { kind: 'default', name: column.name, code: 'DEFAULT_NOT_REPRESENTED', message });
  return NONE;
}

/**
 * Returns nothing if the generation expression depends on missing objects or may not be sent. The column is then
 * created as an ordinary one.
 */
function generationOf(
  converting: TableConversion,
  { name, generated }: CatalogColumn,
  unmanaged: Unmanaged,
): CatalogColumn['generated'] {
  if (generated === null) return null;
  if (converting.like?.fields.get(name)?.schema?.generation_expression) return generated;
  const used = findUnmanagedUse(converting, 'generated', name);
  const part = { kind: 'generated', name, text: generated.expression } as const;
  const fault = used === null ? listFault(converting, part) : `uses ${used}`;
  if (fault === null) return generated;
  unmanaged.push({ kind: 'generated', name });
  const message = `the generation expression of ${quoteName(name)} ${fault}: it stays unchanged, and snapshots contain an ordinary column`;
  note(converting, { kind: 'generated column', name, code: 'GENERATED_COLUMN_NOT_REPRESENTED', message });
  return null;
}

/** Returns the name of the constraint, unless it is the name of the parent's constraint or the default name. */
function notNullExtras(converting: TableConversion, { name, notNull, nullable }: CatalogColumn) {
  if (nullable || notNull === null) return {};
  if (notNull.more !== null) {
    const message = `constraint ${quoteName(notNull.name)}: snapshots contain that ${quoteName(name)} is NOT NULL, but not that the constraint is ${notNull.more}`;
    note(converting, { kind: 'constraint', name: notNull.name, code: 'CONSTRAINT_NOT_REPRESENTED', message });
  }
  const isUsual = notNull.name === (notNull.parentName ?? notNullName(converting.table.table, name));
  return isUsual ? {} : { not_null_name: notNull.name };
}

/** Returns the options of an identity sequence that differ from PostgreSQL's defaults. */
function identitySequence(converting: TableConversion, column: CatalogColumn): Pick<ColumnExtras, 'sequence'> {
  const { table, objects } = converting;
  const { identity, sequence: owned } = column;
  const sequence = identity !== null && owned !== null ? objects.sequences.get(owned.key ?? owned.name) : undefined;
  if (sequence === undefined) return {};
  const options = sequenceOptions(sequence, column.type);
  const isOwn = sequence.name === identitySequenceName(table.table, column.name);
  const all = isOwn ? options : { name: sequence.name, ...options };
  return Object.keys(all).length === 0 ? {} : { sequence: all };
}
