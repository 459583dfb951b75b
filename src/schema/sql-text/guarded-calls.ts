/** Checks functions that are harmless only with some arguments, which must be literals. */
import { type Node, integerOf, list, member, stringOf } from './expression.js';
import { GUARDED_FUNCTIONS, namesOf } from './chosen-functions.js';
import type { TextContext } from './text-context.js';
import { literalText } from './types.js';

const GUARDED: ReadonlySet<string> = new Set(namesOf(GUARDED_FUNCTIONS));

/** @param name without a schema, in lower case */
export const isGuarded = (name: string): boolean => GUARDED.has(name);

/** True if all of its arguments are checked here. */
export const isGuardedWhole = (name: string): boolean => name === 'nextval' || name === 'current_setting';

/** Returns why a call is rejected, or null. @param args parser nodes */
export function guardedCallFault(name: string, args: readonly unknown[], around: TextContext): string | null {
  if (name === 'nextval') return sequenceFault(args, around);
  if (name === 'current_setting') return settingFault(args);
  return lengthFault(name, args);
}

function sequenceFault(args: readonly unknown[], { sequences }: TextContext): string | null {
  const name = args.length === 1 ? literalText(withoutRegclass(args[0])) : undefined;
  const sequence = name === undefined ? undefined : identifier(name);
  if (sequence !== undefined && sequences.has(sequence)) return null;
  return `must not call nextval but with a literal that names a sequence of schema.extras.needs${name === undefined ? '' : `, which ${JSON.stringify(name)} is none of`}`;
}

function withoutRegclass(node: unknown): unknown {
  const cast = member(node, 'TypeCast');
  const parts = list(member(cast, 'typeName')?.['names']).map((part) => stringOf(part));
  const isOwn = parts.length === 1 || (parts.length === 2 && parts[0] === 'pg_catalog');
  return isOwn && parts.at(-1) === 'regclass' ? cast?.['arg'] : node;
}

/** Reads a name within a text like PostgreSQL: folded unless quoted. Undefined for no name or a qualified one. */
function identifier(text: string): string | undefined {
  const quoted = /^"((?:[^"]|"")*)"$/.exec(text);
  if (quoted !== null) return (quoted[1] ?? '').replaceAll('""', '"');
  return /^[\p{L}_][\p{L}\p{N}_$]*$/u.test(text) ? text.toLowerCase() : undefined;
}

function settingFault(args: readonly unknown[]): string | null {
  const name = literalText(args[0]);
  const isCustom = name !== undefined && /^[^.\s]+\.[^\s]+$/.test(name);
  if (args.length === 2 && isCustom && isTrue(args[1])) return null;
  return 'must not call current_setting but with the name of a custom setting (with a dot), as a literal, and true';
}

const isTrue = (node: unknown): boolean => member(member(node, 'A_Const'), 'boolval')?.['boolval'] === true;

const MAX_REPEATS = 10_000;

function lengthFault(name: string, args: readonly unknown[]): string | null {
  if (repeatsOf(args[1]) <= MAX_REPEATS) return null;
  return `must not call ${name} but with a length of at most 10,000 that is written out`;
}

/** Number of repetitions: a number, or the product of array lengths. Infinite unless literal. */
export function repeatsOf(node: unknown): number {
  const lengths = member(node, 'A_ArrayExpr');
  if (lengths === undefined) return numberOf(node) ?? Infinity;
  return list(lengths['elements']).reduce<number>((product, each) => product * repeatsOf(each), 1);
}

/** Undefined for anything but an integer literal. */
function numberOf(node: unknown): number | undefined {
  const constant: Node | undefined = member(node, 'A_Const');
  return constant === undefined ? undefined : integerOf(constant);
}
