/** The type members of a column (data_type, max_length, numeric_precision, numeric_scale) in normal form. */
import type { Fault } from '../checks.js';
import { isObject } from '../../../kernel/json.js';
import type { Field } from '../../model/model.js';
import {
  type DataType,
  dataType,
  parseDataType,
  restrictedGeometry,
  type WrittenType,
} from '../../sql-text/data-types.js';
import { type ColumnType, dataTypesOf, isDataTypeOf, UNKNOWN_TYPE, typeFromColumn } from './field-types.js';

/* Check the text of an unsupported type. It must have PostgreSQL's spelling, because any other would differ from the
   catalog. */

const SERIAL = /^(?:small|big)?serial[248]?$/i;

/**
 * Returns the fault of a string as an unsupported type: it lacks PostgreSQL's spelling, or the type is supported. Null if
 * it is valid.
 */
export function spellingFault(text: string): string | null {
  const element = text.replace(/\[\]$/, '');
  if (SERIAL.test(element)) return 'is not a column type: use integer or bigInteger with has_auto_increment';
  if (/^pg_catalog\./i.test(text)) return 'must be written without pg_catalog';
  if (!text.startsWith('"') && /^\s|\s$|[[\]]|\barray\b/i.test(element)) {
    return 'must be written as PostgreSQL shows it: an array type is the element type and []';
  }
  const written = namedType(element);
  if (written === null) return null;
  const usual = renderType(written);
  const { type } = typeFromColumn(usual);
  if (element === text && type !== UNKNOWN_TYPE) return `must be written with its name in this service, ${type}`;
  return element === usual ? null : `must be written as PostgreSQL shows it: ${usual}${text.slice(element.length)}`;
}

/**
 * Converts a restricted geometry to its current type, because older releases stored it as an unsupported type. A field
 * that is still unsupported in the state keeps that type, so that a log's own snapshot changes nothing.
 */
export function withNamedType(input: unknown, existing?: Field): unknown {
  if (!isObject(input) || input['type'] !== UNKNOWN_TYPE || !isObject(input['schema'])) return input;
  const text = input['schema']['data_type'];
  if (typeof text !== 'string' || restrictedGeometry(text)?.name !== text || isUnknown(existing, text)) return input;
  return { ...input, type: typeFromColumn(text).type };
}

const isUnknown = (field: Field | undefined, text: string): boolean =>
  field?.type === UNKNOWN_TYPE && field.schema?.data_type === text;

/** The spelling that PostgreSQL shows for unsupported types with several spellings. */
const SHOWN: ReadonlyMap<string, WrittenType> = new Map([
  ['timetz', { name: 'time with time zone', parameters: [] }],
  ['varbit', { name: 'bit varying', parameters: [] }],
  ['bit', { name: 'bit', parameters: [1] }],
]);

function namedType(element: string): WrittenType | null {
  const written = parseDataType(element);
  if (written === null) return null;
  const { name, parameters } = written;
  const shown = SHOWN.get(name);
  if (shown !== undefined) return parameters.length === 0 ? shown : { name: shown.name, parameters };
  // `bpchar` without a length differs from `character`.
  const isOther = element === 'bpchar' && parameters.length === 0;
  return isOther || dataType(name) === undefined ? null : written;
}

/** The precision of a time type follows the first word: `timestamp(3) with time zone`. */
function renderType({ name, parameters }: WrittenType): string {
  if (parameters.length === 0) return name;
  const [first = '', ...rest] = name.startsWith('time') ? name.split(' ') : [name];
  return [`${first}(${parameters.join(',')})`, ...rest].join(' ');
}

const MAX_LENGTH = 10_485_760;
const MAX_PRECISION = 1000;
const DEFAULT_LENGTH = 255;
const DEFAULT_PRECISION = 10;
const DEFAULT_SCALE = 5;

/** The submitted members. Absent members are undefined. */
export type RequestedColumn = Readonly<Record<string, unknown>>;

/** Checks the text of an `unknown` type. Returns the fault or null. */
type TypeTextCheck = (text: string) => string | null;

export interface ColumnTypeInput {
  type: string;
  given: RequestedColumn;
  /** The existing column if its type stays. It provides the members that the request omits. */
  base: ColumnType | undefined;
  checkTypeText: TypeTextCheck;
}

/** Reads the type of a column. `columnType` is null if there is no usable type. */
export function readColumnType(input: ColumnTypeInput): { columnType: ColumnType | null; faults: Fault[] } {
  const faults: Fault[] = [];
  const named = readDataType(input, faults);
  return { columnType: named && withMembers(named, input, faults), faults };
}

function withMembers(named: NamedType, input: ColumnTypeInput, faults: Fault[]): ColumnType {
  const rule = input.type === UNKNOWN_TYPE ? UNKNOWN_RULE : (dataType(named.data_type) ?? UNKNOWN_RULE);
  const submitted = withParameters(withLength(input.given, rule, faults), named, rule, faults);
  const base = input.base;
  return {
    data_type: named.data_type,
    max_length: readLength(rule, submitted, base, faults),
    ...(rule.precision ? readPrecision(submitted, base, faults) : checkNoPrecision(rule, submitted, faults)),
  };
}

const UNKNOWN_RULE: DataType = { length: 'none', precision: false };

interface NamedType {
  data_type: string;
  /** The numbers in parentheses after the name. */
  parameters: number[];
}

function readDataType(input: ColumnTypeInput, faults: Fault[]): NamedType | null {
  const allowed = dataTypesOf(input.type);
  const submitted = input.given['data_type'] ?? input.base?.data_type ?? allowed?.[0];
  if (typeof submitted !== 'string' || input.given['data_type'] === null) {
    faults.push([['data_type'], 'must be the name of a data type, as a string']);
    return null;
  }
  if (allowed === undefined) return readTypeText(submitted, input, faults);
  const written = parseDataType(submitted);
  if (written !== null && isDataTypeOf(input.type, written.name)) {
    return { data_type: written.name, parameters: written.parameters };
  }
  faults.push([['data_type'], `must be ${allowed.join(' or ')} for type ${input.type}`]);
  return null;
}

/** Reads a type. An unsupported type keeps PostgreSQL's text. */
function readTypeText(text: string, { base, checkTypeText }: ColumnTypeInput, faults: Fault[]): NamedType | null {
  const fault = text === base?.data_type ? null : (spellingFault(text) ?? checkTypeText(text));
  if (fault === null) return { data_type: text, parameters: [] };
  faults.push([['data_type'], fault]);
  return null;
}

/**
 * Replaces `length` by max_length if the type has a length, and ignores it otherwise. If both are given, they must
 * match.
 */
function withLength({ length, ...submitted }: RequestedColumn, rule: DataType, faults: Fault[]): RequestedColumn {
  if (length === undefined || length === null) return submitted;
  if (!isInteger(length, 0, Number.MAX_SAFE_INTEGER)) {
    faults.push([['length'], 'must be an integer or null']);
    return submitted;
  }
  if (rule.length === 'none') return submitted;
  if (submitted['max_length'] === undefined) return { ...submitted, max_length: length };
  if (submitted['max_length'] !== length) {
    faults.push([['length'], 'must not differ from max_length: send one of them']);
  }
  return submitted;
}

/** `varchar(50)` sets max_length 50. An explicit value must match. */
function withParameters(
  members: RequestedColumn,
  { parameters }: NamedType,
  rule: DataType,
  faults: Fault[],
): RequestedColumn {
  const [first, second] = parameters;
  if (first === undefined) return members;
  const merged: Record<string, unknown> = { ...members };
  if (rule.length !== 'none') requireAgreement(merged, 'max_length', first, faults);
  else if (rule.precision) {
    requireAgreement(merged, 'numeric_precision', first, faults);
    requireAgreement(merged, 'numeric_scale', second ?? 0, faults);
  } else faults.push([['data_type'], 'must not have a length or precision']);
  return merged;
}

function requireAgreement(merged: Record<string, unknown>, member: string, value: number, faults: Fault[]): void {
  const submitted = merged[member];
  if (submitted === undefined) merged[member] = value;
  else if (submitted !== value) faults.push([[member], `must be ${value}, as in data_type, or omitted`]);
}

function readLength(
  rule: DataType,
  members: RequestedColumn,
  base: ColumnType | undefined,
  faults: Fault[],
): number | null {
  const value = members['max_length'];
  if (rule.length === 'none') {
    if (value !== undefined && value !== null) faults.push([['max_length'], 'must be null: this type has no length']);
    return null;
  }
  const length = value === undefined ? defaultLength(base?.max_length, rule) : value;
  if (isInteger(length, 1, MAX_LENGTH)) return length;
  if (length === null && rule.length === 'optional') return null;
  const orNull = rule.length === 'optional' ? ', or null for no limit' : '';
  faults.push([['max_length'], `must be an integer from 1 to ${MAX_LENGTH}${orNull}`]);
  return null;
}

function defaultLength(length: number | null | undefined, rule: DataType): number | null | undefined {
  return length === undefined && rule.length === 'optional' ? DEFAULT_LENGTH : length;
}

type Precision = Pick<ColumnType, 'numeric_precision' | 'numeric_scale'>;
const NO_PRECISION: Precision = { numeric_precision: null, numeric_scale: null };

function readPrecision(members: RequestedColumn, base: ColumnType | undefined, faults: Fault[]): Precision {
  const precision = inheritPrecision(members['numeric_precision'], base, 'numeric_precision', DEFAULT_PRECISION);
  const givenScale = members['numeric_scale'];
  if (precision === null) {
    if (givenScale !== undefined && givenScale !== null) {
      faults.push([['numeric_scale'], 'must be null if numeric_precision is null (no limits)']);
    }
    return NO_PRECISION;
  }
  if (!isInteger(precision, 1, MAX_PRECISION)) {
    faults.push([['numeric_precision'], `must be an integer from 1 to ${MAX_PRECISION}, or null for no limits`]);
    return NO_PRECISION;
  }
  const scale =
    givenScale === null ? 0 : inheritPrecision(givenScale, base, 'numeric_scale', Math.min(DEFAULT_SCALE, precision));
  if (isInteger(scale, 0, precision)) return { numeric_precision: precision, numeric_scale: scale };
  faults.push([['numeric_scale'], `must be an integer from 0 to ${precision}, the precision`]);
  return NO_PRECISION;
}

function inheritPrecision(
  value: unknown,
  base: ColumnType | undefined,
  member: keyof Precision,
  fallback: number,
): unknown {
  if (value !== undefined) return value;
  const before = base?.[member];
  // A null scale had no precision. A new precision therefore starts with the default scale.
  return before === undefined || (before === null && member === 'numeric_scale') ? fallback : before;
}

/** Ignores precision and scale that the catalog reports although they cannot be set. Rejects all other values. */
function checkNoPrecision({ reported }: DataType, members: RequestedColumn, faults: Fault[]): Precision {
  for (const [index, member] of (['numeric_precision', 'numeric_scale'] as const).entries()) {
    const value = members[member];
    if (value === undefined || value === null || value === reported?.[index]) continue;
    faults.push([[member], 'must be null: this type has no precision to set']);
  }
  return NO_PRECISION;
}

function isInteger(value: unknown, low: number, high: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;
}
