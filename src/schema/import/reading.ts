/** A running import: what was read, and what was skipped. */
import { isObject } from '../../kernel/json.js';
import { invalid, MAX_PROBLEMS } from '../../kernel/problem.js';
import { SYSTEM_PREFIX, isSystemCollection } from '../model/system-collections.js';
import type { Import, Place } from './context.js';

/** Records skipped parts in order. @param code of a rule in `rules/imported.ts` */
export function warn({ warnings }: Import, code: string, place: Place, message: string): void {
  warnings.push({ code, ...place, message });
}

/** Warns once per member, however many documents contain it. */
export function warnOfMember(into: Import, part: string, member: string): void {
  const name = `${part}: ${member}`;
  if (into.namedMembers.has(name)) return;
  into.namedMembers.add(name);
  const where = part === '' ? 'the snapshot' : part;
  warn(into, 'MEMBER_LEFT_OUT', {}, `The member ${member} of ${where} is unknown to this service and was left out.`);
}

/** `a`.`b`, as in warnings. */
export function quotedPath(...names: string[]): string {
  return names.map((name) => JSON.stringify(name)).join('.');
}

/** Our system names are a fixed list. For other systems the prefix decides. */
export function isSystem(name: string, { prefix }: Import): boolean {
  return prefix === SYSTEM_PREFIX ? isSystemCollection(name) : name.startsWith(prefix);
}

/** Replaces the system prefix of the file by ours. */
export function ourName(name: string, into: Import): string {
  return isSystem(name, into) ? SYSTEM_PREFIX + name.slice(into.prefix.length) : name;
}

/** Yields the objects of a part with their locations. Other values are problems. */
export function* documentsOf(part: string, body: Record<string, unknown>, into: Import): Generator<Entry> {
  const list = body[part];
  if (!Array.isArray(list)) return;
  for (const [index, input] of list.entries()) {
    if (into.problems.length >= MAX_PROBLEMS) return;
    if (isObject(input)) yield { input, at: [part, index] };
    else into.problems.push(invalid([part, index], `an entry of ${part} is a JSON object`));
  }
}

export interface Entry {
  input: Record<string, unknown>;
  at: (string | number)[];
}

/** Reads a name that a document must have. */
export function requiredName(member: string, { input, at }: Entry, into: Import): string | undefined {
  const value = input[member];
  if (typeof value === 'string' && value !== '') return value;
  into.problems.push(invalid([...at, member], `${member} is required: a name, as a string`));
  return undefined;
}

/** True for any name if the snapshot has no collections part, because existing collections stay. */
export function hasCollection(name: string, { collections, instance, parts }: Import): boolean {
  return collections.has(name) || instance.exists(name) || !parts.has('collections');
}

/** True for any name if the snapshot has no fields part, because existing fields stay. */
export function hasField(collection: string, field: string, { fields, instance, parts }: Import): boolean {
  return fields.get(collection)?.has(field) === true || instance.exists(collection, field) || !parts.has('fields');
}
