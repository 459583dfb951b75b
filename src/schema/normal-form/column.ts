/* Normalises a column of a new document or of a change. */
import { checkExpression, checkTypeText } from '../sql-text/expression.js';
import { type ColumnExtras, NEXTVAL, isIdentity, isSerial, type SequenceType } from '../model/extras.js';
import { type ColumnSchema, COLUMN_DEFAULTS, columnDocument } from '../model/model.js';
import { checksOf, createCollector, type Fault, type Report, InvalidValue } from './checks.js';
import { readColumnType, type RequestedColumn } from './types/column-type.js';
import { dataType, holdsText } from '../sql-text/data-types.js';
import { isFunctionDefault, readDefault } from './defaults/default-value.js';
import type { ColumnType } from './types/field-types.js';
import { type Json, jsonEqual } from '../../kernel/json.js';
import { withKnownDefault } from '../sql-text/texts.js';
import { defaultFromCatalog } from './defaults/catalog-default.js';
import { readColumnExtras, readSequenceOptions } from './extras.js';

/* Determine the extras of a new or changed column: the submitted extras, or the existing ones that still apply. */

interface ColumnChange {
  type: string;
  /** The submitted members, except derived ones. */
  given: RequestedColumn;
  existing: ColumnSchema | null;
  /** The field type of the existing column. Members that depend on the type are reset if it changes. */
  existingType: string | undefined;
  /** True to accept the values of other vendors. */
  imported: boolean;
}

/** The resulting column without extras. */
interface Column extends ColumnType {
  is_nullable: boolean;
  is_unique: boolean;
  is_indexed: boolean;
  is_primary_key: boolean;
  increments: boolean;
  expression: string | null;
  value: Json;
}

/**
 * Returns the extras of the column. Returns the existing object if nothing changes, and undefined if no extras are
 * left. Problems are added to `faults`.
 */
function readExtras(change: ColumnChange, column: Column, faults: Fault[]): ColumnExtras | undefined {
  const report = createCollector(['extras'], faults);
  const submitted = change.given['extras'];
  const before = change.existing?.extras;
  const extras = submitted === undefined ? before : readColumnExtras(submitted, report);
  if (extras === undefined) return undefined;
  const read = withKnownDefault(extras, before);
  const kept = Object.fromEntries(
    Object.entries(read).filter(([name]) => isApplicable(name as keyof ColumnExtras, read, change, column)),
  ) as ColumnExtras;
  // The report includes existing extras, so that the result does not depend on when they were sent.
  if (submitted !== undefined) reportLost(read, kept, report);
  resolveSequence(kept, column, report);
  if (jsonEqual(kept, before)) return before;
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** Returns the options as PostgreSQL stores them. Defaults depend on the column's type. */
function resolveSequence(extras: ColumnExtras, { data_type }: Column, report: Report): void {
  if (extras.sequence === undefined) return;
  const { name, ...sequenceOptions } = extras.sequence;
  const options = readSequenceOptions(sequenceOptions, data_type as SequenceType, ['sequence'], report);
  const sequence = { ...(name === undefined ? {} : { name }), ...options };
  if (Object.keys(sequence).length === 0) delete extras.sequence;
  else extras.sequence = sequence;
}

function reportLost(before: ColumnExtras, extras: ColumnExtras, report: Report): void {
  for (const name of Object.keys(before)) {
    if (Object.hasOwn(extras, name)) continue;
    report([name], 'must be omitted: it does not apply to the column');
  }
}

const TEXTS: ReadonlySet<string> = new Set(['text', 'citext', 'character varying', 'character']);

type Rule = (column: Column, extras: ColumnExtras, change: ColumnChange) => boolean;

/** The conditions under which each member applies. */
const RULES: { readonly [M in keyof ColumnExtras]-?: Rule } = {
  precision: ({ data_type }) => /^(time|timestamp) /.test(data_type),
  collation: ({ data_type }, _, { type }) => TEXTS.has(data_type) || type === 'unknown',
  default: fitsDefault,
  identity: ({ increments }, extras) => increments && !isSerial({ extras }),
  virtual: ({ expression }) => expression !== null,
  sequence: ({ increments }, extras) => increments && !isSerial({ extras }),
  primary_key_name: ({ is_primary_key }) => is_primary_key,
  unique_name: ({ is_unique, is_primary_key }) => is_unique && !is_primary_key,
  index_name: ({ is_indexed }) => is_indexed,
  not_null_name: ({ is_nullable }) => !is_nullable,
};

/**
 * True if a default expression still applies. It is removed if the column gets another default value. `nextval` is
 * removed if the column is no longer auto-increment.
 */
function fitsDefault(column: Column, extras: ColumnExtras, { type }: ColumnChange): boolean {
  const { increments, expression, value } = column;
  if (expression !== null || extras.default === undefined) return false;
  if (value === null) return isSerial({ extras }) === increments;
  return jsonEqual(defaultFromCatalog(type, column, extras.default), value);
}

function isApplicable(name: keyof ColumnExtras, extras: ColumnExtras, change: ColumnChange, column: Column): boolean {
  return RULES[name](column, extras, change);
}

/* Check flags that contradict the key or auto-increment of a column. */

type Flag = 'is_nullable' | 'is_unique' | 'is_indexed';
type ColumnRule = readonly [member: Flag, impossible: boolean, message: string];

const OF_A_KEY: readonly ColumnRule[] = [
  ['is_nullable', true, 'must be false or omitted: a primary key cannot be null'],
  ['is_unique', false, 'must be true or omitted: a primary key is unique'],
  ['is_indexed', true, 'must be false or omitted: a primary key has its own index'],
];

const OF_IDENTITY: readonly ColumnRule[] = [
  ['is_nullable', true, 'must be false or omitted: an auto-increment column cannot be null'],
];

/**
 * Reports a flag with an impossible value. The normal form contains the only possible value, but an explicit other
 * value must not be ignored.
 */
function flagFaults(column: ColumnSchema, { given, imported }: ColumnChange): Fault[] {
  if (imported) return [];
  const isCounting = column.has_auto_increment && isIdentity(column);
  const rules = column.is_primary_key ? OF_A_KEY : isCounting ? OF_IDENTITY : [];
  return rules.flatMap(([member, impossible, message]) => (given[member] === impossible ? [[[member], message]] : []));
}

/**
 * Returns the column in normal form and the faults, to which the caller adds the location. `column` is null if there is
 * no usable type.
 */
export function normaliseColumn(change: ColumnChange): { column: ColumnSchema | null; faults: Fault[] } {
  const { type, given, existing, existingType } = change;
  const base = existing === null || existingType !== type ? undefined : existing;
  const { columnType, faults } = readColumnType({ type, given, base, checkTypeText });
  if (columnType === null) return { column: null, faults };
  const expression = readMember('generation_expression', change, faults);
  const increments = readIncrement(change, columnType, faults);
  checkGenerated(change, expression, faults);
  const value = readValue(change, columnType, { expression, increments }, faults);
  const flags = readFlags(change, faults);
  const column: ColumnSchema = {
    data_type: columnType.data_type,
    default_value: value,
    max_length: columnType.max_length,
    numeric_precision: columnType.numeric_precision,
    numeric_scale: columnType.numeric_scale,
    is_nullable: flags.is_nullable,
    is_unique: flags.is_unique,
    is_indexed: flags.is_indexed,
    is_primary_key: flags.is_primary_key,
    generation_expression: expression,
    has_auto_increment: increments,
    comment: readMember('comment', change, faults),
  };
  const extras = extrasOf(column, change, faults);
  if (extras !== undefined) column.extras = extras;
  // Identity columns are always NOT NULL in PostgreSQL.
  if (increments && isIdentity(column)) column.is_nullable = false;
  return { column, faults: [...faults, ...flagFaults(column, change)] };
}

function extrasOf(column: ColumnSchema, change: ColumnChange, faults: Fault[]): ColumnExtras | undefined {
  if (change.given['extras'] === undefined && change.existing?.extras === undefined) return undefined;
  const { generation_expression: expression, has_auto_increment: increments, default_value: value } = column;
  return readExtras(change, { ...column, expression, increments, value }, faults);
}

type Flags = Pick<ColumnSchema, 'is_nullable' | 'is_unique' | 'is_indexed' | 'is_primary_key'>;
/** The members of a column besides its type, default and extras. */
type Plain = Flags & Pick<ColumnSchema, 'generation_expression' | 'has_auto_increment' | 'comment'>;

/** Trims the expression. */
function readExpression(value: unknown): string | null | InvalidValue {
  if (value === null) return null;
  const text = (value as string).trim();
  const fault = checkExpression(text);
  return fault === null ? text : new InvalidValue(fault);
}

const CHECKS = checksOf(columnDocument, { generation_expression: readExpression });

function checkMember(name: string, value: unknown, imported: boolean): unknown {
  const check = CHECKS.get(name);
  if (check === undefined) throw new Error(`member ${name} of a column has no check`);
  return check(value, imported);
}

function readMember<M extends keyof Plain>(
  name: M,
  { given, existing, imported }: ColumnChange,
  faults: Fault[],
): Plain[M] {
  const base: Plain = existing ?? COLUMN_DEFAULTS;
  const before = base[name];
  const value = given[name];
  if (value === undefined || value === before) return before;
  const read = checkMember(name, value, imported);
  if (!(read instanceof InvalidValue)) return read as Plain[M];
  faults.push([[name], read.message]);
  return before;
}

function readFlags(change: ColumnChange, faults: Fault[]): Flags {
  const { existing } = change;
  const is_primary_key = readMember('is_primary_key', change, faults);
  // A primary key makes a column unique, so the column is no longer unique when it leaves the key.
  const wasKey = existing?.is_primary_key === true;
  const unkeyed = wasKey ? { ...change, existing: { ...existing, is_unique: false } } : change;
  const is_unique = readMember('is_unique', unkeyed, faults);
  const is_indexed = readMember('is_indexed', change, faults);
  const is_nullable = readMember('is_nullable', change, faults);
  return {
    is_nullable: is_nullable && !is_primary_key,
    is_unique: is_unique || is_primary_key,
    is_indexed: is_indexed && !is_primary_key,
    is_primary_key,
  };
}

/** True if a default is the next value of a sequence, the older form of auto-increment. */
export function isSequenceDefault(value: unknown, columnType: Pick<ColumnType, 'data_type'>): boolean {
  return typeof value === 'string' && NEXTVAL.test(value) && canBeIdentity(columnType);
}

function canBeIdentity({ data_type }: Pick<ColumnType, 'data_type'>): boolean {
  return dataType(data_type)?.reported?.[1] === 0;
}

/** True if PostgreSQL can assign the bigint of `nextval` to the type. For user-defined types, PostgreSQL decides. */
function holdsNumbers({ data_type }: Pick<ColumnType, 'data_type'>): boolean {
  const type = dataType(data_type);
  return type?.reported !== undefined || type?.precision === true || holdsText(data_type);
}

/**
 * True if a `nextval` default stays because the column cannot be an identity. If the type changes to one that is not an
 * integer, the default is removed without a problem.
 */
function keepsSequenceDefault({ given, existing }: ColumnChange, columnType: ColumnType): boolean {
  const extras = given['extras'] === undefined ? existing?.extras : given['extras'];
  const isChosen = given['has_auto_increment'] !== undefined || (existing !== null && !canBeIdentity(existing));
  return isChosen && isSerial({ extras: extras as ColumnExtras | undefined }) && holdsNumbers(columnType);
}

function readIncrement(change: ColumnChange, columnType: ColumnType, faults: Fault[]): boolean {
  const { type, given, existing, existingType, imported } = change;
  if (isSequenceDefault(given['default_value'], columnType)) return true;
  const able = canBeIdentity(columnType) || keepsSequenceDefault(change, columnType);
  // Documents of other vendors omit members that others imply.
  const isImportedChange = imported && existing !== null && existingType !== type && !able;
  const uncounting = isImportedChange ? { ...change, existing: { ...existing, has_auto_increment: false } } : change;
  const increments = readMember('has_auto_increment', uncounting, faults);
  if (!increments || able) return increments;
  const silent =
    given['has_auto_increment'] === undefined
      ? '; the column is currently auto-increment, so send false with the new type'
      : '';
  faults.push([['has_auto_increment'], `must be false: an identity column is smallint, integer or bigint${silent}`]);
  return false;
}

function checkGenerated({ given, imported }: ColumnChange, expression: string | null, faults: Fault[]): void {
  const isGenerated = given['is_generated'];
  if (isGenerated === undefined) return;
  const read = checkMember('is_generated', isGenerated, imported);
  if (read instanceof InvalidValue) faults.push([['is_generated'], read.message]);
  else if (read !== (expression !== null)) {
    const message = read
      ? 'must be false without a generation_expression'
      : 'must be true with a generation_expression';
    faults.push([['is_generated'], `${message} or omitted`]);
  }
}

interface DefaultSource {
  expression: string | null;
  increments: boolean;
}

/** Returns the default value. Null if the column generates its values. */
function readValue(
  change: ColumnChange,
  columnType: ColumnType,
  { expression, increments }: DefaultSource,
  faults: Fault[],
): Json {
  if (increments) {
    if (expression !== null) faults.push([['has_auto_increment'], 'must be false for a generated column']);
    return refuseDefault(change, 'auto increment', faults);
  }
  if (expression !== null) return refuseDefault(change, 'a generation expression', faults);
  return readColumnDefault(change, columnType, faults);
}

/** Rejects a default of a column with generated values. An existing default is removed without a problem. */
function refuseDefault({ given, imported }: ColumnChange, reason: string, faults: Fault[]): null {
  const value = given['default_value'];
  const isSilent = value === undefined || value === null || (typeof value === 'string' && NEXTVAL.test(value));
  if (!isSilent && !imported) {
    faults.push([['default_value'], `must be null: a column with ${reason} has no default`]);
  }
  return null;
}

function readColumnDefault(change: ColumnChange, columnType: ColumnType, faults: Fault[]): Json {
  const value = change.given['default_value'];
  if (value === undefined) return carryDefault(change, columnType, faults);
  const read = readDefault(change.type, columnType, value, { lenient: change.imported });
  if (!(read instanceof InvalidValue)) return read;
  faults.push([['default_value'], read.message]);
  return null;
}

/** Keeps the current default after a type change if its meaning is unchanged. */
function carryDefault({ type, existing, existingType }: ColumnChange, columnType: ColumnType, faults: Fault[]): Json {
  if (existing === null || existing.default_value === null) return null;
  const read = readDefault(type, columnType, existing.default_value, { lenient: true });
  const wasCall = isFunctionDefault(existingType ?? type, existing);
  const fits = !(read instanceof InvalidValue) && isFunctionDefault(type, { default_value: read }) === wasCall;
  if (fits) return read;
  const present = JSON.stringify(existing.default_value);
  faults.push([
    ['default_value'],
    `is currently ${present}, which does not fit: send a default_value (or null) with the change`,
  ]);
  return null;
}
