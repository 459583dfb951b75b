import { invisibleFault, surrogateFault } from '../../kernel/text.js';
import { fitsNameLimit, MAX_NAME_BYTES } from '../model/name-length.js';
import { invalidProblem, type Path, type Problem } from '../../kernel/problem.js';
import { isSystemCollection } from '../model/system-collections.js';

/** The system columns that every PostgreSQL table has. */
export const SYSTEM_COLUMNS: ReadonlySet<string> = new Set(['ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid']);

const ORDINARY = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;
const CONTROL = /\p{Cc}/u;

/** Returns why PostgreSQL could not store the identifier unchanged, or null. */
export function identifierFault(name: string): string | null {
  if (ORDINARY.test(name)) return null;
  if (name === '') return 'must not be empty';
  const broken = surrogateFault(name);
  if (broken !== null) return broken;
  if (CONTROL.test(name)) return 'must not contain control characters';
  if (name.trim() !== name) return 'must not start or end with a space';
  return fitsNameLimit(name) ? null : `must be at most ${MAX_NAME_BYTES} bytes in UTF-8: PostgreSQL would truncate it`;
}

/** Returns the problems of a collection or field name at `at`. */
export function checkName(kind: 'collection' | 'field', name: unknown, at: Path): Problem[] {
  if (typeof name !== 'string') return [invalidProblem(at, `${kind} must be the name of the ${kind}, as a string`)];
  const fault = identifierFault(name) ?? reservedNameFault(kind, name);
  return fault === null ? [] : [invalidProblem(at, `the name of a ${kind} ${fault}`)];
}

/** Checks a newly chosen name. Adopted names may contain format characters. */
export function checkNewName(kind: 'collection' | 'field', name: unknown, at: Path): Problem[] {
  const problems = checkName(kind, name, at);
  const fault = problems.length === 0 ? invisibleFault(name as string) : null;
  return fault === null ? problems : [invalidProblem(at, `the name of a ${kind} ${fault}`)];
}

function reservedNameFault(kind: 'collection' | 'field', name: string): string | null {
  // Clients resolve such names in a path before they send it: DELETE /fields/articles/.. becomes DELETE /fields.
  if (name === '.' || name === '..') return `must not be ${name}: clients cannot send it in a path`;
  if (kind === 'collection') {
    return isSystemCollection(name) ? 'is reserved for the service' : null;
  }
  return SYSTEM_COLUMNS.has(name) ? `must not be ${name}: it is a system column of PostgreSQL` : null;
}

/** Returns why a new name is not in the form that the service stores, or null. */
export function composedFault(name: string): string | null {
  const composeName = name.normalize('NFC');
  return composeName === name ? null : `must be in Unicode normalization form NFC: ${JSON.stringify(composeName)}`;
}

/** Returns `name` in normalization form NFC. Returns other values unchanged. */
export const toNfc = <T>(name: T): T | string => (typeof name === 'string' ? name.normalize('NFC') : name);

/** Members that contain data of users. Their values stay unchanged. */
const DATA: ReadonlySet<string> = new Set(['default_value', 'archive_value', 'unarchive_value']);

/**
 * Converts the new `names` to normalization form NFC wherever the document mentions them: in relations, groups,
 * templates and SQL. Returns the document itself if all names have that form.
 */
export function withComposedNames<T>(document: T, names: Iterable<unknown>): T {
  const others = new Map<string, string>();
  for (const name of names) {
    if (typeof name === 'string' && composedFault(name) !== null) others.set(name, name.normalize('NFC'));
  }
  return others.size === 0 ? document : (replaceNames(document, [...others]) as T);
}

function replaceNames(value: unknown, names: readonly (readonly [string, string])[]): unknown {
  if (typeof value === 'string') return names.reduce((text, [name, nfc]) => text.replaceAll(name, nfc), value);
  if (Array.isArray(value)) return value.map((item) => replaceNames(item, names));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [
    name,
    DATA.has(name) ? member : replaceNames(member, names),
  ]);
  return Object.fromEntries(entries);
}
