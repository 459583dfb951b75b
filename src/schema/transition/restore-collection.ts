/* Restores a collection from the trash with its state before the deletion. Names in it that changed since then are
   replaced with the current ones. Objects that were deleted in the same batch because of the collection are restored
   too, if the other side still exists and the name is free. */
import { type Problem, type Result, invalidProblem, ok, refuse } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  groupedIn,
  referencesTo,
  relationsTo,
  extrasOf,
  byName,
  extrasOfTable,
  tableIdOf,
} from '../model/state.js';
import { parentOf } from '../model/order.js';
import type { Restores } from './context.js';
import { Draft } from './draft.js';
import { findFormerTypes, findRestoredObjects, renamedTypes, withTypeNames } from './objects.js';
import { isNone, renamesBetween, withRenames } from './renames.js';
import type { UnwrittenText } from './rename-texts.js';
import { constraintColumns } from '../sql-text/definitions.js';
import { definitionOnTable } from '../sql-text/object-definition.js';
import { objectsOn } from '../sql-text/object-table.js';
import { type ObjectKind, isFreeOnTable } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import type { Collection, Field, NewRelation, Relation } from '../model/model.js';
import { withExtras, withoutConstraints, withoutManagedTypes, dropAlias } from './cascade.js';
import { isSystemCollection } from '../model/system-collections.js';

/* The context that the parts of a restoration share. */

/** An object that was deleted with the collection and is not restored. */
export interface NotRestored {
  /** `member` is an element of `one_allowed_collections`. `constraint` is a foreign key that is not a relation. */
  kind: 'relation' | 'alias' | 'member' | 'group' | 'constraint' | 'foreign key' | ObjectKind;
  collection: string;
  field?: string;
  /** The reason as the end of a sentence: `collection "authors" no longer exists`. */
  reason: string;
}

/** All names in this context are current names. */
interface Restoring {
  state: State;
  /** The state before the deletion, with current names. */
  past: State;
  draft: Draft;
  /** The current name of the collection. */
  name: string;
  node: CollectionNode;
  /** True if a collection of the past still exists or is being restored. */
  isThere(collection: string): boolean;
  isThereField(collection: string, field: string): boolean;
  /** True if a foreign key, or privileges with this id, are not restored. */
  isLeft(name: string): boolean;
  left: NotRestored[];
  /** Called for each field that is restored with the collection. */
  brings(identity: Identity): void;
}

/** Explains that the other side does not exist. */
const noCollection = ({ state }: Restoring, name: string | null | undefined): string =>
  name != null && state.collections.has(name)
    ? `another collection is named ${JSON.stringify(name)} now`
    : `collection ${JSON.stringify(name)} no longer exists`;

/** The reason for an object that the client excluded. */
const AS_ASKED = 'as requested';

/* Restores the relations of a collection and those that referenced it, with their alias fields. */

/** Restores relations. Those that cannot be restored unchanged are added to `left`. */
function restoreRelations(restoring: Restoring): void {
  const { past, name, node } = restoring;
  const others = relationsTo(past, name).filter(({ many_collection }) => many_collection !== name);
  for (const relation of [...node.relations.values(), ...others]) {
    const pointsHere = relation.many_collection !== name && relation.one_collection !== name;
    if (pointsHere) allowAgain(restoring, relation);
    else restoreRelation(restoring, relation);
  }
  dropShowing(restoring);
  for (const collection of new Set([name, ...others.map(({ many_collection }) => many_collection)]))
    joinJunctions(restoring, collection);
}

/** Removes alias fields of relations that are not restored. */
function dropShowing({ past, name, draft }: Restoring): void {
  for (const { one_collection, one_field, many_collection, many_field } of relationsTo(past, name)) {
    if (one_collection !== name || one_field === null) continue;
    const back = draft.get(many_collection)?.relations.get(many_field);
    if (back?.one_collection !== name || back.one_field !== one_field) dropAlias(draft, name, one_field);
  }
}

/** Adds the collection to the targets of a many-to-any relation, which still exists with its column. */
function allowAgain({ past, draft, name, left }: Restoring, relation: Relation): void {
  const { many_collection: collection, many_field: field, id } = relation;
  const held = draft.get(collection)?.relations.get(field);
  if (held?.id !== id || held.one_allowed_collections === null) {
    if (past.collections.has(collection))
      left.push({ kind: 'member', collection, field, reason: 'the relation no longer exists' });
    return;
  }
  const now = new Set([...held.one_allowed_collections, name]);
  const ordered = (relation.one_allowed_collections ?? []).filter((each) => now.delete(each));
  draft.putRelation({ ...held, one_allowed_collections: [...ordered, ...now] });
}

function restoreRelation(restoring: Restoring, relation: Relation): void {
  const { draft, left } = restoring;
  const { many_collection: collection, many_field: field } = relation;
  const reason = findObstacle(restoring, relation);
  if (reason !== undefined) {
    left.push({ kind: 'relation', collection, field, reason });
    return;
  }
  const { id: _, ...body } = relation;
  draft.putRelation({
    ...body,
    schema: keyOf(restoring, relation),
    one_field: aliasOf(restoring, relation),
    one_allowed_collections: allowedOf(restoring, relation),
    junction_field: null,
    sort_field:
      body.sort_field !== null && restoring.isThereField(collection, body.sort_field) ? body.sort_field : null,
  });
}

function findObstacle(restoring: Restoring, relation: Relation): string | undefined {
  const { draft, isThere, isThereField } = restoring;
  const { many_collection, many_field, one_collection } = relation;
  if (one_collection !== null && !isSystemCollection(one_collection) && !isThere(one_collection))
    return noCollection(restoring, one_collection);
  if (!isThere(many_collection)) return noCollection(restoring, many_collection);
  if (!isThereField(many_collection, many_field)) return 'the field no longer exists';
  return draft.get(many_collection)?.relations.has(many_field) === true
    ? 'the field now has a different relation'
    : undefined;
}

function keyOf({ isLeft, left }: Restoring, relation: Relation): NewRelation['schema'] {
  const { schema, many_collection: collection, many_field: field } = relation;
  if (schema === null || !isLeft(schema.constraint_name)) return schema;
  left.push({ kind: 'foreign key', collection, field, reason: AS_ASKED });
  return null;
}

function allowedOf(restoring: Restoring, relation: Relation): string[] | null {
  const { isThere, left } = restoring;
  const { one_allowed_collections: allowed, many_collection: collection, many_field: field } = relation;
  if (allowed === null) return null;
  const there = allowed.filter(isThere);
  for (const gone of allowed.filter((each) => !isThere(each)))
    left.push({ kind: 'member', collection, field, reason: noCollection(restoring, gone) });
  return there;
}

/** Returns the name of the alias field on the other side and restores that field. Null if its name is taken. */
function aliasOf(restoring: Restoring, { one_collection: one, one_field: field }: Relation): string | null {
  const { past, draft, name, left } = restoring;
  if (one === null || field === null || one === name) return field;
  const identity = past.collections.get(one)?.identities.fields.get(field);
  const now = draft.get(one);
  if (identity === undefined || now === undefined) return null;
  if (now.identities.fields.get(field) === identity) return field;
  if (!now.fields.has(field)) return restoreAlias(restoring, now, { one, field, identity });
  left.push({ kind: 'alias', collection: one, field, reason: 'another field now has its name' });
  return null;
}

interface Alias {
  one: string;
  field: string;
  identity: Identity;
}

function restoreAlias(
  { past, draft, brings }: Restoring,
  now: CollectionNode,
  { one, field, identity }: Alias,
): string {
  const alias = past.collections.get(one)?.fields.get(field) as Field;
  const { group } = alias.meta;
  const stays = group === null || now.fields.has(group);
  draft.restoreField(stays ? alias : { ...alias, meta: { ...alias.meta, group: null } }, identity);
  brings(identity);
  return field;
}

/** Restores the mutual references of the two relations of a junction. */
function joinJunctions({ past, draft }: Restoring, collection: string): void {
  const held = new Map([...draft.relationsOf(collection)].map((relation) => [relation.many_field, relation]));
  for (const then of past.collections.get(collection)?.relations.values() ?? []) {
    const relation = held.get(then.many_field);
    const { junction_field, one_collection } = then;
    const isFree = relation?.junction_field === null && relation.one_collection === one_collection;
    if (isFree && junction_field !== null && held.has(junction_field))
      draft.putRelation({ ...relation, junction_field });
  }
}

/* Restore foreign keys that are not relations: those of the collection and those that referenced it. */

/** Restores foreign keys. Those that cannot be restored unchanged are added to `left`. */
function restoreConstraints(restoring: Restoring): void {
  const { past, name, isThere, left } = restoring;
  keepOwnForeignKeys(restoring);
  for (const other of referencesTo(past, name)) {
    if (other === name || !isThere(other)) continue;
    const constraints = extrasOf(past.collections.get(other)).constraints ?? [];
    for (const constraint of constraints.filter(({ references }) => references === name)) {
      const reason = findConstraintObstacle(restoring, other, constraint);
      if (reason === undefined) put(restoring, other, constraint);
      else
        left.push({ kind: 'constraint', collection: other, reason: `${JSON.stringify(constraint.name)}: ${reason}` });
    }
  }
}

type Constraint = NonNullable<ReturnType<typeof extrasOf>['constraints']>[number];

/** Restores the collection's own foreign keys if the referenced objects exist. */
function keepOwnForeignKeys(restoring: Restoring): void {
  const { draft, name, state, isThere, isLeft, left } = restoring;
  const held = draft.get(name)?.collection;
  // A type that became an object after the deletion is no longer part of the table.
  const own = held && withoutManagedTypes(state, held);
  if (!own?.schema) return;
  const isGone = ({ name: key, references }: Constraint): boolean =>
    references !== undefined && references !== name && (isLeft(key) || !isThere(references));
  for (const constraint of (extrasOfTable(own.schema).constraints ?? []).filter(isGone)) {
    const reason = isLeft(constraint.name) ? AS_ASKED : noCollection(restoring, constraint.references);
    left.push({ kind: 'constraint', collection: name, reason: `${JSON.stringify(constraint.name)}: ${reason}` });
  }
  const schema = withoutConstraints(own.schema, isGone);
  if (schema !== held?.schema) draft.putCollection({ ...own, schema });
}

function findConstraintObstacle(
  { draft, isLeft, isThereField }: Restoring,
  other: string,
  { name, definition }: Constraint,
): string | undefined {
  const there = extrasOf(draft.get(other)).constraints ?? [];
  if (isLeft(name)) return AS_ASKED;
  if (there.some((each) => each.name === name)) return 'another constraint now has its name';
  const gone = [...constraintColumns(definition)].find((column) => !isThereField(other, column));
  return gone === undefined ? undefined : `field ${JSON.stringify(gone)} no longer exists`;
}

function put({ draft }: Restoring, other: string, constraint: Constraint): void {
  const held = draft.get(other)?.collection as Collection;
  if (held.schema === null) return;
  const { constraints = [] } = extrasOfTable(held.schema);
  const all = [...constraints, constraint].sort((a, b) => byName(a.name, b.name));
  draft.putCollection({ ...held, schema: withExtras(held.schema, { ...held.schema.extras, constraints: all }) });
}

/* Restores the objects of the table that were deleted with it: triggers, policies, rules, statistics objects and so on. */

/**
 * Returns the objects that the table had. Renaming the table in the past does not change statistics objects, which
 * PostgreSQL rewrites itself.
 */
function restorableObjects(past: State, deleted: RestoreCollection, table: string): SchemaObject[] {
  const before = deleted.past.collections.get(deleted.name)?.collection;
  return [
    ...objectsOn(past.objects, table).filter((object) => !isFreeOnTable(object)),
    ...objectsOn(deleted.past.objects, before === undefined ? table : tableIdOf(before))
      .filter(isFreeOnTable)
      .map((object) => ({ ...object, definition: definitionOnTable(object, table) })),
  ];
}

/** Restores the objects of the table. Those that cannot be restored unchanged are added to `left`. */
function restoreOnTable(restoring: Restoring, deleted: RestoreCollection): void {
  const { state, past, draft, name, node, left, isLeft } = restoring;
  if (node.collection.schema === null) return;
  const restored = findRestoredObjects(restorableObjects(past, deleted, tableIdOf(node.collection)), {
    state,
    past: deleted.past,
    names: { former: deleted.name, now: name },
    isThere: (collection) => isSame(deleted.past, state, collection),
    explainMissing: (collection) => noCollection(restoring, collection),
  });
  for (const { object, obstacle: found } of restored) {
    const obstacle = found ?? (object.kind === 'privileges' && isLeft(object.id) ? AS_ASKED : undefined);
    if (obstacle === undefined) draft.putObject(object);
    else
      left.push({
        kind: object.kind,
        collection: name,
        reason: `${JSON.stringify(object.id)}: ${obstacle}`,
      });
  }
}

/* Restores the group of a collection and its group members. */

/**
 * Restores the grouping. Objects that were moved to another group since the deletion stay there and are added to
 * `left`.
 */
function restoreGroups(restoring: Restoring): void {
  const { state, past, draft, name, node, isThere, left } = restoring;
  const above = nearestGroup(restoring);
  const { collection } = node;
  if (above !== collection.meta.group) {
    const reason = noCollection(restoring, collection.meta.group);
    left.push({ kind: 'group', collection: name, reason });
    draft.putCollection({ ...collection, meta: { ...collection.meta, group: above } });
  }
  for (const child of groupedIn(past, name)) {
    const held = isThere(child) ? draft.get(child)?.collection : undefined;
    // A member that was deleted as well is restored by its own restore.
    if (held === undefined || child === name) continue;
    const { group } = state.collections.get(child)?.collection.meta ?? held.meta;
    if (group === above) draft.putCollection({ ...held, meta: { ...held.meta, group: name } });
    else left.push({ kind: 'group', collection: child, reason: `it is in ${groupText(group)} now` });
  }
}

const groupText = (group: string | null): string => (group === null ? 'no group' : JSON.stringify(group));

/** Returns the group to which the deletion moved the members of the collection. */
const nearestGroup = ({ past, node, isThere }: Restoring): string | null =>
  groupsAbove(past, node).find(isThere) ?? null;

/** Returns the group of a collection, the group of that one, and so on. */
function groupsAbove({ collections }: State, { collection }: CollectionNode): string[] {
  const groups = new Set<string>();
  let { group } = collection.meta;
  while (group !== null && !groups.has(group)) {
    groups.add(group);
    group = collections.get(group)?.collection.meta.group ?? null;
  }
  return [...groups];
}

export interface RestoreCollection {
  /** Position of the event that deleted the collection. */
  position: number;
  identity: Identity;
  /** The name of the collection at that time. */
  name: string;
  /** The number of the shared trash schema that contains the table. */
  kept_in?: number | undefined;
  /** The schema before the batch that deleted the collection. */
  past: State;
  /** The new name. If absent, the collection keeps its former name. */
  as?: string | undefined;
  /** Names of foreign keys, and ids of privileges, that are not restored. */
  without: readonly string[];
  /** True if the trash has no data, so that the table is created empty. */
  empty?: boolean;
}

export interface Restoration {
  draft: Draft;
  restores: Map<Identity, Restores>;
  left: NotRestored[];
  /** The names of foreign keys and ids of privileges that `without` may contain. */
  keys: readonly string[];
  /** Texts that contain the former name and cannot be rewritten. */
  unwritten: UnwrittenText[];
}

/** Returns the draft with the collection, or why it cannot be restored. */
export function* planRestoration(state: State, restore: RestoreCollection): Resumable<Result<Restoration>> {
  const { position, identity, name: former, kept_in, as, without, empty = false } = restore;
  const name = as ?? former;
  const problems = nameProblems(state, restore);
  if (problems.length > 0) return refuse(...problems);
  const { past, unwritten } = yield* renameToCurrent(state, restore);
  const node = past.collections.get(name);
  if (node?.identities.collection !== identity)
    throw new Error(`restore: ${JSON.stringify(former)} of position ${position} is not the deleted object`);
  const draft = new Draft(state);
  const restores = new Map<Identity, Restores>([
    [identity, { position, name: former, ...(kept_in !== undefined && { kept_in }), empty }],
  ]);
  const left: NotRestored[] = [];
  const skippedNames = new Set(without);
  const isThere = (each: string): boolean => each === name || isSame(past, state, each);
  const restoring: Restoring = {
    state,
    past,
    draft,
    name,
    node,
    isThere,
    isThereField: (collection, field) =>
      collection === name ? node.fields.has(field) : isSameField({ past, state, collection, field }),
    isLeft: (each) => skippedNames.has(each),
    left,
    brings: (each) => restores.set(each, { position, name: former }),
  };
  const parent = parentOf(past, name);
  if (parent !== undefined && !isThere(parent)) return refuse(withoutParent(name, parent));
  const keys = [...keysOf(restoring), ...idsOfPrivileges(restoring)];
  const unknown = unknownKeys(keys, without);
  if (unknown.length > 0) return refuse(...unknown);
  draft.restoreCollection(node);
  restoreGroups(restoring);
  restoreConstraints(restoring);
  restoreRelations(restoring);
  restoreOnTable(restoring, restore);
  return ok({ draft, restores, left, keys, unwritten: unwritten.filter((each) => each.collection === name) });
}

function nameProblems(state: State, { name, as }: RestoreCollection): Problem[] {
  if (!state.collections.has(as ?? name)) return [];
  const taken = `collection ${JSON.stringify(as ?? name)} already exists`;
  if (as !== undefined) return [{ code: 'ALREADY_EXISTS', message: taken, path: 'as', collection: as }];
  const message = `${taken}: restore this one with another name, {"as": "…"}`;
  return [{ code: 'ALREADY_EXISTS', message, collection: name }];
}

function withoutParent(collection: string, parent: string): Problem {
  const message = `it is a partition of ${JSON.stringify(parent)}, which does not exist: restore that first`;
  return { code: 'IN_USE', message, collection };
}

/** Returns the collections of the past that the restore involves. */
function findConcerned(past: State, name: string): Set<string> {
  const node = past.collections.get(name) as CollectionNode;
  const { constraints = [], partition_of } = extrasOf(node);
  const relations = [...node.relations.values(), ...relationsTo(past, name)];
  return new Set([
    name,
    ...groupedIn(past, name),
    ...groupsAbove(past, node),
    ...referencesTo(past, name),
    ...constraints.flatMap(({ references }) => references ?? []),
    ...(partition_of === undefined ? [] : [partition_of.table]),
    ...relations.flatMap(({ many_collection, one_collection, one_allowed_collections }) => [
      many_collection,
      ...(one_allowed_collections ?? [one_collection ?? []]).flat(),
    ]),
  ]);
}

function* renameToCurrent(
  state: State,
  { past, name, as: to = name }: RestoreCollection,
): Resumable<{ past: State; unwritten: UnwrittenText[] }> {
  const names = findConcerned(past, name);
  const identities = new Set([...names].map((each) => past.collections.get(each)?.identities.collection));
  for (const [each, node] of state.collections) {
    if (identities.has(node.identities.collection)) names.add(each);
  }
  const renames = renamesBetween(past, state, names);
  if (to !== name) renames.collections = new Map([...renames.collections, [name, to]]);
  const named = isNone(renames) ? { state: past, unwritten: [] } : yield* withRenames(past, renames);
  const unwritten = findFormerTypes(renamedTypes(past, state), named.state.collections.get(to));
  return { past: withTypeNames(named.state, state), unwritten: [...named.unwritten, ...unwritten] };
}

const identityOf = ({ collections }: State, name: string): Identity | undefined =>
  collections.get(name)?.identities.collection;

const isSame = (past: State, state: State, name: string): boolean =>
  past.collections.has(name) && identityOf(past, name) === identityOf(state, name);

function isSameField(of: { past: State; state: State; collection: string; field: string }): boolean {
  const { past, state, collection, field } = of;
  const [then, now] = [past, state].map(({ collections }) => collections.get(collection)?.identities.fields.get(field));
  return isSame(past, state, collection) && then !== undefined && then === now;
}

/** Returns the names of the collection's foreign keys and of foreign keys that reference it. */
function keysOf({ past, name, node }: Restoring): string[] {
  const relations = [...node.relations.values(), ...relationsTo(past, name)];
  const constraints = [name, ...referencesTo(past, name)].flatMap((each) => {
    const formerConstraints = extrasOf(past.collections.get(each)).constraints ?? [];
    return formerConstraints.filter(
      ({ references }) => references !== undefined && (each === name || references === name),
    );
  });
  const names = [
    ...relations.flatMap(({ schema }) => schema?.constraint_name ?? []),
    ...constraints.map((each) => each.name),
  ];
  return [...new Set(names)];
}

/** Returns the ids of the privileges on the table. */
const idsOfPrivileges = ({ past, node }: Restoring): string[] =>
  objectsOn(past.objects, tableIdOf(node.collection)).flatMap(({ kind, id }) => (kind === 'privileges' ? [id] : []));

/** Returns names in `without` that are neither foreign keys of the collection nor ids of its privileges. */
function unknownKeys(names: readonly string[], without: readonly string[]): Problem[] {
  return without.flatMap((each, index) => {
    const message = `no restored foreign key is named ${JSON.stringify(each)}`;
    return names.includes(each) ? [] : [invalidProblem(['without', index], message, { known: names })];
  });
}
