/* A transition that restores objects from the trash. A table is restored with its state before the deletion, and then
   changed to the target state. A field is restored as it is in the target state, if the two are compatible. */
import type { Resumable } from '../../kernel/resumable.js';
import { fold } from '../fold/evolve.js';
import type { SchemaEvent } from '../model/events.js';
import {
  type CollectionNode,
  type ColumnField,
  type Identity,
  type State,
  initialState,
  NEW_IDENTITY,
  hasColumn,
  isFolder,
  memberKey,
  extrasOf,
  partitionsOf,
  primaryKeyOf,
  fieldNameOf,
  sameCollection,
} from '../model/state.js';
import type { Restores, TransitionOptions } from './context.js';
import { dropCollection, withoutReferences } from './cascade.js';
import { Draft } from './draft.js';
import { type Renames, NO_RENAMES, removeBeforeRenames, renamesBetween, withRenames } from './renames.js';
import type { Rewritten } from './rename-texts.js';
import { transition } from './transition.js';
import { jsonEqual } from '../../kernel/json.js';
import type { ColumnSchema, Field } from '../model/model.js';

/** An entry of the trash. */
export interface TrashNode extends Restores {
  kind: 'collection' | 'field';
  identity: Identity;
  /** The collection immediately before the deletion. */
  node: CollectionNode;
}

interface TransitionRequest {
  from: State;
  /** The target state, in which restored objects already have their former identity. */
  to: State;
  /** The collections that may differ. */
  touched: Iterable<string>;
  options?: TransitionOptions;
}

/** Returns the events. @param entries the restored entries, each of which must be compatible (`unfit`) */
export function* restoringTransition(
  request: TransitionRequest,
  entries: readonly TrashNode[],
): Resumable<SchemaEvent[]> {
  const { from, to, options } = request;
  const touched = new Set(request.touched);
  const tables = entries.filter(({ kind }) => kind === 'collection');
  const restores = new Map<Identity, Restores>(options?.restores);
  for (const each of entries) restores.set(each.identity, each);
  if (tables.length === 0) return yield* transition(from, to, touched, { ...options, restores });
  const { state, names } = yield* withTables(request, tables);
  for (const name of names) touched.add(name);
  const first = yield* transition(from, state, touched, { restores });
  const after = fold(
    first.map((event, index) => ({ ...event, position: from.position + 1 + index })),
    from,
  );
  return [...first, ...(yield* transition(after, to, touched, { ...options, restores }))];
}

/** A state with restored tables. */
interface RestoredTables<T> {
  state: State;
  /** The names of the collections that may differ. */
  names: ReadonlySet<string>;
  /** The restored tables. Partitions that cannot be attached are left out. */
  tables: readonly T[];
}

/** Returns the state with the names of the target. Restored tables have their state before the deletion. */
function* withTables<T extends TrashNode>(
  request: TransitionRequest,
  entries: readonly T[],
): Resumable<RestoredTables<T>> {
  const { to, touched } = request;
  const { named, tables } = yield* attachable(request, entries);
  const draft = new Draft(named.state, named.touched);
  const names = namesByIdentity(to, touched);
  const nodes: CollectionNode[] = [];
  for (const { identity, node } of tables) {
    const name = names.get(identity);
    if (name === undefined) throw new Error(`restoring: ${identity} does not match the target`);
    // The name belongs to another collection, which the transition removes.
    if (draft.get(name) !== undefined) dropCollection(draft, named.state, name);
    for (const other of siblingsOf(node, named.state)) {
      // The rows of a removed partition may lie within the bounds of a restored one.
      const isRemoved = draft.get(other.collection.collection) === other && !names.has(other.identities.collection);
      if (isRemoved && sameCollection(to, other) === undefined)
        dropCollection(draft, named.state, other.collection.collection);
    }
    nodes.push(yield* renameAlone(node, name));
  }
  const isThere = (name: string): boolean =>
    draft.get(name) !== undefined || nodes.some(({ collection }) => collection.collection === name);
  for (const node of nodes) draft.restoreCollection(toRestored(node, isThere));
  return { state: draft.toState(), names: draft.touched, tables };
}

/** Returns all partitions of the table to which the given partition belongs. */
function siblingsOf(node: CollectionNode, state: State): CollectionNode[] {
  const table = extrasOf(node).partition_of?.table;
  if (table === undefined) return [];
  return [...partitionsOf(state, table)].flatMap((name) => state.collections.get(name) ?? []);
}

/**
 * Returns the entries that can be attached, and the renamed state to which they are added. PostgreSQL attaches a
 * partition only while its table has columns of the same names: before or after the columns are renamed.
 */
function* attachable<T extends TrashNode>(
  { from, to, touched }: TransitionRequest,
  entries: readonly T[],
): Resumable<{ named: Rewritten; tables: readonly T[] }> {
  const renames = renamesBetween(from, to, touched);
  const named = yield* afterRenames(from, to, renames);
  const tables = attachableTo(named.state, entries);
  if (tables.length === entries.length || renames.fields.size === 0) return { named, tables };
  const earlier = yield* afterRenames(from, to, { ...renames, fields: NO_RENAMES.fields });
  const others = attachableTo(earlier.state, entries);
  return others.length > tables.length ? { named: earlier, tables: others } : { named, tables };
}

/**
 * Returns the state with the new names, without what is removed before the renames. Relations of objects whose names
 * others take would otherwise belong to the others.
 */
function* afterRenames(from: State, to: State, renames: Renames): Resumable<Rewritten> {
  const cleared = removeBeforeRenames(from, to, renames);
  const named = yield* withRenames(cleared.toState(), renames);
  return { ...named, touched: new Set([...cleared.touched, ...named.touched]) };
}

/** Leaves out partitions that do not fit their table, and those whose table neither exists nor is restored. */
function attachableTo<T extends TrashNode>({ collections }: State, entries: readonly T[]): T[] {
  const restored = new Map(entries.map((entry) => [entry.node.collection.collection, entry.node]));
  const isAttachable = (node: CollectionNode): boolean => {
    const table = extrasOf(node).partition_of?.table;
    if (table === undefined) return true;
    const existing = collections.get(table);
    const parent = existing ?? restored.get(table);
    if (parent === undefined || !acceptsPartition(parent, node)) return false;
    return existing !== undefined || isAttachable(parent);
  };
  return entries.filter(({ node }) => isAttachable(node));
}

/** True if the partition has the columns and CHECK constraints that PostgreSQL requires. */
function acceptsPartition(table: CollectionNode, partition: CollectionNode): boolean {
  const columns = columnsOf(table);
  const isSame = ({ schema }: ColumnField, own: Field | undefined): boolean =>
    hasColumn(own) &&
    isSameType(own.schema, schema) &&
    own.schema.extras?.collation === schema.extras?.collation &&
    own.schema.generation_expression === schema.generation_expression &&
    (schema.is_nullable || !own.schema.is_nullable);
  const own = extrasOf(partition).constraints ?? [];
  const hasCheck = ({ name, definition }: { name: string; definition: string }): boolean =>
    !definition.startsWith('CHECK') || own.some((each) => each.name === name && each.definition === definition);
  return (
    columns.length === columnsOf(partition).length &&
    columns.every((each) => isSame(each, partition.fields.get(each.field))) &&
    (extrasOf(table).constraints ?? []).every(hasCheck)
  );
}

const columnsOf = ({ fields }: CollectionNode): ColumnField[] => [...fields.values()].filter(hasColumn);

function namesByIdentity(state: State, names: Iterable<string>): ReadonlyMap<Identity, string> {
  const nameByIdentity = new Map<Identity, string>();
  for (const name of names) {
    const identity = state.collections.get(name)?.identities.collection;
    if (identity !== undefined) nameByIdentity.set(identity, name);
  }
  return nameByIdentity;
}

/** Returns a collection as it is after a rename. */
function* renameAlone(node: CollectionNode, name: string): Resumable<CollectionNode> {
  const { collection } = node.collection;
  if (collection === name) return node;
  const empty = initialState();
  const alone = { ...empty, collections: empty.collections.set(collection, { ...node, relations: new Map() }) };
  const { state } = yield* withRenames(alone, { ...NO_RENAMES, collections: new Map([[collection, name]]) });
  return state.collections.get(name) as CollectionNode;
}

/**
 * Returns the collection as the trash contains it. The deletion removed foreign keys to other tables, and the group may
 * no longer exist.
 */
function toRestored(node: CollectionNode, isThere: (name: string) => boolean): CollectionNode {
  const { collection } = node;
  const { group } = collection.meta;
  const schema = collection.schema && withoutReferences(collection.schema, (table) => table !== collection.collection);
  const meta = { ...collection.meta, group: group !== null && isThere(group) ? group : null };
  return { ...node, collection: { ...collection, schema, meta } };
}

/* Finds objects that a transition creates and that existed before. */

/** Identities by name. The key is the name of a collection, or the `memberKey` of a field. */
export type RecreatedObjects = ReadonlyMap<string, Identity>;

/** Returns the tables and columns that only the target state contains, by the names in that state. */
export function recreatedObjects({ from, to, touched }: Omit<TransitionRequest, 'options'>): RecreatedObjects {
  const before = new Map<Identity, CollectionNode>();
  const names = [...touched];
  for (const name of names) {
    const node = from.collections.get(name);
    if (node !== undefined) before.set(node.identities.collection, node);
  }
  const identities = new Map<string, Identity>();
  for (const name of names) {
    const node = to.collections.get(name);
    if (node === undefined || isFolder(node)) continue;
    const { collection: identity } = node.identities;
    const old = before.get(identity);
    if (old === undefined && identity !== NEW_IDENTITY) identities.set(name, identity);
    if (old !== node) noteColumns(identities, node, old);
  }
  return identities;
}

function noteColumns(
  identities: Map<string, Identity>,
  node: CollectionNode,
  before: CollectionNode | undefined,
): void {
  const had = new Set(before?.identities.fields.values());
  for (const { collection, field, schema } of node.fields.values()) {
    const identity = node.identities.fields.get(field) ?? NEW_IDENTITY;
    if (schema === null || schema.generation_expression !== null || identity === NEW_IDENTITY || had.has(identity))
      continue;
    identities.set(memberKey(collection, field), identity);
  }
}

/* Decides which trash entries can be restored by a transition. */

/** Returns the restorable entries, tables first, because fields may be restored into them. */
export function* restorableEntries<T extends TrashNode>(
  request: TransitionRequest,
  entries: readonly T[],
): Resumable<T[]> {
  const { to } = request;
  const fitting: T[] = [];
  for (const each of entries) {
    yield;
    if (each.kind === 'collection' && explainUnfitTable(each.node, request) === null) fitting.push(each);
  }
  const { state: from, tables } =
    fitting.length === 0 ? { state: request.from, tables: [] } : yield* withTables(request, fitting);
  const fits = [...tables];
  for (const each of entries) {
    yield;
    if (each.kind === 'field' && explainUnfitField(each, { from, to }) === null) fits.push(each);
  }
  return fits;
}

function explainUnfitTable(
  before: CollectionNode,
  { from, to }: Pick<TransitionRequest, 'from' | 'to'>,
): string | null {
  const after = sameCollection(to, before);
  if (after === undefined || isFolder(after)) return 'the change does not include it';
  // A diff matches by name. If a table already has the name, the diff changes that table and cannot replace it.
  const named = from.collections.get(after.collection.collection);
  if (named !== undefined && sameCollection(to, named) === undefined) return 'another table has its name';
  const parts = ['partition_by', 'partition_of'] as const;
  const [old, now] = [extrasOf(before), extrasOf(after)];
  if (parts.some((part) => !jsonEqual(old[part], now[part]))) return 'it has a different partitioning';
  const changed = [...after.fields.values()].find((field) => isAnother(before, after, field));
  return changed === undefined ? null : `${JSON.stringify(changed.field)} has an incompatible type there`;
}

/** True if a column changes from or to an unsupported type, which PostgreSQL cannot convert. */
function isAnother(before: CollectionNode, after: CollectionNode, now: Field): boolean {
  const name = fieldNameOf(before, after.identities.fields.get(now.field));
  const old = name === undefined ? undefined : before.fields.get(name);
  if (!old?.schema || !now.schema || (old.type !== 'unknown' && now.type !== 'unknown')) return false;
  return !isSameType(old.schema, now.schema);
}

function explainUnfitField(each: TrashNode, { from, to }: Pick<TransitionRequest, 'from' | 'to'>): string | null {
  const { identity, node } = each;
  const after = sameCollection(to, node);
  const now = after && fieldOf(after, identity);
  const old = fieldOf(node, identity);
  if (after === undefined || !now?.schema || !old?.schema) return 'the change does not include it';
  return each.empty === true ? null : explainUnfitValues(node, { from, now: now.schema, old: old.schema, after });
}

function explainUnfitValues(
  node: CollectionNode,
  { from, now, old, after }: { from: State; now: ColumnSchema; old: ColumnSchema; after: CollectionNode },
): string | null {
  if (now.generation_expression !== null) return 'its values are computed there';
  if (!isSameType(now, old)) return `its values have the type ${old.data_type}`;
  // During the transition, a changed key does not exist.
  return keyChange(node, sameCollection(from, node)) ?? keyChange(node, after);
}

function fieldOf({ fields, identities }: CollectionNode, identity: Identity): Field | undefined {
  for (const [name, each] of identities.fields) if (each === identity) return fields.get(name);
  return undefined;
}

/** Returns why values that refer to the former key cannot be matched with the current key. Null if they can. */
export function keyChange(then: CollectionNode, now: CollectionNode | undefined): string | null {
  if (now === undefined) return 'its table no longer exists';
  const key = (node: CollectionNode) =>
    new Map(primaryKeyOf(node).map((field) => [node.identities.fields.get(field.field) ?? '', field]));
  const [old, new_] = [key(then), key(now)];
  const isSame = old.size === new_.size && [...old.keys()].every((identity) => new_.has(identity));
  if (!isSame) return 'its primary key has changed';
  const retyped = [...old].find(([identity, field]) => !areAlike(field, new_.get(identity) as Field));
  return retyped === undefined ? null : `the type of the primary key ${JSON.stringify(retyped[1].field)} has changed`;
}

const ALIKE = [
  ['smallint', 'integer', 'bigint'],
  ['text', 'character varying'],
] as const satisfies string[][];

/** True if PostgreSQL can compare values of both types. */
function areAlike({ schema: a }: Field, { schema: b }: Field): boolean {
  if (a === null || b === null) return false;
  if (isSameType(a, b)) return true;
  return ALIKE.some((types: readonly string[]) => types.includes(a.data_type) && types.includes(b.data_type));
}

const TYPE = ['data_type', 'max_length', 'numeric_precision', 'numeric_scale'] as const;

const isSameType = (a: ColumnSchema, b: ColumnSchema): boolean =>
  TYPE.every((member) => a[member] === b[member]) && a.extras?.precision === b.extras?.precision;
