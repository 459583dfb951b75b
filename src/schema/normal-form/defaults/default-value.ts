/** The normal form of `default_value` by column type. Normalising it again changes nothing. */
import { UUID } from '../../../kernel/uuid.js';
import type { ColumnSchema } from '../../model/model.js';
import { characterCount, Wrong } from '../checks.js';
import { jsonDefault } from './default-json.js';
import { decimalDefault, floatDefault, integerDefault } from './default-numbers.js';
import { dateDefault, dateTimeDefault, timeDefault, timestampDefault } from './default-times.js';
import type { ColumnType } from '../types/field-types.js';
import type { Json } from '../../../kernel/json.js';

/** `lenient`: accepts numbers and booleans as text, as other vendors write them. */
type DefaultReader = (value: unknown, column: ColumnType, lenient: boolean) => Json | Wrong;

const NOT_A_BOOLEAN = new Wrong('must be true or false');
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

const NOT_A_TEXT = new Wrong('must be a string');
const NOT_A_UUID = new Wrong('must be a uuid: 8-4-4-4-12 hexadecimal digits');
const NOT_BINARY = new Wrong('must be bytes in hexadecimal, as "\\\\x00ff"');
const NOT_CSV = new Wrong('must be a string, or an array of strings without commas');
const NONE_POSSIBLE = new Wrong('must be null: a geometry has no default');

const BYTES = /^\\x(?:[0-9a-f]{2})*$/i;

function text(value: unknown, { max_length }: ColumnType, lenient: boolean): string | Wrong {
  const asText = lenient && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value;
  if (typeof asText !== 'string') return NOT_A_TEXT;
  if (max_length === null || asText.length <= max_length) return asText;
  const characters = characterCount(asText);
  return characters <= max_length
    ? asText
    : new Wrong(`must be at most ${max_length} characters (it has ${characters})`);
}

function csv(value: unknown, column: ColumnType, lenient: boolean): string | Wrong {
  if (!Array.isArray(value))
    return typeof value === 'string' ? value : lenient ? text(value, column, lenient) : NOT_CSV;
  const fine = value.every((item) => typeof item === 'string' && !item.includes(','));
  return fine ? value.join(',') : NOT_CSV;
}

function lowerCase(shape: RegExp, wrong: Wrong): DefaultReader {
  return (value) => (typeof value === 'string' && shape.test(value) ? value.toLowerCase() : wrong);
}

const READERS: ReadonlyMap<string, DefaultReader> = new Map<string, DefaultReader>([
  ['string', text],
  ['text', text],
  ['hash', text],
  ['unknown', text],
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
  ['csv', csv],
  ['uuid', lowerCase(UUID, NOT_A_UUID)],
  ['binary', lowerCase(BYTES, NOT_BINARY)],
]);

const MOMENTS = ['now()', 'CURRENT_TIMESTAMP'];

/** Functions that a default may call, in normal spelling, by the type they are assignable to. */
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
  /** Accepts numbers and booleans as text. */
  lenient: boolean;
}

/** Normalises `value` as the default of such a column. Null means no default. */
export function readDefault(type: string, column: ColumnType, value: unknown, options: DefaultOptions): Json | Wrong {
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
