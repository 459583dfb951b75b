import {
  type Collection,
  type CollectionMeta,
  type ColumnSchema,
  type Field,
  type FieldMeta,
  COLLECTION_META_DEFAULTS,
  COLUMN_DEFAULTS,
  FIELD_META_DEFAULTS,
} from '../../schema/model/model.js';
import { isIdentity } from '../../schema/model/extras.js';
import { ALIAS_TYPE, dataTypesOf } from '../../schema/normal-form/types/field-types.js';

/** Returns the type members that the service uses by default: `character varying(255)`, `numeric(10, 5)`. */
function typeMembers(
  dataType: string,
): Pick<ColumnSchema, 'data_type' | 'max_length' | 'numeric_precision' | 'numeric_scale'> {
  const isNumeric = dataType === 'numeric';
  return {
    data_type: dataType,
    max_length: dataType === 'character varying' || dataType === 'character' ? 255 : null,
    numeric_precision: isNumeric ? 10 : null,
    numeric_scale: isNumeric ? 5 : null,
  };
}

/**
 * Returns a column with default values.
 * @param members members that override the defaults of the type
 * @returns null for an alias, which has no column
 */
export function newColumn(type: string, members: Partial<ColumnSchema> = {}): ColumnSchema | null {
  if (type === ALIAS_TYPE) return null;
  const column = {
    ...COLUMN_DEFAULTS,
    ...typeMembers(dataTypesOf(type)?.[0] ?? 'text'),
    ...members,
  };
  return settledFlags(column);
}

/** Sets the flags that a column implies. A primary key is unique and not null, and an identity is not null. */
export function settledFlags(column: ColumnSchema): ColumnSchema {
  const { is_primary_key: isKey, has_auto_increment: counts, generation_expression: expression } = column;
  return {
    ...column,
    is_nullable: column.is_nullable && !isKey && !isIdentity(column),
    is_unique: column.is_unique || isKey,
    is_indexed: column.is_indexed && !isKey,
    default_value: counts || expression !== null ? null : column.default_value,
  };
}

/** @param dataType the type in PostgreSQL's spelling */
export const canCountUp = (dataType: string): boolean => ['smallint', 'integer', 'bigint'].includes(dataType);

/** Returns the column with a different type. Members that depend on the type are reset. */
export function columnOfType(column: ColumnSchema, dataType: string): ColumnSchema {
  const { extras: _, ...rest } = column;
  return {
    ...rest,
    ...typeMembers(dataType),
    default_value: null,
    has_auto_increment: column.has_auto_increment && canCountUp(dataType),
  };
}

export interface NewField {
  collection: string;
  field: string;
  type: string;
  meta?: Partial<FieldMeta>;
  schema?: Partial<ColumnSchema>;
}

/** Returns a new field. Omitted members get the defaults of the service. `schema` is null for an alias. */
export const newField = ({ collection, field, type, meta, schema }: NewField): Field => ({
  collection,
  field,
  type,
  meta: { ...FIELD_META_DEFAULTS, ...meta },
  schema: newColumn(type, schema),
});

/** Returns a new collection without fields. The key of a table is added to the draft separately. */
export const newCollection = (
  collection: string,
  isFolder: boolean,
  meta: Partial<CollectionMeta> = {},
): Collection => ({
  collection,
  meta: { ...COLLECTION_META_DEFAULTS, ...meta },
  schema: isFolder ? null : { comment: null },
});

/** The default interface of each type, as in Directus. */
const INTERFACES: Readonly<Record<string, string>> = {
  text: 'input-multiline',
  boolean: 'boolean',
  json: 'input-code',
  csv: 'tags',
  date: 'datetime',
  time: 'datetime',
  dateTime: 'datetime',
  timestamp: 'datetime',
  hash: 'input-hash',
};

/** @returns the name of an interface. The default is `input` */
export const interfaceOf = (type: string): string =>
  INTERFACES[type] ?? (type.startsWith('geometry') ? 'map' : 'input');

const SPECIALS: Readonly<Record<string, string>> = {
  boolean: 'cast-boolean',
  json: 'cast-json',
  csv: 'cast-csv',
  dateTime: 'cast-datetime',
  timestamp: 'cast-timestamp',
  hash: 'hash',
};

/** Returns the `special` of a type. Null for none. */
export const specialOf = (type: string): string[] | null => {
  const special = SPECIALS[type];
  return special === undefined ? null : [special];
};

const NUMBERS = new Set(['integer', 'bigInteger', 'float', 'decimal']);

/** Returns the text of an input of a value. Empty if there is no value. */
export const textOf = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/**
 * Converts the input to a value of the type. Text that does not fit remains text, and the service rejects it with a
 * reason.
 */
export function valueOf(text: string, type: string): unknown {
  if (text === '') return null;
  if (NUMBERS.has(type)) return String(Number(text)) === text ? Number(text) : text;
  if (type !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
