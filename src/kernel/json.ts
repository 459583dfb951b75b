/** Comparing JSON values. Depth is bounded at the edge (`normal-form/json.ts`), so recursion here is safe. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

const has = Object.prototype.hasOwnProperty;

/** Whether two JSON values are equal; the order of an object's members doesn't matter, an array's does. */
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
 * Whether a value of JSON is an object: neither null nor an array. Of other values it is true for dates, maps and the
 * like.
 */
export function isObject(value: unknown): value is { [member: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A deep copy that keeps own members of any name, `__proto__` too. */
export function copyJson<T>(value: T): T {
  return structuredClone(value);
}
