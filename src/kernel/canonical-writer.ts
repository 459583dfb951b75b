/** `canonicalJson` for many values of few shapes: a batch holds thousands of fields with the same members. */
import { canonicalJson } from './canonical.js';
import type { Resumable } from './resumable.js';

/** The members of one shape of object: as they come, and in canonical order. */
interface Shape {
  members: string[];
  sorted: string[];
}

/** Names that an object doesn't keep in the order they were given: indexes, and the one that isn't a member at all. */
const UNORDERED = /^(?:\d+|__proto__)$/;

/** Beyond it, the shapes are arbitrary data, and remembering them would cost more than it saves. */
const SHAPES_KEPT = 500;

class UnorderedError extends Error {}

/**
 * A function that gives the same text as `canonicalJson`. Measured on events of 7 KB it takes a fifth of the time: it
 * sorts the members of objects that look alike once, copies them in that order, and leaves the writing to the engine's
 * JSON.stringify. It remembers shapes, so it belongs to one batch or one reading of the log.
 */
export function createCanonicalWriter(): (value: unknown) => string {
  const shapes = new Map<string | undefined, Shape[]>();
  let kept = 0;

  const shapeOf = (object: object): Shape => {
    const members = Object.keys(object);
    const alike = shapes.get(members[0]);
    const known = alike?.find((shape) => sameMembers(shape.members, members));
    if (known !== undefined) return known;
    if (members.some((member) => UNORDERED.test(member))) throw new UnorderedError();
    // By UTF-16 code unit, as canonical JSON wants it.
    const shape = { members, sorted: [...members].sort((a, b) => (a < b ? -1 : 1)) };
    if (kept < SHAPES_KEPT) {
      kept += 1;
      if (alike === undefined) shapes.set(members[0], [shape]);
      else alike.push(shape);
    }
    return shape;
  };

  const sortedCopy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(sortedCopy);
    const object = value as Record<string, unknown>;
    const copy: Record<string, unknown> = {};
    for (const member of shapeOf(object).sorted) copy[member] = sortedCopy(object[member]);
    return copy;
  };

  return (value) => {
    try {
      return JSON.stringify(sortedCopy(value));
    } catch (error) {
      if (error instanceof UnorderedError) return canonicalJson(value);
      throw error;
    }
  };
}

/** Elements that are written as one text. */
const ELEMENTS = 50;

/**
 * What `write` says of an object, in pieces, a step for each: one member may be a list of thousands.
 * @param write gives canonical JSON
 */
export function* canonicalPieces(object: object, write: (value: unknown) => string): Resumable<string[]> {
  const members = Object.entries(object).filter(([, value]) => value !== undefined);
  if (!members.some(([, value]) => isLong(value))) return [write(object)];
  const pieces: string[] = [];
  let before = '{';
  // By UTF-16 code unit, as canonical JSON wants it.
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

function* pushElements(pieces: string[], all: unknown[], write: (value: unknown) => string): Resumable<void> {
  let before = '[';
  for (let start = 0; start < all.length; start += ELEMENTS) {
    // An array of its own, without its brackets.
    pieces.push(before + write(all.slice(start, start + ELEMENTS)).slice(1, -1));
    before = ',';
    yield;
  }
  pieces.push(']');
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((member, index) => member === b[index]);
}
