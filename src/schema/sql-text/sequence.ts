/* Reads the options of CREATE SEQUENCE. */
import type { SequenceOptions } from '../model/extras.js';
import { type SequenceType, everyOptionOf, sequenceFaults, unusualOptions } from '../model/sequence-options.js';
import { type Node, list, member, stringOf } from './expression.js';

const TYPES: ReadonlyMap<string, SequenceType> = new Map([
  ['int2', 'smallint'],
  ['int4', 'integer'],
  ['int8', 'bigint'],
]);

/** The members of the document, and the words of the statement, by the parser's names of numeric options. */
const NUMBERS = new Map([
  ['start', ['start', 'START'] as const],
  ['increment', ['increment', 'INCREMENT'] as const],
  ['minvalue', ['min', 'MINVALUE'] as const],
  ['maxvalue', ['max', 'MAXVALUE'] as const],
  ['cache', ['cache', 'CACHE'] as const],
]);

type Option = readonly [name: string, arg: unknown];

/** Returns the options that differ from PostgreSQL's defaults, or a sentence that follows "definition". */
export function readSequenceOptions(created: Node): SequenceOptions | string {
  if (created['if_not_exists'] === true) return 'must not contain IF NOT EXISTS';
  const options: SequenceOptions = {};
  const seen = new Set<string>();
  for (const each of list(created['options'])) {
    const option = member(each, 'DefElem');
    const name = String(option?.['defname']);
    if (seen.has(name)) return 'must contain each option only once';
    seen.add(name);
    const fault = readOption(options, [name, option?.['arg']]);
    if (fault !== null) return fault;
  }
  const [fault] = sequenceFaults(options, 'bigint');
  if (fault === undefined) return unusualOptions(everyOptionOf(options, 'bigint'), 'bigint');
  const [, words] = [...NUMBERS.values()].find(([name]) => name === fault[0]) ?? [];
  return `contains an invalid ${words ?? fault[0]}: it ${fault[1]}`;
}

/** Adds one option. Returns why it is not accepted, or null. */
function readOption(options: SequenceOptions, [name, arg]: Option): string | null {
  const number = NUMBERS.get(name);
  if (number !== undefined) {
    // NO MINVALUE and NO MAXVALUE have no value.
    if (arg === undefined) return null;
    const value = integerIn(arg);
    if (value === null) return `must have a 64-bit integer as ${number[1]}`;
    options[number[0]] = value;
    return null;
  }
  if (name === 'as') return readType(options, arg);
  if (name === 'cycle') {
    if (member(arg, 'Boolean')?.['boolval'] === true) options.cycle = true;
    return null;
  }
  if (name === 'owned_by')
    return isNone(arg) ? null : 'must not contain OWNED BY: a sequence of a column belongs to its table';
  return 'must contain only AS, START, INCREMENT, MINVALUE, MAXVALUE, CACHE and CYCLE';
}

function readType(options: SequenceOptions, arg: unknown): string | null {
  const type = member(arg, 'TypeName');
  const names = list(type?.['names']).map(stringOf);
  const isBuiltIn = names.length === 1 || (names.length === 2 && names[0] === 'pg_catalog');
  const known = isBuiltIn && type?.['arrayBounds'] === undefined ? TYPES.get(names.at(-1) ?? '') : undefined;
  if (known === undefined) return 'must have the type smallint, integer or bigint';
  options.type = known;
  return null;
}

const isNone = (arg: unknown): boolean => {
  const [only, ...others] = list(member(arg, 'List')?.['items']).map(stringOf);
  return only === 'none' && others.length === 0;
};

/** The parser returns numbers with more than 32 bits as text. Zero has no value. */
function integerIn(arg: unknown): string | null {
  const small = member(arg, 'Integer');
  if (small !== undefined) return typeof small['ival'] === 'number' ? String(small['ival']) : '0';
  const text = member(arg, 'Float')?.['fval'];
  if (typeof text !== 'string' || !/^-?\d{1,30}$/.test(text)) return null;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? String(value) : null;
}
