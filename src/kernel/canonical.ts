import type { Resumable } from './resumable.js';

/** Canonical JSON after RFC 8785: equal values have the same text, in any order of members. */

/**
 * Sorts members by UTF-16 code unit and writes no white space. Numbers and strings follow ECMAScript, as RFC 8785
 * requires. Omits members whose value is undefined, as JSON.stringify does.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) {
    let text = '[';
    for (let index = 0; index < value.length; index++) text += (index === 0 ? '' : ',') + canonicalJson(value[index]);
    return text + ']';
  }
  return canonicalObject(value as Record<string, unknown>);
}

function canonicalObject(object: Record<string, unknown>): string {
  const members = Object.keys(object).sort();
  let text = '{';
  for (const member of members) {
    const value = object[member];
    if (value === undefined) continue;
    if (text !== '{') text += ',';
    text += nameText(member);
    text += typeof value === 'object' && value !== null ? canonicalJson(value) : JSON.stringify(value);
  }
  return `${text}}`;
}

/** Returns `"member":`. Documents repeat few names, so the strings are cached. */
function nameText(member: string): string {
  return PLAIN.test(member) ? `"${member}":` : `${JSON.stringify(member)}:`;
}

const PLAIN = /^\w+$/;

/* `canonicalJson` for many values with few shapes: a batch contains thousands of fields with the same members. */

/** The members of an object in the order of the object, and in canonical order. */
interface Shape {
  members: string[];
  sorted: string[];
}

/**
 * Matches members that an object cannot keep in canonical order. Objects do not keep the insertion order of index
 * names, and `__proto__` is not an ordinary member.
 */
const UNORDERED = /^(?:\d+|__proto__)$/;

/**
 * Maximum number of remembered shapes. With more shapes the data is arbitrary, and remembering them would cost more
 * than it saves.
 */
const SHAPES_KEPT = 500;

class UnorderedError extends Error {}

/**
 * Returns a function that writes the same text as `canonicalJson` in a fifth of the time (measured on events of 7 KB).
 * It sorts the members of each shape once and leaves the writing to JSON.stringify. It remembers shapes, so use one
 * writer per batch or per pass over the log.
 */
export function createCanonicalWriter(): (value: unknown) => string {
  const shapes = new Map<string | undefined, Shape[]>();
  let kept = 0;

  const shapeOf = (object: object): Shape => {
    const members = Object.keys(object);
    const alike = shapes.get(members[0]);
    const existing = alike?.find((shape) => hasSameMembers(shape.members, members));
    if (existing !== undefined) return existing;
    if (members.some((member) => UNORDERED.test(member))) throw new UnorderedError();
    // Canonical JSON orders members by UTF-16 code unit.
    const shape = { members, sorted: [...members].sort((a, b) => (a < b ? -1 : 1)) };
    if (kept < SHAPES_KEPT) {
      kept += 1;
      if (alike === undefined) shapes.set(members[0], [shape]);
      else alike.push(shape);
    }
    return shape;
  };

  const copySorted = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(copySorted);
    const object = value as Record<string, unknown>;
    const copy: Record<string, unknown> = {};
    for (const member of shapeOf(object).sorted) copy[member] = copySorted(object[member]);
    return copy;
  };

  return (value) => {
    try {
      return JSON.stringify(copySorted(value));
    } catch (error) {
      if (error instanceof UnorderedError) return canonicalJson(value);
      throw error;
    }
  };
}

/** Array elements that are written as one text. */
const ELEMENTS = 50;

/**
 * Writes an object in pieces, one step per piece, because one member may be a list of thousands.
 * @param write returns canonical JSON
 */
export function* canonicalPieces(object: object, write: (value: unknown) => string): Resumable<string[]> {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  if (!members.some(([, value]) => isLong(value))) return [write(object)];
  const pieces: string[] = [];
  let before = '{';
  // Canonical JSON orders members by UTF-16 code unit.
  for (const [name, value] of members.sort(([a], [b]) => (a < b ? -1 : 1))) {
    pieces.push(`${before}${JSON.stringify(name)}:`);
    before = ',';
    if (!isLong(value)) pieces.push(write(value));
    else yield* pushElements(pieces, value, write);
  }
  pieces.push('}');
  return pieces;
}

const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > ELEMENTS;

function* pushElements(pieces: string[], elements: unknown[], write: (value: unknown) => string): Resumable<void> {
  let before = '[';
  for (let start = 0; start < elements.length; start += ELEMENTS) {
    // Writes the slice as an array and removes its brackets.
    pieces.push(before + write(elements.slice(start, start + ELEMENTS)).slice(1, -1));
    before = ',';
    yield;
  }
  pieces.push(']');
}

function hasSameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}

/** Writes a large value as JSON text token by token. JSON.stringify of 30 MiB blocks the event loop for 0.1 s. */

/** Levels that are split into tokens. Deeper values are written as one token. */
const LEVELS = 3;

type Tokens = Generator<string, void, void>;

/** Yields tokens that, when joined, equal the output of `JSON.stringify`. */
export function* jsonTokens(value: unknown, levels = LEVELS): Tokens {
  if (levels === 0 || typeof value !== 'object' || value === null) yield JSON.stringify(value) ?? 'null';
  else if (Array.isArray(value)) yield* tokensOfArray(value, levels);
  else yield* tokensOfObject(value, levels);
}

function* tokensOfArray(elements: unknown[], levels: number): Tokens {
  yield '[';
  for (const [index, element] of elements.entries()) {
    if (index > 0) yield ',';
    yield* jsonTokens(element, levels - 1);
  }
  yield ']';
}

function* tokensOfObject(object: object, levels: number): Tokens {
  let before = '{';
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonTokens(member, levels - 1);
    before = ',';
  }
  yield before === '{' ? '{}' : '}';
}
