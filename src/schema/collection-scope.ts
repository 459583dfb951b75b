/* Limits callers to some collections, by patterns of names such as `shop_*`. */
import { isObject } from '../kernel/json.js';
import type { Problem } from '../kernel/problem.js';
import type { Resumable } from '../kernel/resumable.js';
import { changesObjects, changesSchema, collectionsChanged, collectionsTouchedBy } from './fold/event-schemas.js';
import type { LogEvent, NewEvent } from './model/events.js';
import type { Collection, Relation } from './model/model.js';
import { type ObjectName } from './model/objects.js';
import { objectNameParts, splitQualifiedId } from './model/object-ids.js';
import { followsTable } from './transition/objects.js';
import {
  type CollectionNode,
  type State,
  byName,
  contentOf,
  extrasOf,
  extrasOfTable,
  findDifferingNames,
} from './model/state.js';
import { collectionsOfObject } from './sql-text/object-table.js';
import { matchesPattern } from './policy.js';

/** Patterns of collection names, as in rules of the policy. Never empty. */
export type CollectionScope = readonly string[];

/** The value of `missing_scope` in errors about collections. */
export const COLLECTIONS_MISSING = 'collections';

/** The message names no collection, because the caller may not be allowed to know which collections exist. */
export const OUT_OF_SCOPE: Problem = {
  code: 'FORBIDDEN',
  message:
    'This change affects collections outside the scope of this token, for example as the other end of a relation.',
  details: { missing_scope: COLLECTIONS_MISSING },
};

export const isInScope = (scope: CollectionScope, name: string): boolean =>
  scope.some((pattern) => matchesPattern(pattern, name));

/**
 * A trigger, a policy, row security, table options and a statistics object belong to the collection of their table. A
 * rule also belongs to the collections that it reads or writes. Other objects, and those that use a view, are outside
 * every scope.
 * @param states the states before and after a change, in which the object may have different names
 */
export function isObjectInScope(scope: CollectionScope, states: readonly State[], object: ObjectName): boolean {
  const collections = states.flatMap((state) => collectionsOfObject(state, object));
  return collections.length > 0 && collections.every((name) => name !== null && isInScope(scope, name));
}

/**
 * Checks an object of a document, which may be in no state, by its name. It is in the scope only if it is an object whose
 * id contains a table of the scope, except a rule. The names of a statistics object and of a rule do not contain the
 * tables that they use. Other objects belong to no collection.
 */
export function isNamedObjectInScope(scope: CollectionScope, object: NonNullable<Problem['object']>): boolean {
  const { table } = objectNameParts(object as ObjectName);
  if (table === null || object.kind === 'rule') return false;
  // The collection of a table in another schema can have any name, so the document does not reveal the collection.
  const { schema, name } = splitQualifiedId(table);
  return schema === undefined && isInScope(scope, name);
}

/**
 * True for an object of a table outside the scope, and for a rule that uses such a table. False for objects that belong
 * to no table, and triggers of views.
 */
export const isOnTableOutside = (scope: CollectionScope, states: readonly State[], object: ObjectName): boolean =>
  states.some((state) => collectionsOfObject(state, object).some((name) => name !== null && !isInScope(scope, name)));

/* The part of a state that a caller may read. */

const visibleStates = new WeakMap<object, Map<string, State>>();

/**
 * Returns the state with only the collections of the scope, and the relations with both ends in it. Equal scopes get the
 * same object for the same content, so responses that are cached by content are never shared between different scopes.
 * Views are left out, because their definitions can name every table.
 */
export function visibleState(state: State, scope: CollectionScope): State {
  const byScope = visibleStates.get(contentOf(state)) ?? new Map<string, State>();
  visibleStates.set(contentOf(state), byScope);
  const key = JSON.stringify(scope);
  const visible = byScope.get(key) ?? limitState(state, scope);
  byScope.set(key, visible);
  return visible.position === state.position ? visible : { ...visible, position: state.position };
}

/**
 * Returns the past state without collections that have a name outside the scope now. They may have had a name within the
 * scope before.
 */
export function withoutRenamedOutside(past: State, now: State, scope: CollectionScope): State {
  const outside = new Set(
    [...now.collections].flatMap(([name, { identities }]) => (isInScope(scope, name) ? [] : [identities.collection])),
  );
  return { ...past, collections: past.collections.filter(({ identities }) => !outside.has(identities.collection)) };
}

function limitState(state: State, scope: CollectionScope): State {
  const collections = state.collections
    .filter((_, name) => isInScope(scope, name))
    .map((node) => withoutNamesOutside(node, scope));
  return {
    position: state.position,
    collections,
    referencedBy: state.referencedBy
      .filter((_, name) => collections.has(name))
      .map((names) => names.filter((name) => collections.has(name))),
    indexNames: state.indexNames.filter((name) => collections.has(name)),
    objects: state.objects.clear(),
  };
}

/** Returns the same node if all its relations, its group and its foreign keys are in the scope. */
function withoutNamesOutside(node: CollectionNode, scope: CollectionScope): CollectionNode {
  const relations = new Map(
    [...node.relations].filter(([, relation]) => endsOf(relation).every((end) => isInScope(scope, end))),
  );
  const collection = withoutGroupOutside(withoutReferencesOutside(node.collection, scope), scope);
  return relations.size === node.relations.size && collection === node.collection
    ? node
    : { ...node, relations, collection };
}

function withoutGroupOutside(collection: Collection, scope: CollectionScope): Collection {
  const { meta } = collection;
  return meta.group === null || isInScope(scope, meta.group)
    ? collection
    : { ...collection, meta: { ...meta, group: null } };
}

function withoutReferencesOutside(collection: Collection, scope: CollectionScope): Collection {
  const { schema } = collection;
  const { constraints = [] } = extrasOfTable(schema);
  const kept = constraints.filter(({ references }) => references === undefined || isInScope(scope, references));
  if (schema === null || kept.length === constraints.length) return collection;
  return { ...collection, schema: { ...schema, extras: { ...schema.extras, constraints: kept } } };
}

const endsOf = (relation: Omit<Relation, 'id'>): string[] => [
  relation.many_collection,
  ...(relation.one_collection === null ? [] : [relation.one_collection]),
  ...(relation.one_allowed_collections ?? []),
];

/* The collections that a batch concerns. */

/** A batch of events with the states around it. */
interface Batch {
  before: State;
  after: State;
  events: readonly LogEvent[];
}

/** Returns the collections that a change request lists: those that its batch changes, and those of its objects. */
export function listCollections({ before, after, events }: Batch): string[] {
  const ofObjects = events
    .filter(changesObjects)
    .flatMap(({ subject }) => [before, after].flatMap((state) => collectionsOfObject(state, subject)))
    .filter((name) => name !== null);
  return [...new Set([...collectionsChanged(events), ...ofObjects])].sort(byName);
}

/**
 * True if a batch concerns a collection outside the scope, by its former or its new name: as the subject of an event,
 * as one end of a relation, as a group, or because its documents change with those of another collection. All events
 * that are not about collections are outside every scope, except events about change requests, and about objects of a
 * table that are deleted or renamed with their table or column.
 */
export function reachesOutside({ before, after, events }: Batch, scope: CollectionScope): boolean {
  const isOutside = (name: string): boolean => !isInScope(scope, name);
  return (
    events.some(
      (event) => isEventOutside(event, isOutside) && (grantsPrivileges(event) || !followsTable(event, events, before)),
    ) || namesChanged(before, after).some(isOutside)
  );
}

function isEventOutside(event: LogEvent, isOutside: (name: string) => boolean): boolean {
  if (!changesSchema(event))
    return event.collection === null ? !event.type.startsWith('change.') : isOutside(event.collection);
  return restoresTable(event) || collectionsTouchedBy(event).some(isOutside);
}

/**
 * A diff decides which triggers and policies a table from the trash has. A caller who may not change them could delete
 * the table, and restore its rows without them.
 */
const restoresTable = (event: NewEvent): boolean =>
  event.type === 'collection.created' && event.data.restored !== undefined;

/** A diff also decides which privileges roles have on a column from the trash. */
const grantsPrivileges = (event: LogEvent): boolean =>
  changesObjects(event) &&
  event.subject.kind === 'privileges' &&
  (event.type === 'object.created' || event.type === 'object.updated');

function namesChanged(before: State, after: State): string[] {
  if (before.collections === after.collections) return [];
  const changed = findDifferingNames(before, after);
  return [
    ...changed,
    ...changed.flatMap((name) => namesReferenced(before.collections.get(name), after.collections.get(name))),
  ];
}

/**
 * Returns the collections at the other ends of the relations that differ, the tables of other foreign keys that differ,
 * and the group and the parent as a partition if they differ.
 */
function namesReferenced(before: CollectionNode | undefined, after: CollectionNode | undefined): string[] {
  const [former, now] = [before?.relations, after?.relations];
  const fields = new Set([...(former?.keys() ?? []), ...(now?.keys() ?? [])]);
  const relations = [...fields].flatMap((field) => {
    const pair = [former?.get(field), now?.get(field)];
    return pair[0] === pair[1] ? [] : pair.flatMap((relation) => (relation === undefined ? [] : endsOf(relation)));
  });
  const [old, next] = [tablesNamed(before), tablesNamed(after)];
  const tables = [...old.filter((table) => !next.includes(table)), ...next.filter((table) => !old.includes(table))];
  const groups = [before?.collection.meta.group, after?.collection.meta.group];
  return [...relations, ...tables, ...(groups[0] === groups[1] ? [] : groups.flatMap((group) => group ?? []))];
}

function tablesNamed(node: CollectionNode | undefined): string[] {
  const { constraints = [], partition_of: parent } = extrasOf(node);
  return [...constraints.flatMap(({ references }) => references ?? []), ...(parent ? [parent.table] : [])];
}

/* Find the collections that a document names. */

const NAMING: ReadonlySet<string> = new Set([
  'collection',
  'related_collection',
  'many_collection',
  'one_collection',
  'one_allowed_collections',
  'foreign_key_table',
  'references',
  'renamed_from',
]);

/** The member with the parent of a partition: `{ table, bound }`. */
const PARENT = 'partition_of';

/** Members whose content is free, so that a member `collection` in it may mean anything. */
const FREE: ReadonlySet<string> = new Set(['options', 'display_options', 'conditions', 'translations']);

/**
 * Describes the first name outside the scope in a document: a snapshot, a diff, a plan, or a body of a change. Errors
 * about a collection would otherwise reveal whether it exists. The description does not name views and functions,
 * because the document may be another user's.
 */
export function* findNameOutside(document: unknown, scope: CollectionScope): Resumable<string | undefined> {
  const open: unknown[] = [document];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    yield;
    if (Array.isArray(value)) open.push(...(value as unknown[]).filter((each) => each !== undefined));
    if (!isObject(value)) continue;
    const outside = namesIn(value).find((name) => !isInScope(scope, name));
    if (outside !== undefined) return `the collection ${JSON.stringify(outside)}`;
    if (hasObjectOutside(value, scope)) return 'objects other than triggers and policies on its tables';
    for (const [member, inner] of Object.entries(value))
      if (typeof inner === 'object' && inner !== null && !FREE.has(member)) open.push(inner);
  }
  return undefined;
}

/** True if an item of the member `objects` is outside the scope. Its id can be missing from the body of a request. */
function hasObjectOutside({ objects }: { readonly [member: string]: unknown }, scope: CollectionScope): boolean {
  if (!Array.isArray(objects)) return false;
  return (objects as unknown[]).filter(isObject).some(({ kind, id }) => {
    const isNamed = typeof kind === 'string' && typeof id === 'string';
    return !isNamed || !isNamedObjectInScope(scope, { kind, id });
  });
}

/** The names in the members of an object, or in a difference: `{ path: ['one_collection'], lhs, rhs }`. */
function namesIn(value: { readonly [member: string]: unknown }): string[] {
  const { path } = value;
  const last: unknown = Array.isArray(path) ? path.find((step) => NAMING.has(String(step))) : undefined;
  const members = last === undefined ? [...NAMING] : ['lhs', 'rhs'];
  // `renamed_from` of a field is the former name of a field.
  const named = 'field' in value ? members.filter((member) => member !== 'renamed_from') : members;
  return [...named, ...parentMembers(value)]
    .flatMap((member) => (Object.hasOwn(value, member) ? [value[member]].flat() : []))
    .map((name) => (isObject(name) ? name['table'] : name))
    .filter((name) => typeof name === 'string');
}

/** The members that name the parent of a partition, in an object or in a difference. */
const parentMembers = ({ path }: { readonly [member: string]: unknown }): string[] =>
  Array.isArray(path) && path.includes(PARENT) && !path.includes('bound') ? ['lhs', 'rhs'] : [PARENT];
