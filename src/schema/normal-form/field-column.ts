/** The type and the column of a field: what was given, checked against what is there. */
import { isObject, jsonEqual } from '../json.js';
import type { ColumnSchema, Field } from '../model.js';
import { complain, type Reading, Wrong } from './checks.js';
import type { GivenColumn } from './column-type.js';
import { normaliseColumn } from './column.js';
import { ALIAS_TYPE, FIELD_TYPES, isFieldType, UNKNOWN_TYPE } from './field-types.js';
import { mustEqual } from './overlay.js';
import { readVendorColumn } from './vendor-types.js';

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

/** Members of a column that say something of their own. */
const MEMBERS: ReadonlySet<string> = new Set([
  'data_type',
  'default_value',
  'max_length',
  'numeric_precision',
  'numeric_scale',
  'is_nullable',
  'is_unique',
  'is_indexed',
  'is_primary_key',
  'generation_expression',
  'has_auto_increment',
  'comment',
  // Derived, but it needs the result to be checked.
  'is_generated',
]);

/** Reports what is wrong to `reading`; null when there is no type to go on with. */
export function readFieldColumn(
  input: FieldColumnInput,
  existing: Field | undefined,
  reading: Reading,
): FieldColumn | null {
  if (existing !== undefined && isUnchanged(input, existing, reading)) return existing;
  const schema = input.schema;
  if (schema !== undefined && schema !== null && !isObject(schema)) {
    complain(reading, ['schema'], 'must be an object (a column) or null (an alias field)');
    return null;
  }
  const members = isObject(schema) ? ownMembers(schema, input, reading) : {};
  const { type, given } = reading.foreign
    ? translated(input.type, members, existing)
    : { type: input.type, given: members };
  const wanted = type ?? existing?.type ?? (reading.foreign && schema == null ? ALIAS_TYPE : undefined);
  if (!isFieldType(wanted)) {
    const known = FIELD_TYPES.join(', ');
    complain(reading, ['type'], wanted === undefined ? `is required: one of ${known}` : `must be one of ${known}`);
    return null;
  }
  return wanted === ALIAS_TYPE ? alias(schema, reading) : column({ type: wanted, given, schema, existing }, reading);
}

function alias(schema: unknown, reading: Reading): FieldColumn {
  if (schema != null && !reading.foreign) complain(reading, ['schema'], 'must be null: an alias field has no column');
  return { type: ALIAS_TYPE, schema: null };
}

interface WantedColumn {
  type: string;
  given: GivenColumn;
  schema: unknown;
  existing: Field | undefined;
}

function column({ type, given, schema, existing }: WantedColumn, reading: Reading): FieldColumn | null {
  if (schema === null && !reading.foreign) {
    complain(reading, ['schema'], `must be an object: only a field of type ${ALIAS_TYPE} has no column`);
    return null;
  }
  const before = existing?.schema ?? null;
  const schemaNow = normaliseColumn({ type, given, existing: before, existingType: existing?.type }, reading);
  if (schemaNow === null) return null;
  return { type, schema: before !== null && jsonEqual(before, schemaNow) ? before : schemaNow };
}

/** The common case, looked for first: everything that is given is as it is already. */
function isUnchanged(
  { collection, field, type, schema }: FieldColumnInput,
  existing: Field,
  reading: Reading,
): boolean {
  if (type !== undefined && type !== existing.type) return false;
  if (schema === undefined || schema === null) return schema === undefined || existing.schema === null;
  if (existing.schema === null || !isObject(schema)) return false;
  const before = existing.schema as unknown as Record<string, unknown>;
  for (const name of Object.keys(schema)) {
    const value = schema[name];
    if (name === 'is_generated') {
      if (value !== (existing.schema.generation_expression !== null)) return false;
    } else if (MEMBERS.has(name)) {
      if (value !== before[name] && !(typeof value === 'object' && jsonEqual(value, before[name]))) return false;
    } else if (derived(name, value, { collection, field }, reading.foreign) !== true) return false;
  }
  return true;
}

/** The members that say something; derived ones are checked, unknown ones are problems. */
function ownMembers(schema: Record<string, unknown>, names: FieldColumnInput, reading: Reading): GivenColumn {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(schema)) {
    const value = schema[name];
    if (value === undefined) continue;
    if (MEMBERS.has(name)) {
      given[name] = value;
      continue;
    }
    const fault = derived(name, value, names, reading.foreign);
    if (fault !== true && !reading.foreign) complain(reading, ['schema', name], fault.message);
  }
  return given;
}

const UNKNOWN_MEMBER = new Wrong('is not a known member');
const NOT_A_REFERENCE = new Wrong('must be a string or null');

function derived(
  name: string,
  value: unknown,
  names: { collection: string; field: string },
  foreign: boolean,
): true | Wrong {
  switch (name) {
    case 'name':
      return mustEqual(value, names.field);
    case 'table':
      return mustEqual(value, names.collection);
    case 'foreign_key_table':
    case 'foreign_key_column':
      // Whether it agrees with the relations is asked where the relations are known.
      return value === null || typeof value === 'string' ? true : NOT_A_REFERENCE;
    default:
      return foreign || UNKNOWN_MEMBER;
  }
}

/** What another vendor says of the column's type, in our terms. */
function translated(
  type: unknown,
  members: GivenColumn,
  existing: Field | undefined,
): { type: unknown; given: GivenColumn } {
  const { data_type, max_length, numeric_precision, numeric_scale, ...rest } = members;
  const isUnknown = type === UNKNOWN_TYPE || type === undefined || type === null;
  const known = isUnknown && data_type === undefined ? existing?.type : type;
  const { type: ours, ...typed } = readVendorColumn(
    known,
    { data_type, max_length, numeric_precision, numeric_scale },
    'postgres',
  );
  return { type: ours ?? undefined, given: { ...rest, ...typed } };
}
