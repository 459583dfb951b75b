/** Compares JSON values. `normal-form/json.ts` limits the depth of input, so recursion is safe here. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

const has = Object.prototype.hasOwnProperty;

/** Compares two JSON values. The order of object members does not matter, the order of array elements does. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && arraysEqual(a, b);
  return !Array.isArray(b) && objectsEqual(a as Record<string, unknown>, b as Record<string, unknown>);
}

function arraysEqual(a: unknown[], b: unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let index = 0; index < a.length; index++) if (!jsonEqual(a[index], b[index])) return false;
  return true;
}

function objectsEqual(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  const members = Object.keys(a);
  if (members.length !== Object.keys(b).length) return false;
  for (const member of members) if (!has.call(b, member) || !jsonEqual(a[member], b[member])) return false;
  return true;
}

/**
 * True for a JSON object, false for null and arrays. For values outside JSON it is also true for dates, maps and the
 * like.
 */
export function isObject(value: unknown): value is { [member: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a deep copy that keeps own members of any name, including `__proto__`. */
export function copyJson<T>(value: T): T {
  return structuredClone(value);
}

/**
 * Returns the paths of members that `output` lacks because they are called `__proto__`. zod drops such members of
 * records and loose objects without an error, even if the record allows any name.
 */
export function findDroppedMembers(input: unknown, output: unknown): (string | number)[][] {
  if (input === output || !isContainer(input) || !isContainer(output)) return [];
  const dropped = has.call(input, DROPPED) && !has.call(output, DROPPED) ? [[DROPPED]] : [];
  const inner = Object.keys(input).flatMap((member) => {
    if (!has.call(output, member)) return [];
    const step = Array.isArray(input) ? Number(member) : member;
    return findDroppedMembers(input[member], output[member]).map((path) => [step, ...path]);
  });
  return [...dropped, ...inner];
}

const DROPPED = '__proto__';

/** The message about a member that `findDroppedMembers` returns. */
export const UNUSABLE_NAME = `a member cannot be named ${JSON.stringify(DROPPED)}`;

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
