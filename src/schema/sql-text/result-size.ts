/* Estimates the size of an expression's value, because nested calls such as `replace(replace(…))` can produce
   gigabytes from a few characters. The estimate is not an upper bound: every column counts as typical text. */
import { type Node, integerOf, list, member, onlyElement, stringOf, type TextContext } from './expression.js';
import {
  GUARDED_FUNCTIONS,
  namesOf,
  OWN_NAMES,
  SEARCH_CONFIGURATIONS,
  extensionsWith,
  SEARCH_CONFIGURATION_TYPE,
} from './allowed-names.js';
import { locationKey } from '../model/state.js';

/* Decides which types SQL from outside may cast to. */

export interface TypeUse {
  /** The types that the table needs, by `locationKey`. */
  needed: ReadonlySet<string>;
  /** The types of the table's columns, as written. */
  ofColumns: ReadonlySet<string>;
  ofExtension: (name: string) => boolean;
}

/** Allows only PostgreSQL types itself. */
export const OWN_TYPES: TypeUse = { needed: new Set(), ofColumns: new Set(), ofExtension: () => false };

/** Returns why SQL may not cast to the type, or null. */
export function typeFault(type: Node | undefined, use: TypeUse): string | null {
  if (type?.['pct_type'] !== undefined || type?.['setof'] !== undefined)
    return 'must not use %TYPE or SETOF in a cast: write the name of the type';
  const parts = partsOf(type);
  const name = parts.join('.');
  if (isOwn(parts) && OWN_NAMES.types.has(parts.at(-1) ?? '')) return null;
  if (use.ofColumns.has(name) || isProvided(parts, use)) return null;
  const what = `must not cast to ${JSON.stringify(name)}`;
  const from = providerOf(name);
  return `${what}: it must be a built-in PostgreSQL type (docs/functions.md), or schema.extras.needs must name the ${from}`;
}

const isProvided = ([name = '', ...more]: readonly string[], { needed, ofExtension }: TypeUse): boolean =>
  more.length === 0
    ? needed.has(name) || ofExtension(name)
    : more.length === 1 && needed.has(locationKey(name, more[0] ?? ''));

const partsOf = (type: Node | undefined): string[] => list(type?.['names']).map((part) => stringOf(part) ?? '');

const isOwn = (parts: readonly string[]): boolean =>
  parts.length === 1 || (parts.length === 2 && parts[0] === 'pg_catalog');

function providerOf(name: string): string {
  const bringers = extensionsWith('types', name).map((each) => JSON.stringify(each));
  return bringers.length === 0 ? 'type' : `extension ${bringers.join(' or ')}`;
}

/** True for `'english'::regconfig`. PostgreSQL adds this cast to every index over to_tsvector('english', …). */
export function isConfiguration(cast: Node): boolean {
  const parts = partsOf(member(cast, 'typeName'));
  if (parts.at(-1) !== SEARCH_CONFIGURATION_TYPE || !isOwn(parts)) return false;
  const name = literalText(cast['arg']);
  return name !== undefined && SEARCH_CONFIGURATIONS.has(name.replace(/^pg_catalog\./, ''));
}

/** Returns the text of a value. The parser omits empty texts. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Returns the text of a literal, possibly under casts to text. Undefined for anything else. */
function literalText(node: unknown): string | undefined {
  let inner = node;
  for (let cast = member(inner, 'TypeCast'); cast !== undefined; cast = member(inner, 'TypeCast')) {
    if (!isText(member(cast, 'typeName'))) return undefined;
    inner = cast['arg'];
  }
  const value = member(member(inner, 'A_Const'), 'sval');
  return value === undefined ? undefined : textOf(value['sval']);
}

function isText(type: Node | undefined): boolean {
  const parts = partsOf(type);
  return isOwn(parts) && parts.at(-1) === 'text' && type?.['arrayBounds'] === undefined;
}

/* Check functions that are harmless only with some arguments. These arguments must be literals. */

const GUARDED: ReadonlySet<string> = new Set(namesOf(GUARDED_FUNCTIONS));

/** @param name without a schema, in lower case */
export const isGuarded = (name: string): boolean => GUARDED.has(name);

/** True if the functions below check all arguments of the call. */
export const isGuardedWhole = (name: string): boolean => name === 'nextval' || name === 'current_setting';

/** Returns why a call is rejected, or null. @param args parser nodes */
export function guardedCallFault(name: string, args: readonly unknown[], around: TextContext): string | null {
  if (name === 'nextval') return sequenceFault(args, around);
  if (name === 'current_setting') return settingFault(args);
  return lengthFault(name, args);
}

function sequenceFault(args: readonly unknown[], { sequences }: TextContext): string | null {
  const name = args.length === 1 ? literalText(withoutRegclass(args[0])) : undefined;
  const sequence = name === undefined ? undefined : readNameKey(name);
  if (sequence !== undefined && sequences.has(sequence)) return null;
  return `must not call nextval except with a literal that names a sequence of schema.extras.needs${name === undefined ? '' : `, and ${JSON.stringify(name)} is not one`}`;
}

/** Returns the argument of `nextval` without its cast to regclass. */
export function withoutRegclass(node: unknown): unknown {
  const cast = member(node, 'TypeCast');
  const parts = list(member(cast, 'typeName')?.['names']).map((part) => stringOf(part));
  const isOwn = parts.length === 1 || (parts.length === 2 && parts[0] === 'pg_catalog');
  return isOwn && parts.at(-1) === 'regclass' ? cast?.['arg'] : node;
}

const IDENTIFIER = String.raw`"(?:[^"]|"")*"|[\p{L}_][\p{L}\p{N}_$]*`;
const QUALIFIED = new RegExp(`^(?:(${IDENTIFIER})\\.)?(${IDENTIFIER})$`, 'u');

/**
 * Reads a name within SQL like PostgreSQL, which folds unquoted names to lower case. Returns its `locationKey`.
 * Undefined if the string is not a name.
 */
export function readNameKey(text: string): string | undefined {
  const [, schema, name] = QUALIFIED.exec(text) ?? [];
  return name === undefined
    ? undefined
    : locationKey(schema === undefined ? undefined : unquoted(schema), unquoted(name));
}

const unquoted = (name: string): string =>
  name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase();

function settingFault(args: readonly unknown[]): string | null {
  const name = literalText(args[0]);
  const isCustom = name !== undefined && /^[^.\s]+\.[^\s]+$/.test(name);
  if (args.length === 2 && isCustom && isTrue(args[1])) return null;
  return 'must not call current_setting except with the name of a custom setting (with a dot) as a literal, and true';
}

const isTrue = (node: unknown): boolean => member(member(node, 'A_Const'), 'boolval')?.['boolval'] === true;

const MAX_REPEATS = 10_000;

function lengthFault(name: string, args: readonly unknown[]): string | null {
  if (repeatsOf(args[1]) <= MAX_REPEATS) return null;
  return `must not call ${name} except with a literal length of at most 10,000`;
}

/**
 * Returns the number of repetitions: a number, or the product of array lengths. Infinite if the argument is not a
 * literal.
 */
function repeatsOf(node: unknown): number {
  const lengths = member(node, 'A_ArrayExpr');
  if (lengths === undefined) return numberOf(node) ?? Infinity;
  return list(lengths['elements']).reduce<number>((product, each) => product * repeatsOf(each), 1);
}

/** Undefined if the node is not an integer literal. */
function numberOf(node: unknown): number | undefined {
  const constant: Node | undefined = member(node, 'A_Const');
  return constant === undefined ? undefined : integerOf(constant);
}

/**
 * Estimates the number of items that a JSON path can find. `$.**.**` visits all values below all values, and
 * `$[0,0][0,0]` doubles its input with each step. PostgreSQL collects the results in memory.
 */

/** Describes how a path multiplies the size of its input. The result can be `size ** depth * lists` times as large. */
interface PathGrowth {
  depth: number;
  lists: number;
}

/** Overestimates the growth, because it also counts text and regular expressions within the path. */
export function jsonPathGrowth(path: string): PathGrowth {
  const everything = path.match(/\*\*/g)?.length ?? 0;
  // A filter evaluates its wildcards for each item.
  const filtered = path.includes('?') ? (path.replaceAll('**', '').match(/\*/g)?.length ?? 0) : 0;
  const lists = [...path.matchAll(/\[([^\]]*)\]/g)].map(([, items = '']) => items.split(',').length);
  return { depth: Math.max(1, everything + filtered), lists: lists.reduce((product, each) => product * each, 1) };
}

/** The maximum size in bytes. PostgreSQL allows up to a gigabyte, and holds several copies during evaluation. */
export const MAX_SIZE = 128 * 1024 * 1024;

const COLUMN = 1_000;
const NUMBER = 20;

/**
 * Functions whose value is no longer than their arguments. All other functions may double the length, for example by
 * quoting or encoding.
 */
const NOT_LONGER: ReadonlySet<string> = new Set(
  `btrim ltrim rtrim lower upper initcap substr substring left right split_part reverse date_trunc date_part extract
   round floor ceil abs length char_length octet_length cardinality coalesce nullif md5 timezone jsonb_typeof
   to_tsvector setweight translate concat concat_ws starts_with strpos position`.split(/\s+/),
);

/** Returns the estimated size in bytes. The caller must have checked the depth of the tree. */
export function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return sum(value);
  const node = value as Node;
  const call = member(node, 'FuncCall');
  if (call !== undefined) return sizeOfCall(call);
  const cast = member(node, 'TypeCast');
  if (cast !== undefined) return sizeOf(cast['arg']) + paddingOf(cast);
  const requested = pathOperationOf(node);
  if (requested !== undefined) return sizeByPath(requested['lexpr'], requested['rexpr']);
  if (member(node, 'ColumnRef') !== undefined) return COLUMN;
  const constant = member(node, 'A_Const');
  if (constant !== undefined) return sizeOfConstant(constant);
  return sum(Object.values(node));
}

/** Operators with a JSON path. `@@` also compares texts with search queries, whose literals add nothing here. */
const PATH_OPERATORS: ReadonlySet<string> = new Set(['@?', '@@']);

function pathOperationOf(node: Node): Node | undefined {
  const operation = member(node, 'A_Expr');
  return PATH_OPERATORS.has(stringOf(onlyElement(operation?.['name'])) ?? '') ? operation : undefined;
}

const PATH_FUNCTION = /^jsonb_path_/;

/**
 * Returns the size of the results of a JSON path. Infinite if a cast creates the path from a value that is not a
 * literal.
 */
function sizeByPath(value: unknown, path: unknown): number {
  let [inner, isCast] = [path, false];
  for (let cast = member(inner, 'TypeCast'); cast !== undefined; cast = member(inner, 'TypeCast')) {
    [inner, isCast] = [cast['arg'], true];
  }
  const literal = member(member(inner, 'A_Const'), 'sval');
  if (literal === undefined) return isCast ? Infinity : sizeOf(value) + sizeOf(path);
  const { depth, lists } = jsonPathGrowth(textOf(literal['sval']));
  return Math.max(1, sizeOf(value)) ** depth * lists;
}

const sum = (values: readonly unknown[]): number => values.reduce<number>((total, each) => total + sizeOf(each), 0);

function sizeOfConstant(constant: Node): number {
  const [text, bits] = [member(constant, 'sval'), member(constant, 'bsval')];
  if (text === undefined && bits === undefined) return NUMBER;
  return textOf(text?.['sval']).length + textOf(bits?.['bsval']).length;
}

/** Returns the length to which a cast pads its value: `'x'::character(10485760)` has ten megabytes. */
function paddingOf(cast: Node): number {
  const typmods = list(member(cast, 'typeName')?.['typmods']);
  return typmods.reduce<number>((total, each) => total + Math.max(0, integerOf(member(each, 'A_Const')) ?? 0), 0);
}

/** Returns the size of a function that pads its value to a length. Its arguments are `(text, length, …)`. */
const filled = ([, length]: readonly unknown[]): number => (length === undefined ? 0 : Math.max(0, repeatsOf(length)));

/** The number of bytes that each function adds to its arguments. */
const SIZES: ReadonlyMap<string, (args: readonly unknown[]) => number> = new Map([
  ['bit', filled],
  ['bpchar', filled],
  ['varbit', filled],
  // The first argument is the number of points, 16 bytes each.
  ['polygon', ([count, circle]: readonly unknown[]) => (circle === undefined ? 0 : 16 * Math.max(0, repeatsOf(count)))],
]);

function sizeOfCall(call: Node): number {
  const args = list(call['args']);
  const name = stringOf(list(call['funcname']).at(-1)) ?? '';
  const [first, second, third] = args;
  if (PATH_FUNCTION.test(name)) return sizeByPath(first, second);
  switch (name) {
    case 'repeat':
    case 'array_fill':
      return sizeOf(first) * Math.max(1, repeatsOf(second));
    case 'lpad':
    case 'rpad':
      return sum(args) + Math.max(1, repeatsOf(second));
    // Each character of the first argument can become the last argument.
    case 'replace':
    case 'regexp_replace':
      return sizeOf(first) * Math.max(1, sizeOf(third)) + sizeOf(second);
    default:
      return sum(args) * (NOT_LONGER.has(name) ? 1 : 2) + addedBy(name, args);
  }
}

const addedBy = (name: string, args: readonly unknown[]): number => SIZES.get(name)?.(args) ?? 0;
