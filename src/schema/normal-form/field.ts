/** Reads new fields and changes of existing ones. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field } from '../model/model.js';
import { invalid, ok, type Path, type Problem, refuse, type Result } from '../../kernel/problem.js';
import { asText, complain, type Reading, Wrong } from './checks.js';
import { readFieldColumn } from './field-column.js';
import { FIELD_META_DEFAULTS, FIELD_META_TABLE } from './field-meta.js';
import { checkName } from './names.js';
import { type FieldReadOptions, type ReadOptions, startReading } from './options.js';
import { mustEqual, type Others, overlay } from './overlay.js';

/**
 * Reads a new field of a snapshot or create request in normal form. Absent members get defaults, derived ones must
 * match, and unknown ones are problems (unless imported). References to other objects are not checked.
 */
export function readNewField(input: unknown, at: Path, options: FieldReadOptions): Result<Field> {
  if (!isObject(input)) return refuse(invalid(at, 'a field is a JSON object'));
  const reading = startReading(input, at, options);
  const collection = input['collection'] ?? options.collection;
  const field = input['field'];
  if (options.collection !== undefined && collection !== options.collection) {
    complain(reading, ['collection'], `must be ${JSON.stringify(options.collection)}, or left out`);
  } else if (typeof collection !== 'string')
    complain(reading, ['collection'], 'must be the name of the collection, a string');
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
  if (!isObject(input)) return refuse(invalid(at, 'a field is a JSON object'));
  const reading = startReading(input, at, options);
  for (const name of ['collection', 'field'] as const) {
    const value = input[name];
    if (value === undefined || value === existing[name]) continue;
    complain(reading, [name], `must be ${JSON.stringify(existing[name])}, or left out: renaming is unsupported`);
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
  if (existing !== undefined && isUnchanged(existing, meta, column)) return existing;
  return { collection, field, type: column.type, meta, schema: column.schema };
}

function isUnchanged(
  existing: Field,
  meta: Field['meta'],
  column: { type: string; schema: ColumnSchema | null },
): boolean {
  return meta === existing.meta && column.type === existing.type && column.schema === existing.schema;
}

function readMeta(
  input: Record<string, unknown>,
  { names, existing }: Target,
  reading: Reading,
  options: ReadOptions,
): Field['meta'] {
  const base = existing?.meta ?? FIELD_META_DEFAULTS;
  const given = input['meta'];
  const top = topLevelMeta(input, given, reading, options);
  const others = derivedMembers(names, reading.imported);
  const start =
    top === undefined ? base : overlay(base, { input: top, table: FIELD_META_TABLE, others, part: [] }, reading);
  if (given === undefined || given === null) return start;
  if (isObject(given))
    return overlay(start, { input: given, table: FIELD_META_TABLE, others, part: ['meta'] }, reading);
  complain(reading, ['meta'], 'must be an object or null');
  return start;
}

function derivedMembers(names: Record<string, string>, imported: boolean): Others {
  return (name, value) => {
    if (name === 'collection' || name === 'field') return mustEqual(value, names[name] ?? '');
    if (name === 'system') return value === false ? true : new Wrong('must be false, or left out');
    if (name === 'searchable') return typeof value === 'boolean' || NOT_A_FLAG;
    if (name === 'id') return isRowId(value, imported) || NOT_AN_ID;
    return false;
  };
}

const NOT_A_FLAG = new Wrong('must be true or false, or left out');
const NOT_AN_ID = new Wrong('must be an integer or null, or left out');

/** Directus numbers its rows. The number has no meaning here. */
const isRowId = (value: unknown, imported: boolean): boolean =>
  imported || value === null || Number.isSafeInteger(value);

/** Members of meta at the top level, where allowed. Others there are unknown. */
function topLevelMeta(
  input: Record<string, unknown>,
  meta: unknown,
  reading: Reading,
  options: ReadOptions,
): Record<string, unknown> | undefined {
  let top: Record<string, unknown> | undefined;
  for (const name of Object.keys(input)) {
    if (TOP_LEVEL.has(name)) continue;
    if (options.topLevelMeta !== true || !FIELD_META_TABLE.has(name)) {
      if (!reading.imported) complain(reading, [name], 'is not a known member');
      continue;
    }
    top ??= {};
    top[name] = input[name];
    if (isObject(meta) && Object.hasOwn(meta, name) && !jsonEqual(meta[name], input[name])) {
      complain(reading, [name], `must not differ from meta.${name}: give one of them`);
    }
  }
  return top;
}

/** The default primary key of a new table: `id`, a hidden, read-only, auto-increment integer. */
export function defaultPrimaryKey(collection: string): Field {
  const document = {
    collection,
    field: 'id',
    type: 'integer',
    meta: { interface: 'numeric', hidden: true, readonly: true },
    schema: { is_primary_key: true, has_auto_increment: true },
  };
  const field = readNewField(document, [], { imported: false });
  if (!field.ok) throw new Error(`the default primary key does not read: ${JSON.stringify(field.problems)}`);
  return field.value;
}
