/* A running import: what was read, and what was skipped. */
import { isObject } from '../../kernel/json.js';
import { invalidProblem, MAX_PROBLEMS, type Problem, type Warning } from '../../kernel/problem.js';
import { SYSTEM_PREFIX, isSystemCollection } from '../model/system-collections.js';
import type { Collection, Field, NewRelation, Relation, RelationMeta } from '../model/model.js';
import { InvalidValue, type Checks } from '../normal-form/checks.js';

/* The context of an import consists of the file that was read so far and the target instance. */

/** A collection in the form of this service, with only the members of the file. Absent members are unspecified. */
export interface CollectionDocument {
  collection: string;
  meta?: Record<string, unknown>;
  schema?: { comment?: unknown; extras?: unknown } | null;
}

export interface FieldDocument {
  collection: string;
  field: string;
  type?: string;
  meta?: Record<string, unknown>;
  schema?: Record<string, unknown> | null;
}

export type RelationDocument = Pick<NewRelation, 'many_collection' | 'many_field'> &
  Partial<RelationMeta> & { schema?: Record<string, unknown> | null };

export interface Import {
  readonly vendor: string | undefined;
  /** The prefix of system collections in the file. */
  readonly prefix: string;
  /** System collections (with the names of this service) that relations may reference. */
  readonly systemCollections: ReadonlySet<string>;
  readonly instance: Instance;
  readonly collections: Map<string, CollectionDocument>;
  /** Keyed by collection, then by field. */
  readonly fields: Map<string, Map<string, FieldDocument>>;
  /** Keyed by many collection and many field. */
  readonly relations: Map<string, RelationDocument>;
  /** The parts that the file contains. All other parts are unspecified. */
  readonly parts: ReadonlySet<string>;
  readonly warnings: Warning[];
  readonly problems: Problem[];
  /** Unknown members that a warning already named. */
  readonly namedMembers: Set<string>;
}

export type ImportLocation = { collection?: string; field?: string };

/** The target instance, which provides what the file omits. */
export interface Instance {
  /** True if an object that the file references but does not contain will exist. */
  exists(collection: string, field?: string): boolean;
  collectionOf(collection: string): Collection | undefined;
  columnOf(collection: string, field: string): Field | undefined;
  /** The fields of the primary key. */
  keyOf(collection: string): readonly Field[];
  relationOf(collection: string, field: string): Relation | undefined;
}

export const EMPTY_INSTANCE: Instance = {
  exists: () => false,
  collectionOf: () => undefined,
  columnOf: () => undefined,
  keyOf: () => [],
  relationOf: () => undefined,
};

/** Records skipped parts in order. @param code of a rule in `rules/imported.ts` */
export function warn({ warnings }: Import, code: string, location: ImportLocation, message: string): void {
  warnings.push({ code, ...location, message });
}

/** Warns once per member, however many documents contain it. */
export function warnOfMember(into: Import, part: string, member: string): void {
  const name = `${part}: ${member}`;
  if (into.namedMembers.has(name)) return;
  into.namedMembers.add(name);
  const where = part === '' ? 'the snapshot' : part;
  warn(into, 'MEMBER_LEFT_OUT', {}, `The member ${member} of ${where} was skipped: the service does not know it.`);
}

/** Formats names as in warnings: `a`.`b`. */
export function quotedPath(...names: string[]): string {
  return names.map((name) => JSON.stringify(name)).join('.');
}

/**
 * True if the name belongs to a system collection. The system collections of this service are a fixed list. For other
 * systems the prefix decides.
 */
export function isSystem(name: string, { prefix }: Import): boolean {
  return prefix === SYSTEM_PREFIX ? isSystemCollection(name) : name.startsWith(prefix);
}

/** Replaces the system prefix of the file by that of this service. */
export function toServiceName(name: string, into: Import): string {
  return isSystem(name, into) ? SYSTEM_PREFIX + name.slice(into.prefix.length) : name;
}

/** Yields the objects of a part with their locations. Adds a problem for every value that is not an object. */
export function* documentsOf(part: string, body: Record<string, unknown>, into: Import): Generator<Entry> {
  const list = body[part];
  if (!Array.isArray(list)) return;
  for (const [index, input] of list.entries()) {
    if (into.problems.length >= MAX_PROBLEMS) return;
    if (isObject(input)) yield { input, at: [part, index] };
    else into.problems.push(invalidProblem([part, index], `an entry of ${part} must be a JSON object`));
  }
}

interface Entry {
  input: Record<string, unknown>;
  at: (string | number)[];
}

/** Reads a name that a document must have. */
export function requiredName(member: string, { input, at }: Entry, into: Import): string | undefined {
  const value = input[member];
  if (typeof value === 'string' && value !== '') return value;
  into.problems.push(invalidProblem([...at, member], `${member} is required and must be a name, as a string`));
  return undefined;
}

/** True if the collection will exist. If the snapshot has no part `collections`, existing collections stay. */
export function hasCollection(name: string, { collections, instance, parts }: Import): boolean {
  return collections.has(name) || instance.exists(name) || !parts.has('collections');
}

/** True if the field will exist. If the snapshot has no part `fields`, existing fields stay. */
export function hasField(collection: string, field: string, { fields, instance, parts }: Import): boolean {
  return fields.get(collection)?.has(field) === true || instance.exists(collection, field) || !parts.has('fields');
}

/* Convert `meta` of other systems. Only known members with values that this service can store are kept. */

/** Members that repeat other data, or only concern the other instance. */
const REPEATED: ReadonlySet<string> = new Set(['id', 'collection', 'field', 'system']);

interface MetaInput {
  part: 'collections' | 'fields';
  checks: Checks;
  location: ImportLocation;
}

/** Undefined if the document has no `meta`. */
export function readMeta(
  input: unknown,
  { part, checks, location }: MetaInput,
  into: Import,
): Record<string, unknown> | undefined {
  if (!isObject(input)) return undefined;
  const meta: Record<string, unknown> = {};
  for (const name of Object.keys(input)) {
    if (REPEATED.has(name)) continue;
    const check = checks.get(name);
    if (check === undefined) {
      warnOfMember(into, part, `meta.${name}`);
      continue;
    }
    const value = check(input[name], true);
    if (value instanceof InvalidValue) warnOfValue(into, location, `meta.${name}`, value);
    else meta[name] = value;
  }
  return meta;
}

/** Adds the warning VALUE_LEFT_OUT for each document that has such a value. */
export function warnOfValue(into: Import, location: ImportLocation, member: string, { message }: InvalidValue): void {
  const owner = quotedPath(...[location.collection, location.field].filter((name) => name !== undefined));
  warn(into, 'VALUE_LEFT_OUT', location, `The value of ${member} of ${owner} was skipped: it ${message}.`);
}
