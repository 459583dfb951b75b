/* Reads new fields and changes to existing ones. */
import { isObject, jsonEqual, type Json } from '../../kernel/json.js';
import {
  invalidProblem,
  ok,
  type Path,
  type Problem,
  refuse,
  type Result,
  unknownMembers,
} from '../../kernel/problem.js';
import { BACKFILL_EXPRESSIONS, type Backfill, TEXT_EXPRESSIONS, type TextExpression } from '../model/backfill.js';
import {
  type ColumnSchema,
  type Field,
  FIELD_META_DEFAULTS,
  columnSchema,
  fieldMeta,
  membersOf,
} from '../model/model.js';
import {
  asText,
  checksOf,
  addFault,
  type Reading,
  InvalidValue,
  mustEqual,
  type CheckUnknownMember,
  overlayMembers,
} from './checks.js';
import { normaliseColumn } from './column.js';
import { checkName } from './names.js';
import { type FieldReadOptions, type ReadOptions, startReading } from './options.js';
import type { RequestedColumn } from './types/column-type.js';
import { ALIAS_TYPE, FIELD_TYPES, isFieldType, UNKNOWN_TYPE } from './types/field-types.js';
import { readVendorColumn } from './types/vendor-types.js';

/* Reads the type and the column of a field and compares them with the existing field. */

interface FieldColumnInput {
  collection: string;
  field: string;
  type: unknown;
  schema: unknown;
}

interface FieldColumn {
  type: string;
  schema: ColumnSchema | null;
}

/** Members of a column that are not derived. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...membersOf(columnSchema),
  // Directus clients use this name for max_length.
  'length',
  // This member is derived, but its check needs the result.
  'is_generated',
]);

/** Adds problems to `reading`. Null if there is no usable type. */
function readFieldColumn(input: FieldColumnInput, existing: Field | undefined, reading: Reading): FieldColumn | null {
  if (existing !== undefined && isUnchanged(input, existing, reading)) return existing;
  const members = submittedMembers(input, reading);
  if (members === null) return null;
  const { schema } = input;
  const written = { type: input.type, given: members };
  const { type, given } = reading.imported ? translateVendorType(written, existing) : written;
  const requestedType = type === undefined ? defaultType(input, existing, reading) : type;
  if (requestedType === ALIAS_TYPE) return alias(schema, reading);
  return isFieldType(requestedType)
    ? normaliseSubmitted({ type: requestedType, given, schema, existing }, reading)
    : unknownType(requestedType, reading);
}

/** Returns the submitted members of `schema`. Empty if `schema` is null or absent. */
function submittedMembers(input: FieldColumnInput, reading: Reading): RequestedColumn | null {
  if (input.schema === undefined || input.schema === null) return {};
  if (isObject(input.schema)) return ownMembers(input.schema, input, reading);
  addFault(reading, ['schema'], 'must be an object (a column) or null (an alias field)');
  return null;
}

function unknownType(type: unknown, reading: Reading): null {
  const types = FIELD_TYPES.join(', ');
  addFault(reading, ['type'], type === undefined ? `is required: one of ${types}` : `must be one of ${types}`);
  return null;
}

/**
 * Returns the type of a field without `type`. An existing field keeps its type. In an imported snapshot, a new field
 * without a column is an alias.
 */
function defaultType(
  { schema }: FieldColumnInput,
  existing: Field | undefined,
  { imported }: Reading,
): string | undefined {
  return existing?.type ?? (imported && schema == null ? ALIAS_TYPE : undefined);
}

function alias(schema: unknown, reading: Reading): FieldColumn {
  if (schema != null && !reading.imported) addFault(reading, ['schema'], 'must be null: an alias field has no column');
  return { type: ALIAS_TYPE, schema: null };
}

interface SubmittedColumn {
  type: string;
  given: RequestedColumn;
  schema: unknown;
  existing: Field | undefined;
}

function normaliseSubmitted({ type, given, schema, existing }: SubmittedColumn, reading: Reading): FieldColumn | null {
  if (schema === null && !reading.imported) {
    addFault(reading, ['schema'], `must be an object: only a field of type ${ALIAS_TYPE} has no column`);
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
  for (const [steps, message] of faults) addFault(reading, ['schema', ...steps], message);
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
    if (!isUnchangedMember(name, schema[name], { input, before: existing.schema }, reading)) return false;
  }
  return true;
}

interface Comparison {
  input: FieldColumnInput;
  before: ColumnSchema;
}

function isUnchangedMember(name: string, value: unknown, { input, before }: Comparison, reading: Reading): boolean {
  if (name === 'is_generated') return value === (before.generation_expression !== null);
  if (!MEMBERS.has(name)) return checkDerived(name, value, input, reading.imported) === true;
  const present = before[name as keyof ColumnSchema];
  return value === present || (typeof value === 'object' && jsonEqual(value, present));
}

/** Returns the members that are not derived. Derived members are checked, and unknown members are problems. */
function ownMembers(schema: Record<string, unknown>, names: FieldColumnInput, reading: Reading): RequestedColumn {
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(schema)) {
    const value = schema[name];
    if (value === undefined) continue;
    if (MEMBERS.has(name)) {
      members[name] = value;
      continue;
    }
    const fault = checkDerived(name, value, names, reading.imported);
    if (fault !== true && !reading.imported) addFault(reading, ['schema', name], fault.message);
  }
  return members;
}

const UNKNOWN_MEMBER = new InvalidValue('is not a known member');
const NOT_A_REFERENCE = new InvalidValue('must be a string or null');

function checkDerived(
  name: string,
  value: unknown,
  names: { collection: string; field: string },
  imported: boolean,
): true | InvalidValue {
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
      // The check of relations compares the value later.
      return value === null || typeof value === 'string' ? true : NOT_A_REFERENCE;
    default:
      return imported || UNKNOWN_MEMBER;
  }
}

interface SubmittedType {
  type: unknown;
  given: RequestedColumn;
}

/** Translates another vendor's column type. */
function translateVendorType({ type, given }: SubmittedType, existing: Field | undefined): SubmittedType {
  const { data_type, max_length, numeric_precision, numeric_scale, length: _, ...rest } = given;
  const isUnsaid = type === undefined || ((type === UNKNOWN_TYPE || type === null) && data_type === undefined);
  const numbers = { data_type, max_length, numeric_precision, numeric_scale };
  // An unsupported PostgreSQL type comes from a snapshot of this service and stays.
  const { type: ours, ...typed } = readVendorColumn(isUnsaid ? existing?.type : type, numbers, 'postgres');
  return { type: ours, given: { ...rest, ...typed } };
}

/**
 * Reads a new field of a snapshot or create request in normal form. Absent members get defaults, derived ones must
 * match, and unknown ones are problems (unless imported). This function does not check references to other objects.
 */
export function readNewField(input: unknown, at: Path, options: FieldReadOptions): Result<Field> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'a field must be a JSON object'));
  const reading = startReading(input, at, options);
  const collection = input['collection'] ?? options.collection;
  const field = input['field'];
  if (options.collection !== undefined && collection !== options.collection) {
    addFault(reading, ['collection'], `must be ${JSON.stringify(options.collection)} or omitted`);
  } else if (typeof collection !== 'string')
    addFault(reading, ['collection'], 'must be the name of the collection, as a string');
  const problems = [...reading.problems, ...checkName('field', field, [...at, 'field'])];
  const names = { collection: asText(collection), field: asText(field) };
  return finish(readParts(input, { names, existing: undefined }, reading, options), reading, problems);
}

/**
 * Returns `existing` with the members of `input`. If the type or a column member changes, the whole column is
 * normalised again. Members that depend on the type (length, precision, auto increment) are reset with a new type.
 * Returns `existing` itself if nothing differs.
 */
export function mergeField(existing: Field, input: unknown, at: Path, options: ReadOptions): Result<Field> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'a field must be a JSON object'));
  const reading = startReading(input, at, options);
  for (const name of ['collection', 'field'] as const) {
    const value = input[name];
    if (value === undefined || value === existing[name]) continue;
    addFault(reading, [name], `must be ${JSON.stringify(existing[name])} or omitted: a field cannot be renamed here`);
  }
  const names = { collection: existing.collection, field: existing.field };
  return finish(readParts(input, { names, existing }, reading, options), reading, []);
}

function finish(field: Field | null, reading: Reading, problems: Problem[]): Result<Field> {
  if (reading.problems.length > 0 || problems.length > 0 || field === null) {
    return refuse(...new Set([...problems, ...reading.problems]));
  }
  return ok(field);
}

interface Target {
  names: { collection: string; field: string };
  existing: Field | undefined;
}

const TOP_LEVEL: ReadonlySet<string> = new Set(['collection', 'field', 'type', 'meta', 'schema']);

function readParts(
  input: Record<string, unknown>,
  target: Target,
  reading: Reading,
  options: ReadOptions,
): Field | null {
  const { names, existing } = target;
  const meta = readMeta(input, target, reading, options);
  const { collection, field } = names;
  const column = readFieldColumn(
    { collection, field, type: input['type'], schema: input['schema'] },
    existing,
    reading,
  );
  if (column === null) return null;
  if (existing !== undefined && isFieldUnchanged(existing, meta, column)) return existing;
  return { collection, field, type: column.type, meta, schema: column.schema };
}

function isFieldUnchanged(
  existing: Field,
  meta: Field['meta'],
  column: { type: string; schema: ColumnSchema | null },
): boolean {
  return meta === existing.meta && column.type === existing.type && column.schema === existing.schema;
}

const META_CHECKS = checksOf(fieldMeta);

function readMeta(
  input: Record<string, unknown>,
  { names, existing }: Target,
  reading: Reading,
  options: ReadOptions,
): Field['meta'] {
  const base = existing?.meta ?? FIELD_META_DEFAULTS;
  const meta = input['meta'];
  const top = topLevelMeta(input, meta, reading, options);
  const others = derivedMembers(names, reading.imported);
  const start =
    top === undefined ? base : overlayMembers(base, { input: top, checks: META_CHECKS, others, part: [] }, reading);
  if (meta === undefined || meta === null) return start;
  if (isObject(meta))
    return overlayMembers(start, { input: meta, checks: META_CHECKS, others, part: ['meta'] }, reading);
  addFault(reading, ['meta'], 'must be an object or null');
  return start;
}

function derivedMembers(names: Record<string, string>, imported: boolean): CheckUnknownMember {
  return (name, value) => {
    if (name === 'collection' || name === 'field') return mustEqual(value, names[name] ?? '');
    if (name === 'system') return value === false ? true : new InvalidValue('must be false or omitted');
    if (name === 'searchable') return typeof value === 'boolean' || NOT_A_FLAG;
    if (name === 'id') return isRowId(value, imported) || NOT_AN_ID;
    return false;
  };
}

const NOT_A_FLAG = new InvalidValue('must be true, false or omitted');
const NOT_AN_ID = new InvalidValue('must be an integer, null or omitted');

/** True for an `id` in an imported snapshot. Directus numbers its rows, and this service ignores the number. */
const isRowId = (value: unknown, imported: boolean): boolean =>
  imported || value === null || Number.isSafeInteger(value);

/** Returns members of `meta` at the top level, where they are allowed. Elsewhere they are unknown members. */
function topLevelMeta(
  input: Record<string, unknown>,
  meta: unknown,
  reading: Reading,
  options: ReadOptions,
): Record<string, unknown> | undefined {
  let top: Record<string, unknown> | undefined;
  for (const name of Object.keys(input)) {
    if (TOP_LEVEL.has(name)) continue;
    if (options.topLevelMeta !== true || !META_CHECKS.has(name)) {
      if (!reading.imported) addFault(reading, [name], 'is not a known member');
      continue;
    }
    top ??= {};
    top[name] = input[name];
    if (isObject(meta) && Object.hasOwn(meta, name) && !jsonEqual(meta[name], input[name])) {
      addFault(reading, [name], `must not differ from meta.${name}: send one of them`);
    }
  }
  return top;
}

/** Returns the default primary key of a new table: `id`, a hidden, read-only, auto-increment integer. */
export function defaultPrimaryKey(collection: string): Field {
  const document = {
    collection,
    field: 'id',
    type: 'integer',
    meta: { interface: 'numeric', hidden: true, readonly: true },
    schema: { is_primary_key: true, has_auto_increment: true },
  };
  const field = readNewField(document, [], { imported: false });
  if (!field.ok) throw new Error(`the default primary key is not valid: ${JSON.stringify(field.problems)}`);
  return field.value;
}

/* Reads the member `backfill` of a request. What depends on the field is checked when the change is decided. */

const BACKFILL_MEMBERS: ReadonlySet<string> = new Set(['value', 'field', 'expression']);

const SHAPE = 'backfill must be an object with one of value, field and expression';

export function readBackfill(input: unknown, at: Path): Result<Backfill> {
  if (!isObject(input)) return refuse(invalidProblem(at, SHAPE));
  const unknown = unknownMembers(input, BACKFILL_MEMBERS, at);
  if (unknown.length > 0) return refuse(...unknown);
  const { value, field, expression } = input;
  if (expression !== undefined && value === undefined) return readExpression(expression, field, at);
  if ((value === undefined) === (field === undefined) || expression !== undefined)
    return refuse(invalidProblem(at, SHAPE));
  if (field !== undefined) return readSource(field, at);
  return value === null
    ? refuse(invalidProblem([...at, 'value'], 'value must not be null: a backfill replaces null'))
    : ok({ value: value as Json });
}

function readSource(field: unknown, at: Path): Result<{ field: string }> {
  return typeof field === 'string'
    ? ok({ field })
    : refuse(invalidProblem([...at, 'field'], 'field must be the name of a field, as a string'));
}

function readExpression(name: unknown, field: unknown, at: Path): Result<Backfill> {
  const expression = BACKFILL_EXPRESSIONS.find((each) => each === name);
  if (expression === undefined) {
    const message = `expression must be one of ${BACKFILL_EXPRESSIONS.join(', ')}`;
    return refuse(invalidProblem([...at, 'expression'], message));
  }
  if (isTextExpression(expression)) {
    const source = readSource(field, at);
    return source.ok ? ok({ expression, field: source.value.field }) : source;
  }
  return field === undefined
    ? ok({ expression })
    : refuse(invalidProblem([...at, 'field'], `the expression ${expression} takes no field`));
}

const isTextExpression = (name: string): name is TextExpression =>
  (TEXT_EXPRESSIONS as readonly string[]).includes(name);
