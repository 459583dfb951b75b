/** The normal form of `default_value` by column type. Normalising it again changes nothing. */
import { UUID } from '../../../kernel/text.js';
import type { ColumnSchema } from '../../model/model.js';
import { characterCount, InvalidValue } from '../checks.js';
import type { ColumnType } from '../types/field-types.js';
import type { Json } from '../../../kernel/json.js';
import { runToEnd } from '../../../kernel/resumable.js';
import { checkJson } from '../json.js';

/* Default values of numeric columns. Numbers that JSON cannot represent exactly are decimal strings. */

const INTEGER_RANGE: ReadonlyMap<string, readonly [bigint, bigint]> = new Map([
  ['smallint', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['integer', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['bigint', [-(2n ** 63n), 2n ** 63n - 1n]],
]);

const NOT_AN_INTEGER = new InvalidValue('must be an integer');
const NOT_A_NUMBER = new InvalidValue('must be a number');
const AS_STRING = new InvalidValue('has more digits than a JSON number can represent exactly: send it as a string');

/** True if JSON parsing may already have changed the number, which happens beyond 2^53. */
function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * Returns the default of an integer column. For smallint and integer it is a number. For bigint it is a number if that
 * is exact, otherwise a decimal string.
 */
function integerDefault(value: unknown, column: ColumnType): number | string | InvalidValue {
  if (isInexact(value)) return AS_STRING;
  if (typeof value === 'number' ? !Number.isInteger(value) : !isIntegerText(value)) return NOT_AN_INTEGER;
  const exact = BigInt(value as number | string);
  const [low, high] = INTEGER_RANGE.get(column.data_type) ?? [exact, exact];
  if (exact < low || exact > high) return new InvalidValue(`must be from ${low} to ${high} for ${column.data_type}`);
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact.toString();
}

function isIntegerText(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d{1,30}$/.test(value);
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,4})?$/i;
/**
 * Maximum number of digits, because a number without an exponent is written in full. PostgreSQL also limits numeric(p) to
 * 1,000 digits.
 */
const MAX_DIGITS = 1000;

/** Writes a number without an exponent or superfluous zeros. Null if the text is not a number. */
function plainDecimal(text: string): string | null {
  if (text.length > MAX_DIGITS || !DECIMAL.test(text)) return null;
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const { integer, rest } = shiftPoint(mantissa.replace(/^[+-]/, ''), Number(exponent));
  if (integer === '' && rest === '') return '0';
  const plain = (text.startsWith('-') ? '-' : '') + integer.padStart(1, '0') + (rest === '' ? '' : `.${rest}`);
  // A result with more digits could not be read again.
  return plain.length > MAX_DIGITS ? null : plain;
}

/**
 * Moves the decimal point `shift` digits to the right. Returns the digits before and after it, without superfluous
 * zeros.
 */
function shiftPoint(mantissa: string, shift: number): { integer: string; rest: string } {
  const [integerDigits = '', fraction = ''] = mantissa.split('.');
  const left = integerDigits.padStart(integerDigits.length - shift, '0');
  const right = fraction.padEnd(shift, '0');
  const point = left.length + shift;
  const digits = left + right;
  return { integer: digits.slice(0, point).replace(/^0+/, ''), rest: digits.slice(point).replace(/0+$/, '') };
}

/** Returns the default of a numeric column: a number if its text is equal, otherwise a decimal string. */
function decimalDefault(value: unknown, column: ColumnType): number | string | InvalidValue {
  if (isInexact(value)) return AS_STRING;
  const plain = typeof value === 'number' || typeof value === 'string' ? plainDecimal(String(value)) : null;
  if (plain === null) return NOT_A_NUMBER;
  const scale = column.numeric_scale ?? 0;
  const precision = column.numeric_precision;
  if (precision !== null && !fitsDecimal(plain, precision, scale)) {
    return new InvalidValue(
      `must fit numeric(${precision},${scale}): at most ${precision - scale} digits before the decimal point`,
    );
  }
  const number = Number(plain);
  return !isInexact(number) && plainDecimal(String(number)) === plain ? number : plain;
}

/** True if the value is in range after PostgreSQL rounds it to the scale. */
function fitsDecimal(plain: string, precision: number, scale: number): boolean {
  const [integerDigits = '', fraction = ''] = plain.replace('-', '').split('.');
  const room = precision - scale;
  const digits = integerDigits === '0' ? 0 : integerDigits.length;
  if (digits !== room) return digits < room;
  const kept = BigInt(`0${integerDigits}${fraction.slice(0, scale)}`);
  const rounded = fraction.slice(scale) >= '5' ? kept + 1n : kept;
  return rounded < 10n ** BigInt(precision);
}

/**
 * Returns the default of a real or double precision column. For real, it is the shortest number with the same 32-bit
 * value.
 */
function floatDefault(value: unknown, column: ColumnType): number | InvalidValue {
  const text = typeof value === 'string' ? plainDecimal(value) : null;
  const number = typeof value === 'number' ? value : Number(text ?? NaN);
  if (!Number.isFinite(number)) return NOT_A_NUMBER;
  if (column.data_type !== 'real') return number === 0 ? 0 : number;
  const single = Math.fround(number);
  const lost = !Number.isFinite(single) || (single === 0 && number !== 0);
  return lost ? new InvalidValue('must be in the range of real (about 1e-45 to 3.4e38)') : shortestNumber(single);
}

function shortestNumber(single: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(single.toPrecision(digits));
    if (Math.fround(candidate) === single) return candidate;
  }
  return Number(single.toPrecision(9));
}

/* Read default values of temporal columns, which must be valid ISO 8601 dates and times. */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ]([\d:.]+)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const NOT_A_DATE = new InvalidValue('must be an existing date, as YYYY-MM-DD');
const NOT_A_TIME = new InvalidValue('must be a time, as HH:MM:SS with at most 6 fractional digits');
const NOT_A_DATE_TIME = new InvalidValue(
  'must be an existing date and time, as YYYY-MM-DDTHH:MM:SS without a time zone',
);
const NOT_A_TIMESTAMP = new InvalidValue(
  'must be an existing date and time, as YYYY-MM-DDTHH:MM:SSZ (UTC, or with an offset)',
);

/** Reads `YYYY-MM-DD` in the years 1 to 9999. */
function dateDefault(value: unknown): string | InvalidValue {
  return typeof value === 'string' && isDate(value) ? value : NOT_A_DATE;
}

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const instant = utcDate(year, month, day);
  return year > 0 && instant.getUTCMonth() === month - 1 && instant.getUTCDate() === day;
}

/** Creates the date without Date.UTC, which reads the years 0 to 99 as 1900 to 1999. */
function utcDate(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

/** Reads `HH:MM:SS[.ffffff]`. */
function timeDefault(value: unknown): string | InvalidValue {
  const time = typeof value === 'string' ? normalTime(value) : null;
  return time ?? NOT_A_TIME;
}

function normalTime(text: string): string | null {
  const match = TIME.exec(text);
  if (match === null) return null;
  const [, hour = '', minute = '', second = '00', fraction = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const rest = fraction.replace(/0+$/, '');
  return `${hour}:${minute}:${second}${rest === '' ? '' : `.${rest}`}`;
}

interface Moment {
  date: string;
  time: string;
  zone: string | undefined;
}

function parseMoment(value: unknown): Moment | null {
  const match = typeof value === 'string' ? MOMENT.exec(value) : null;
  const [, date = '', clock = '00:00', zone] = match ?? [];
  const time = normalTime(clock);
  return isDate(date) && time !== null ? { date, time, zone } : null;
}

/** Reads `YYYY-MM-DDTHH:MM:SS[.ffffff]`. A zone is rejected, because PostgreSQL would drop it silently. */
function dateTimeDefault(value: unknown): string | InvalidValue {
  const moment = parseMoment(value);
  return moment === null || moment.zone !== undefined ? NOT_A_DATE_TIME : `${moment.date}T${moment.time}`;
}

/** Reads `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`. Without a zone, the time is in UTC. */
function timestampDefault(value: unknown): string | InvalidValue {
  const moment = parseMoment(value);
  if (moment === null) return NOT_A_TIMESTAMP;
  const offset = offsetMinutes(moment.zone ?? 'Z');
  if (offset === null) return NOT_A_TIMESTAMP;
  if (offset === 0) return `${moment.date}T${moment.time}Z`;
  const local = new Date(`${moment.date}T${moment.time.slice(0, 8)}Z`).getTime();
  const shifted = new Date(local - offset * 60_000);
  const year = shifted.getUTCFullYear();
  if (year < 1 || year > 9999) return NOT_A_TIMESTAMP;
  return `${shifted.toISOString().slice(0, 19)}${moment.time.slice(8)}Z`;
}

/** Returns an offset in minutes east of UTC. Null if it is invalid. PostgreSQL allows less than 16 hours. */
function offsetMinutes(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 15 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/* Read default values of json columns. Objects, arrays, numbers and booleans are stored directly. A string is JSON
   text, so a default that is a JSON string or null remains text: `"\"abc\""`, `"null"`. */

const NOT_JSON = new InvalidValue(
  'must be JSON: an object, an array, a number, a boolean, or a string that contains JSON text',
);
const LOSES_DIGITS = new InvalidValue('contains a number with more digits than JSON parsers can represent exactly');

/** Returns the value in normal form, or its fault. JSON text of an object or array is parsed. */
function jsonDefault(value: unknown): Json | InvalidValue {
  if (typeof value !== 'string') return value === undefined ? NOT_JSON : (value as Json);
  let parsed: Json;
  try {
    parsed = JSON.parse(value) as Json;
  } catch {
    return NOT_JSON;
  }
  if (losesDigits(value)) return LOSES_DIGITS;
  const [problem] = runToEnd(checkJson(parsed)).problems;
  if (problem !== undefined) return new InvalidValue(`is not valid: in its JSON text, ${problem.message}`);
  return typeof parsed === 'string' || parsed === null ? JSON.stringify(parsed) : parsed;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

function losesDigits(text: string): boolean {
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) continue;
    const plain = plainDecimal(token);
    if (plain === null || plainDecimal(String(Number(token))) !== plain) return true;
  }
  return false;
}

/** Converts a default to normal form. `lenient` accepts numbers and booleans as text, as other vendors write them. */
type DefaultReader = (value: unknown, column: ColumnType, lenient: boolean) => Json | InvalidValue;

const NOT_A_BOOLEAN = new InvalidValue('must be true or false');
const BOOLEANS = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [1, true],
  ['1', true],
  [false, false],
  ['false', false],
  [0, false],
  ['0', false],
]);

const NOT_A_TEXT = new InvalidValue('must be a string');
const NOT_A_UUID = new InvalidValue('must be a uuid: 8-4-4-4-12 hexadecimal digits');
const NOT_BINARY = new InvalidValue('must be bytes in hexadecimal, as "\\\\x00ff"');
const NOT_CSV = new InvalidValue('must be a string, or an array of strings without commas');
const NONE_POSSIBLE = new InvalidValue('must be null: a geometry has no default');

const BYTES = /^\\x(?:[0-9a-f]{2})*$/i;

function textDefault(value: unknown, { max_length }: ColumnType, lenient: boolean): string | InvalidValue {
  const asText = lenient && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value;
  if (typeof asText !== 'string') return NOT_A_TEXT;
  if (max_length === null || asText.length <= max_length) return asText;
  const characters = characterCount(asText);
  return characters <= max_length
    ? asText
    : new InvalidValue(`must be at most ${max_length} characters (it has ${characters})`);
}

function csvDefault(value: unknown, column: ColumnType, lenient: boolean): string | InvalidValue {
  if (!Array.isArray(value))
    return typeof value === 'string' ? value : lenient ? textDefault(value, column, lenient) : NOT_CSV;
  const fine = value.every((item) => typeof item === 'string' && !item.includes(','));
  return fine ? value.join(',') : NOT_CSV;
}

function lowerCase(shape: RegExp, wrong: InvalidValue): DefaultReader {
  return (value) => (typeof value === 'string' && shape.test(value) ? value.toLowerCase() : wrong);
}

const READERS: ReadonlyMap<string, DefaultReader> = new Map<string, DefaultReader>([
  ['string', textDefault],
  ['text', textDefault],
  ['hash', textDefault],
  ['unknown', textDefault],
  ['boolean', (value) => BOOLEANS.get(value) ?? NOT_A_BOOLEAN],
  ['integer', integerDefault],
  ['bigInteger', integerDefault],
  ['float', floatDefault],
  ['decimal', decimalDefault],
  ['date', dateDefault],
  ['time', timeDefault],
  ['dateTime', dateTimeDefault],
  ['timestamp', timestampDefault],
  ['json', jsonDefault],
  ['csv', csvDefault],
  ['uuid', lowerCase(UUID, NOT_A_UUID)],
  ['binary', lowerCase(BYTES, NOT_BINARY)],
]);

const MOMENTS = ['now()', 'CURRENT_TIMESTAMP'];

/** The functions that a default may call, by field type. Each call in lower case maps to its normal spelling. */
const FUNCTIONS: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map(
  Object.entries({
    timestamp: MOMENTS,
    dateTime: MOMENTS,
    date: [...MOMENTS, 'CURRENT_DATE'],
    time: [...MOMENTS, 'CURRENT_TIME'],
    uuid: ['gen_random_uuid()'],
  }).map(([type, names]) => [type, new Map(names.map((name) => [name.toLowerCase(), name]))]),
);

function functionName(type: string, value: unknown): string | undefined {
  return typeof value === 'string' ? FUNCTIONS.get(type)?.get(value.trim().toLowerCase()) : undefined;
}

export interface DefaultOptions {
  /** True to accept numbers and booleans as text. */
  lenient: boolean;
}

/** Normalises `value` as the default of such a column. Null means no default. */
export function readDefault(
  type: string,
  column: ColumnType,
  value: unknown,
  options: DefaultOptions,
): Json | InvalidValue {
  if (value === null) return null;
  const called = functionName(type, value);
  if (called !== undefined) return called;
  const reader = READERS.get(type);
  return reader === undefined ? NONE_POSSIBLE : reader(value, column, options.lenient);
}

/** True if the default is a call of a supported function, not a literal. */
export function isFunctionDefault(type: string, schema: Pick<ColumnSchema, 'default_value'>): boolean {
  return functionName(type, schema.default_value) !== undefined;
}
