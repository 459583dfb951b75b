/** A diff describes changes as entries of kinds `N`, `D`, `E` and `A`. */
import { invertMap } from '../../kernel/lists-and-maps.js';
import { relationBody, isReplacedCollection, isReplacedField } from '../transition/context.js';
import type { Backfill } from '../model/backfill.js';
import type { Field, NewRelation, Relation } from '../model/model.js';
import { type ObjectName, type PrivilegesTarget, isRelation, objectKey, targetOf } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { fieldsInOrder, objectsInOrder, relationsInOrder } from '../model/order.js';
import {
  type CollectionDocument,
  type FieldDocument,
  keyTarget,
  collectionDocument,
  fieldDocument,
  orderObjectMembers,
} from '../snapshot/documents.js';
import { type CollectionNode, type State, NEW_IDENTITY, byName, isElsewhere, storedLocation } from '../model/state.js';
import type { Names } from '../fold/replace-names.js';
import { findFormerObjects, renameOnTargets, renameOnTables, renamedObject } from '../transition/objects.js';
import { NO_RENAMES, type Renames, findNamesInTheWay, renamesBetween, withRenames } from '../transition/renames.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Entry, type NameMember, type Origin, entriesBetween } from './entries.js';
import { type Json, jsonEqual } from '../../kernel/json.js';

export interface CollectionDiff extends Origin {
  collection: string;
  diff: Entry<CollectionDocument>[];
}

export interface FieldDiff extends Origin {
  collection: string;
  field: string;
  diff: Entry<FieldDocument>[];
  /** A request for the rows. No comparison of states finds it. */
  backfill?: Backfill;
}

export interface RelationDiff {
  collection: string;
  field: string;
  related_collection: string | null;
  diff: Entry<NewRelation>[];
}

/**
 * An item about an object other than a table. An entry with the path `id` renames the object. Other entries use the new
 * id.
 */
export interface ObjectDiff extends ObjectName {
  diff: Entry<SchemaObject>[];
}

export interface SchemaDiff {
  collections: CollectionDiff[];
  fields: FieldDiff[];
  relations: RelationDiff[];
  /** Absent if no object differs. */
  objects?: ObjectDiff[];
}

export const isEmptyDiff = (diff: SchemaDiff): boolean =>
  diff.collections.length + diff.fields.length + diff.relations.length + (diff.objects?.length ?? 0) === 0;

/**
 * Returns the diff from `from` to `to`, sorted by name. Only collections in `touched` may differ. A removed collection
 * is one entry that includes its fields and relations. A collection that changes its kind has one entry for the removal
 * and one for the addition. A rename comes first, and other entries use the new names. Consequences of a rename have no
 * entries.
 */
export function* diffStates(from: State, to: State, touched: Iterable<string>): Resumable<SchemaDiff> {
  const all = [...touched];
  const renames = renamesBetween(from, to, all);
  const tables = yield* withRenames(from, { ...renames, fields: NO_RENAMES.fields });
  const named = yield* withRenames(tables.state, { ...renames, collections: NO_RENAMES.collections });
  const diff: SchemaDiff = { collections: [], fields: [], relations: [] };
  for (const name of findNamesInTheWay(renames.collections, (each) => from.collections.has(each)).sort(byName)) {
    diff.collections.push({ collection: name, diff: collectionEntries(from.collections.get(name)) });
  }
  const states = { from, tables: tables.state, base: named.state, to, renames };
  const former = invertMap(renames.collections);
  for (const name of [...new Set([...all, ...tables.touched, ...named.touched])].sort(byName)) {
    yield;
    const { before, after } = addCollection(states, { name, old: former.get(name) }, diff);
    if (after === undefined) continue;
    yield* addFields(states, { before, after }, diff);
    for (const each of relationDiffs(before, after)) diff.relations.push(each);
  }
  const objects = objectDiffs(withObjectNames(named.state, to), to);
  return objects.length === 0 ? diff : { ...diff, objects };
}

/** Returns `from`, where objects of renamed views, functions, sequences and types name these by their names in `to`. */
function withObjectNames(from: State, to: State): State {
  if (from.objects === to.objects) return from;
  const views = new Map<string, string>();
  const targets: { from: PrivilegesTarget; to: string }[] = [];
  for (const [key, old] of findFormerObjects(from, to)) {
    const [before, after] = [from.objects.get(old)?.object, to.objects.get(key)?.object];
    if (before === undefined || after === undefined || before.id === after.id) continue;
    if (isRelation(before)) views.set(before.id, after.id);
    const target = targetOf(before);
    if (target !== undefined) targets.push({ from: target, to: after.id });
  }
  return { ...from, objects: renameOnTargets(renameOnTables(from.objects, views), targets) };
}

function objectDiffs(from: State, to: State): ObjectDiff[] {
  if (from.objects === to.objects) return [];
  const former = findFormerObjects(from, to);
  const kept = new Set(former.values());
  const missing = objectsInOrder(from).filter((object) => !kept.has(objectKey(object)));
  const removed = missing.map((object): ObjectDiff => itemOf(object, [{ kind: 'D', lhs: orderObjectMembers(object) }]));
  const others = objectsInOrder(to).flatMap((object): ObjectDiff[] => {
    const old = from.objects.get(former.get(objectKey(object)) ?? '')?.object;
    if (old === object) return [];
    if (old === undefined) return [itemOf(object, [{ kind: 'N', rhs: orderObjectMembers(object) }])];
    const renamed = old.id === object.id ? old : renamedObject(old, object.id);
    const names = old.id === object.id ? [] : [renameEntry('id', old.id, object.id)];
    const diff = [...names, ...entriesBetweenObjects(renamed, object)];
    return diff.length === 0 ? [] : [itemOf(object, diff)];
  });
  return [...removed, ...others];
}

/** Returns the entries between two versions of an object. A list of privileges is one value. */
function entriesBetweenObjects(before: SchemaObject, after: SchemaObject): Entry<never>[] {
  const { definition } = after;
  if (!Array.isArray(definition) || jsonEqual(before.definition, definition))
    return entriesBetween(asJson(before), asJson(after));
  return [
    { kind: 'E', path: ['definition'], lhs: before.definition, rhs: definition },
    ...entriesBetween(asJson({ ...before, definition }), asJson(after)),
  ];
}

const itemOf = ({ kind, id }: ObjectName, diff: ObjectDiff['diff']): ObjectDiff => ({ kind, id, diff });

interface States {
  /** The old state. */
  from: State;
  /** The old state with new collection names. */
  tables: State;
  /** The old state with new collection and field names. */
  base: State;
  to: State;
  renames: Renames;
}

/** The object on both sides. A new collection has no `before`, and a removed one no `after`. */
interface Sides<After> {
  before: CollectionNode | undefined;
  after: After;
}

/**
 * Adds the entries of a collection itself, and returns the nodes whose members must be compared.
 * @param old the former name of a renamed collection
 */
function addCollection(
  states: States,
  { name, old }: { name: string; old: string | undefined },
  diff: SchemaDiff,
): Sides<CollectionNode | undefined> {
  const after = states.to.collections.get(name);
  let before = states.base.collections.get(name);
  const renamed = old === undefined ? [] : [renameEntry('collection', old, name)];
  renamed.push(...locationEntries(states.from.collections.get(old ?? name), after));
  if (before !== undefined && after !== undefined && isReplacedCollection(before, after)) {
    diff.collections.push({ collection: name, diff: collectionEntries(before) });
    before = undefined;
  }
  const entries = [...renamed, ...collectionEntries(before, after)];
  if (entries.length > 0) diff.collections.push({ collection: name, diff: entries });
  return { before, after };
}

const renameEntry = (member: NameMember, lhs: string, rhs: string): Entry<never> => ({
  kind: 'E',
  path: [member],
  lhs,
  rhs,
});

/** Returns the entries of a table that moves to another schema. */
function locationEntries(before: CollectionNode | undefined, after: CollectionNode | undefined): Entry<never>[] {
  if (before === undefined || after?.identities.collection !== before.identities.collection) return [];
  if (before.identities.collection === NEW_IDENTITY || !isElsewhere(before.collection, after.collection)) return [];
  const [from, to] = [storedLocation(before.collection), storedLocation(after.collection)];
  return entriesBetween(asJson(from), asJson(to), ['schema']);
}

function collectionEntries(before?: CollectionNode, after?: CollectionNode): Entry<CollectionDocument>[] {
  if (before === undefined)
    return after === undefined ? [] : [{ kind: 'N', rhs: collectionDocument(after.collection) }];
  if (after === undefined) return [{ kind: 'D', lhs: collectionDocument(before.collection) }];
  return entriesBetween(asJson(before.collection), asJson(after.collection));
}

/** Yields after each field, because a collection can have thousands of fields. */
function* addFields(
  states: States,
  { before, after }: Sides<CollectionNode>,
  { fields: diffs }: SchemaDiff,
): Resumable<void> {
  const { collection } = after.collection;
  const names: Names = states.renames.fields.get(collection) ?? new Map();
  const former = invertMap(names);
  diffs.push(...removeFieldsInTheWay(states, collection, names));
  for (const field of before === undefined ? [] : fieldsInOrder(before)) {
    yield;
    const old = former.get(field.field);
    const renamed = old === undefined ? [] : [renameEntry('field', old, field.field)];
    const kept = diffField(states, [field, after.fields.get(field.field)], () =>
      documentIn(states.base, before, field),
    );
    const diff = [...renamed, ...kept];
    if (diff.length > 0) diffs.push({ collection, field: field.field, diff });
  }
  for (const field of fieldsInOrder(after)) {
    yield;
    if (isSameField(states, before?.fields.get(field.field), field)) continue;
    diffs.push({ collection, field: field.field, diff: [{ kind: 'N', rhs: documentIn(states.to, after, field) }] });
  }
}

/** Returns fields that must be removed first, because another field of the collection takes their name. */
function removeFieldsInTheWay({ tables }: States, collection: string, names: Names): FieldDiff[] {
  const node = tables.collections.get(collection);
  return findNamesInTheWay(names, (each) => node?.fields.has(each) === true).flatMap((name) => {
    const field = node?.fields.get(name);
    return field === undefined
      ? []
      : [{ collection, field: name, diff: [{ kind: 'D' as const, lhs: documentIn(tables, node, field) }] }];
  });
}

function diffField(
  states: States,
  [field, next]: [Field, Field | undefined],
  document: () => FieldDocument,
): Entry<FieldDocument>[] {
  if (next === field) return [];
  return next !== undefined && isSameField(states, field, next)
    ? entriesBetween(asJson(field), asJson(next))
    : [{ kind: 'D', lhs: document() }];
}

const isSameField = (states: States, field: Field | undefined, next: Field): boolean =>
  field !== undefined && !isReplacedField(field, next, states);

const documentIn = (state: State, node: CollectionNode | undefined, field: Field): FieldDocument =>
  fieldDocument(field, node === undefined ? null : keyTarget(state, node, field.field));

function relationDiffs(before: CollectionNode | undefined, after: CollectionNode): RelationDiff[] {
  const diffs: RelationDiff[] = [];
  for (const relation of before === undefined ? [] : relationsInOrder(before)) {
    const next = after.relations.get(relation.many_field);
    if (next === relation) continue;
    const diff: Entry<NewRelation>[] =
      next === undefined
        ? [{ kind: 'D', lhs: relationBody(relation) }]
        : entriesBetween(asJson(relationBody(relation)), asJson(relationBody(next)));
    if (diff.length > 0) diffs.push({ ...relationKey(next ?? relation), diff });
  }
  for (const relation of relationsInOrder(after)) {
    if (before?.relations.has(relation.many_field)) continue;
    diffs.push({ ...relationKey(relation), diff: [{ kind: 'N', rhs: relationBody(relation) }] });
  }
  return diffs;
}

const relationKey = ({ many_collection, many_field, one_collection }: Relation) => ({
  collection: many_collection,
  field: many_field,
  related_collection: one_collection,
});

const asJson = (document: object): Json => document as unknown as Json;
