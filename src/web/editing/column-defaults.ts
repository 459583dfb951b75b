/** Documents of new things, and columns of another type. */
import type { Collection, CollectionMeta, ColumnSchema, Field, FieldMeta } from '../../schema/model/model.js';
import { COLLECTION_META_DEFAULTS } from '../../schema/normal-form/collection-meta.js';
import { FIELD_META_DEFAULTS } from '../../schema/normal-form/field-meta.js';
import { ALIAS_TYPE, dataTypesOf } from '../../schema/normal-form/types/field-types.js';

/** As the service makes it where nothing is said: `character varying(255)`, `numeric(10, 5)`. */
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
 * @param said wins over what follows from the type
 * @returns null for an alias, which has no column
 */
export function newColumn(type: string, said: Partial<ColumnSchema> = {}): ColumnSchema | null {
  if (type === ALIAS_TYPE) return null;
  const column = {
    ...typeMembers(dataTypesOf(type)?.[0] ?? 'text'),
    default_value: null,
    is_nullable: true,
    is_unique: false,
    is_indexed: false,
    is_primary_key: false,
    generation_expression: null,
    has_auto_increment: false,
    comment: null,
    ...said,
  };
  return settledFlags(column);
}

/** A key has a value in every row, and an index of its own; what counts up has one too. */
export function settledFlags(column: ColumnSchema): ColumnSchema {
  const { is_primary_key: isKey, has_auto_increment: counts, generation_expression: expression } = column;
  return {
    ...column,
    is_nullable: column.is_nullable && !isKey && !counts,
    is_unique: column.is_unique || isKey,
    is_indexed: column.is_indexed && !isKey,
    default_value: counts || expression !== null ? null : column.default_value,
  };
}

/** @param dataType as PostgreSQL calls it */
export const canCountUp = (dataType: string): boolean => ['smallint', 'integer', 'bigint'].includes(dataType);

/** The column as one of another type: what belongs to the type is reset, the rest stays. */
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

/** What isn't given is as the service would make it; `schema` is null for an alias. */
export const newField = ({ collection, field, type, meta, schema }: NewField): Field => ({
  collection,
  field,
  type,
  meta: { ...FIELD_META_DEFAULTS, ...meta },
  schema: newColumn(type, schema),
});

/** Without fields: a table's key is put into the draft beside it. */
export const newCollection = (
  collection: string,
  isFolder: boolean,
  meta: Partial<CollectionMeta> = {},
): Collection => ({
  collection,
  meta: { ...COLLECTION_META_DEFAULTS, ...meta },
  schema: isFolder ? null : { comment: null },
});

/** The interface that fits a type, as the peer's clients choose it. */
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

/** @returns the name of an interface; `input` where none fits better */
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

/** What is done with values of the type; null: nothing. */
export const specialOf = (type: string): string[] | null => {
  const special = SPECIALS[type];
  return special === undefined ? null : [special];
};
