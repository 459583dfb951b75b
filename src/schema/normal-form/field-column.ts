/** Reads the type and the column of a field and compares them with the existing field. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field } from '../model/model.js';
import { complain, type Reading, Wrong } from './checks.js';
import type { GivenColumn } from './types/column-type.js';
import { normaliseColumn } from './column.js';
import { ALIAS_TYPE, FIELD_TYPES, isFieldType, UNKNOWN_TYPE } from './types/field-types.js';
import { mustEqual } from './overlay.js';
import { readVendorColumn } from './types/vendor-types.js';

export interface FieldColumnInput {
  collection: string;
  field: string;
  type: unknown;
  schema: unknown;
}

export interface FieldColumn {
  type: string;
  schema: ColumnSchema | null;
}

/** Members of a column that are not derived. */
const MEMBERS: ReadonlySet<string> = new Set([
  'data_type',
  'default_value',
  'max_length',
  // Directus clients use this name for max_length.
  'length',
  'numeric_precision',
  'numeric_scale',
  'is_nullable',
  'is_unique',
  'is_indexed',
  'is_primary_key',
  'generation_expression',
  'has_auto_increment',
  'comment',
  'extras',
  // Derived, but checking it needs the result.
  'is_generated',
]);

/** Adds problems to `reading`. Null if there is no usable type. */
export function readFieldColumn(
  input: FieldColumnInput,
  existing: Field | undefined,
  reading: Reading,
): FieldColumn | null {
  if (existing !== undefined && isUnchanged(input, existing, reading)) return existing;
  const members = givenMembers(input, reading);
  if (members === null) return null;
  const { schema } = input;
  const written = { type: input.type, given: members };
  const { type, given } = reading.imported ? translated(written, existing) : written;
  const requestedType = type === undefined ? unsaidType(input, existing, reading) : type;
  if (requestedType === ALIAS_TYPE) return alias(schema, reading);
  return isFieldType(requestedType)
    ? column({ type: requestedType, given, schema, existing }, reading)
    : unknownType(requestedType, reading);
}

/** Returns the members of `schema`. Empty if it is null or absent. */
function givenMembers(input: FieldColumnInput, reading: Reading): GivenColumn | null {
  if (input.schema === undefined || input.schema === null) return {};
  if (isObject(input.schema)) return ownMembers(input.schema, input, reading);
  complain(reading, ['schema'], 'must be an object (a column) or null (an alias field)');
  return null;
}

function unknownType(type: unknown, reading: Reading): null {
  const known = FIELD_TYPES.join(', ');
  complain(reading, ['type'], type === undefined ? `is required: one of ${known}` : `must be one of ${known}`);
  return null;
}

/** An existing field keeps its type. For new ones, Directus omits members that aliases lack. */
function unsaidType(
  { schema }: FieldColumnInput,
  existing: Field | undefined,
  { imported }: Reading,
): string | undefined {
  return existing?.type ?? (imported && schema == null ? ALIAS_TYPE : undefined);
}

function alias(schema: unknown, reading: Reading): FieldColumn {
  if (schema != null && !reading.imported) complain(reading, ['schema'], 'must be null: an alias field has no column');
  return { type: ALIAS_TYPE, schema: null };
}

interface SubmittedColumn {
  type: string;
  given: GivenColumn;
  schema: unknown;
  existing: Field | undefined;
}

function column({ type, given, schema, existing }: SubmittedColumn, reading: Reading): FieldColumn | null {
  if (schema === null && !reading.imported) {
    complain(reading, ['schema'], `must be an object: only a field of type ${ALIAS_TYPE} has no column`);
    return null;
  }
  const before = existing?.schema ?? null;
  const { imported } = reading;
  const { column: now, faults } = normaliseColumn({
    type,
    given,
    existing: before,
    existingType: existing?.type,
    imported,
  });
  for (const [steps, message] of faults) complain(reading, ['schema', ...steps], message);
  if (now === null) return null;
  return { type, schema: before !== null && jsonEqual(before, now) ? before : now };
}

/** A fast check of the common case that nothing changes. */
function isUnchanged(input: FieldColumnInput, existing: Field, reading: Reading): boolean {
  const { type, schema } = input;
  if (type !== undefined && type !== existing.type) return false;
  if (schema === undefined || schema === null) return schema === undefined || existing.schema === null;
  if (existing.schema === null || !isObject(schema)) return false;
  for (const name of Object.keys(schema)) {
    if (!saysNothingNew(name, schema[name], { input, before: existing.schema }, reading)) return false;
  }
  return true;
}

interface Comparison {
  input: FieldColumnInput;
  before: ColumnSchema;
}

function saysNothingNew(name: string, value: unknown, { input, before }: Comparison, reading: Reading): boolean {
  if (name === 'is_generated') return value === (before.generation_expression !== null);
  if (!MEMBERS.has(name)) return derived(name, value, input, reading.imported) === true;
  const present = before[name as keyof ColumnSchema];
  return value === present || (typeof value === 'object' && jsonEqual(value, present));
}

/** Returns members that are not derived. Derived ones are checked, and unknown ones are problems. */
function ownMembers(schema: Record<string, unknown>, names: FieldColumnInput, reading: Reading): GivenColumn {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(schema)) {
    const value = schema[name];
    if (value === undefined) continue;
    if (MEMBERS.has(name)) {
      given[name] = value;
      continue;
    }
    const fault = derived(name, value, names, reading.imported);
    if (fault !== true && !reading.imported) complain(reading, ['schema', name], fault.message);
  }
  return given;
}

const UNKNOWN_MEMBER = new Wrong('is not a known member');
const NOT_A_REFERENCE = new Wrong('must be a string or null');

function derived(
  name: string,
  value: unknown,
  names: { collection: string; field: string },
  imported: boolean,
): true | Wrong {
  switch (name) {
    case 'name':
      return mustEqual(value, names.field);
    case 'table':
      return mustEqual(value, names.collection);
    case 'schema':
    case 'foreign_key_schema':
    // The HTTP layer checks that it is the managed schema.
    case 'foreign_key_table':
    case 'foreign_key_column':
      // The relations are checked later.
      return value === null || typeof value === 'string' ? true : NOT_A_REFERENCE;
    default:
      return imported || UNKNOWN_MEMBER;
  }
}

interface Written {
  type: unknown;
  given: GivenColumn;
}

/** Translates another vendor's column type. */
function translated({ type, given }: Written, existing: Field | undefined): Written {
  const { data_type, max_length, numeric_precision, numeric_scale, length: _, ...rest } = given;
  const isUnsaid = type === undefined || ((type === UNKNOWN_TYPE || type === null) && data_type === undefined);
  const numbers = { data_type, max_length, numeric_precision, numeric_scale };
  // An unsupported type of PostgreSQL comes from our own snapshot and stays.
  const { type: ours, ...typed } = readVendorColumn(isUnsaid ? existing?.type : type, numbers, 'postgres');
  return { type: ours, given: { ...rest, ...typed } };
}
