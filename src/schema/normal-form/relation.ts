/* Reads new relations and changes to existing ones. */
import { isObject, jsonEqual } from '../../kernel/json.js';
import {
  type ForeignKey,
  type NewRelation,
  type Relation,
  type RelationMeta,
  RELATION_MEMBERS,
  RELATION_META_DEFAULTS,
  DEFERRABLES,
  FOREIGN_KEY_DEFAULTS,
  foreignKey,
  relationMembers,
} from '../model/model.js';
import { stepsIn, type DocumentLocation } from '../../kernel/locate.js';
import { invalidProblem, ok, type Path, refuse, type Result } from '../../kernel/problem.js';
import {
  addFault,
  type Reading,
  overlayMembers,
  checksOf,
  InvalidValue,
  mustEqual,
  type CheckUnknownMember,
} from './checks.js';
import { type ReadOptions, startReading } from './options.js';
import { foreignKeyName } from '../model/name-length.js';
import { identifierFault } from './names.js';

/* Convert between the two forms of a relation. The flat form is that of this service. The nested form has
   `collection`, `field`, `related_collection` and `meta`. */

interface FlatRelation {
  /** The submitted members in the flat form, unchecked. */
  members: Record<string, unknown>;
  /** The submitted foreign key. Undefined if absent. */
  schema: unknown;
}

const FLAT: ReadonlySet<string> = new Set(RELATION_MEMBERS);

/** Maps members of the nested form to members of the flat form. */
export const NESTED = new Map([
  ['collection', 'many_collection'],
  ['field', 'many_field'],
  ['related_collection', 'one_collection'],
] as const) as ReadonlyMap<string, (typeof RELATION_MEMBERS)[number]>;

/**
 * Converts a relation to the flat form. Duplicate members must match, unknown ones are problems (unless imported), and
 * ids are ignored. A client may read a relation and edit only one of the forms. Of two different values, the one that
 * equals the existing value is therefore ignored.
 */
function flattenRelation(
  input: Record<string, unknown>,
  reading: Reading,
  existing?: Readonly<Record<string, unknown>>,
): FlatRelation {
  const into: RelationMembers = { members: {}, reading, existing };
  const { members } = into;
  const { meta, schema, ...top } = input;
  gatherMembers(top, NESTED, [], into);
  if (isObject(meta)) gatherMembers(meta, NO_OTHER_NAMES, ['meta'], into);
  else if (meta !== undefined && meta !== null) addFault(reading, ['meta'], 'must be an object or null');
  return { members, schema };
}

const NO_OTHER_NAMES: ReadonlyMap<string, string> = new Map();

interface RelationMembers {
  members: Record<string, unknown>;
  reading: Reading;
  /** The existing relation in the flat form. Undefined for a new one. */
  existing: Readonly<Record<string, unknown>> | undefined;
}

function gatherMembers(
  from: Record<string, unknown>,
  names: ReadonlyMap<string, string>,
  part: string[],
  gathered: RelationMembers,
): void {
  for (const name of Object.keys(from)) {
    const member = names.get(name) ?? (FLAT.has(name) ? name : undefined);
    const value = from[name];
    if (name === 'id' || value === undefined) continue;
    if (member !== undefined) putMember(member, value, [...part, name], gathered);
    else if (!gathered.reading.imported) addFault(gathered.reading, [...part, name], 'is not a known member');
  }
}

function putMember(
  member: string,
  value: unknown,
  steps: string[],
  { members, reading, existing }: RelationMembers,
): void {
  const other = members[member];
  if (other === undefined || equalsExisting(existing, member, other)) members[member] = value;
  else if (!jsonEqual(other, value) && !equalsExisting(existing, member, value)) {
    addFault(reading, steps, `must have the same value as the other location of ${member}`);
  }
}

const equalsExisting = (existing: RelationMembers['existing'], member: string, value: unknown): boolean =>
  existing !== undefined && jsonEqual(existing[member], value);

/**
 * Returns the collection and field of the many side, from a body in either form. Undefined where a member is missing.
 */
export function relationEnds(input: Record<string, unknown>): [collection: unknown, field: unknown] {
  const meta = isObject(input['meta']) ? input['meta'] : {};
  return [
    input['many_collection'] ?? input['collection'] ?? meta['many_collection'],
    input['many_field'] ?? input['field'] ?? meta['many_field'],
  ];
}

/** Returns the location of a flat member in the submitted body, or its expected location. */
export function relationSteps(steps: Path, input: Record<string, unknown>): Path {
  const [member, ...rest] = steps;
  return typeof member === 'string' && FLAT.has(member) ? [...placeOf(member, input), ...rest] : steps;
}

/** Returns the location of a flat member. A missing member gets the location that it would have. */
function placeOf(member: string, input: Record<string, unknown>): string[] {
  const other = [...NESTED].find(([, flat]) => flat === member)?.[0];
  if (other !== undefined && input[other] !== undefined) return [other];
  if (input[member] !== undefined) return [member];
  const meta = input['meta'];
  if (isObject(meta) && meta[member] !== undefined) return ['meta', member];
  // A missing member gets the location that it would have in the form of the body.
  const isNested = [...NESTED.keys(), 'meta'].some((name) => input[name] !== undefined);
  if (!isNested || Object.keys(input).some((name) => FLAT.has(name))) return [member];
  return other === undefined ? ['meta', member] : [other];
}

/** Returns the location of a relation in either form. */
export function relationLocation(at: Path, body: unknown): DocumentLocation {
  return { at, stepsTo: (member) => (isObject(body) ? stepsIn(body, relationSteps(member, body)) : []) };
}

/* Reads the `schema` of a relation: its foreign key. */

type ForeignKeyEnds = Omit<NewRelation, 'schema'>;

/**
 * `was` is the collection that the relation referenced before. A change may still contain the derived members of that
 * collection.
 */
type KeyedEnds = ForeignKeyEnds & { was?: string | null };

/** Returns a foreign key with default values. */
function foreignKeyDefaults({ many_collection, many_field }: ForeignKeyEnds): ForeignKey {
  return {
    constraint_name: foreignKeyName(many_collection, many_field),
    ...FOREIGN_KEY_DEFAULTS,
  };
}

const FOREIGN_KEY_CHECKS = checksOf(foreignKey, {
  constraint_name(value) {
    const fault = identifierFault(value as string);
    return fault === null ? value : new InvalidValue(fault);
  },
});

/** Returns `base` with the submitted members. Derived members must match the relation. */
function readForeignKey(submitted: unknown, base: ForeignKey, relation: KeyedEnds, reading: Reading): ForeignKey {
  if (!isObject(submitted)) {
    addFault(reading, ['schema'], 'must be an object (a foreign key) or null (none)');
    return base;
  }
  const { constraint_name: name, ...rest } = submitted;
  // Some vendors have foreign keys without names. Such a foreign key gets the default name.
  const input = name === null && reading.imported ? rest : submitted;
  const key = overlayMembers(
    base,
    { input, checks: FOREIGN_KEY_CHECKS, others: derivedMembers(relation), part: ['schema'] },
    reading,
  );
  return submitted['deferrable'] === undefined ? key : withDeferrable(key, submitted['deferrable'], reading);
}

/** Reads `deferrable`. Null means not deferrable, and normal form then omits the member. */
function withDeferrable({ deferrable, ...key }: ForeignKey, input: unknown, reading: Reading): ForeignKey {
  const known = DEFERRABLES.find((value) => value === input);
  if (known !== undefined) return { ...key, deferrable: known };
  if (input !== null) addFault(reading, ['schema', 'deferrable'], `must be ${DEFERRABLES.join(' or ')}, or null`);
  return input === null || deferrable === undefined ? key : { ...key, deferrable };
}

const NOT_A_NAME_OR_NULL = new InvalidValue('must be a string or null');
const isTextOrNull = (value: unknown): boolean => typeof value === 'string' || value === null;

function derivedMembers({ many_collection, many_field, one_collection, was }: KeyedEnds): CheckUnknownMember {
  return (name, value) => {
    if (name === 'table') return mustEqual(value, many_collection);
    if (name === 'column') return mustEqual(value, many_field);
    if (name === 'foreign_key_table') return value === was || mustEqual(value, one_collection ?? '');
    // A later check compares the column with the primary key. The HTTP layer checks the schema.
    if (name === 'foreign_key_column' || name === 'foreign_key_schema')
      return isTextOrNull(value) || NOT_A_NAME_OR_NULL;
    return name === 'deferrable';
  };
}

/**
 * Reads a new relation in the flat form or the nested form of Directus. As `schema`, an object describes a foreign key,
 * and null means no foreign key. If `schema` is absent, `foreignKeyByDefault` decides. `id` is ignored.
 */
export function readNewRelation(input: unknown, at: Path, options: ReadOptions): Result<NewRelation> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'a relation must be a JSON object'));
  const reading = startReading(input, at, {
    ...options,
    stepsTo: options.stepsTo ?? ((steps) => stepsIn(input, relationSteps(steps, input))),
  });
  const { members, schema } = flattenRelation(input, reading);
  const many_collection = requiredName('many_collection', members, reading);
  const many_field = requiredName('many_field', members, reading);
  if (members['one_collection'] === undefined && members['one_allowed_collections'] === undefined) {
    addFault(reading, ['one_collection'], 'is required: the related collection, or null with one_allowed_collections');
  }
  const ends = readEnds(members, RELATION_META_DEFAULTS, reading);
  const relation = { many_collection, many_field, ...ends };
  const submitted =
    schema ??
    (schema === undefined && options.foreignKeyByDefault === true && ends.one_collection !== null ? {} : null);
  const base = foreignKeyDefaults(relation);
  return finish(
    { ...relation, schema: submitted === null ? null : readForeignKey(submitted, base, relation, reading) },
    reading,
  );
}

/**
 * Returns `existing` with the members of `input`, without its id. Returns `existing` itself if nothing differs. An
 * absent `schema` keeps the foreign key, null drops it, and an object changes or creates it.
 */
export function mergeRelation(existing: Relation, input: unknown, at: Path, options: ReadOptions): Result<NewRelation> {
  if (!isObject(input)) return refuse(invalidProblem(at, 'a relation must be a JSON object'));
  const reading = startReading(input, at, {
    ...options,
    stepsTo: options.stepsTo ?? ((steps) => stepsIn(input, relationSteps(steps, input))),
  });
  const { members, schema } = flattenRelation(input, reading, { ...existing });
  for (const name of ['many_collection', 'many_field'] as const) {
    if (members[name] === undefined || members[name] === existing[name]) continue;
    addFault(reading, [name], `must be ${JSON.stringify(existing[name])} or omitted: it identifies the relation`);
  }
  const { id: _, schema: before, ...present } = existing;
  const relation = { ...present, ...readEnds(members, present, reading) };
  // A relation to several tables cannot keep a foreign key.
  const kept = relation.one_collection === null && existing.one_collection !== null ? null : before;
  const ends = { ...relation, was: existing.one_collection };
  const merged = { ...relation, schema: mergeForeignKey(kept, schema, ends, reading) };
  const result = finish(merged, reading);
  return result.ok && jsonEqual({ ...merged, id: existing.id }, existing) ? ok(existing) : result;
}

function mergeForeignKey(
  before: ForeignKey | null,
  input: unknown,
  relation: KeyedEnds,
  reading: Reading,
): ForeignKey | null {
  if (input === undefined || input === null) return input === null ? null : before;
  return readForeignKey(input, before ?? foreignKeyDefaults(relation), relation, reading);
}

function requiredName(name: string, members: Record<string, unknown>, reading: Reading): string {
  const value = members[name];
  if (typeof value === 'string' && value !== '') return value;
  addFault(reading, [name], 'is required and must be a name, as a string');
  return '';
}

const META_CHECKS = checksOf(relationMembers);

function readEnds(members: Record<string, unknown>, base: RelationMeta, reading: Reading): RelationMeta {
  const { many_collection: _, many_field: __, ...input } = members;
  return overlayMembers(base, { input, checks: META_CHECKS, others: () => false, part: [] }, reading);
}

function finish(relation: NewRelation, reading: Reading): Result<NewRelation> {
  const { one_collection, one_collection_field, one_allowed_collections, schema } = relation;
  if (one_collection === null) {
    const hasProblems = reading.problems.length > 0;
    if (!hasProblems && (one_allowed_collections === null || one_collection_field === null)) {
      const message =
        'must name a collection. A many-to-any relation needs one_allowed_collections and one_collection_field instead';
      addFault(reading, ['one_collection'], message);
    }
    if (schema !== null)
      addFault(reading, ['schema'], 'must be null: a many-to-any relation cannot have a foreign key');
  } else if (one_collection_field !== null || one_allowed_collections !== null) {
    const message =
      'must be null with one_allowed_collections or one_collection_field, which are for many-to-any relations only';
    addFault(reading, ['one_collection'], message);
  }
  if (reading.problems.length === 0) return ok(relation);
  return refuse(...reading.problems);
}
