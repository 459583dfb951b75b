/**
 * Finds renames between two states by identity and creates their events. Names are released before other objects take
 * them: objects are removed first, and objects that swap names use a temporary name.
 */
import { invertMap } from '../../kernel/lists-and-maps.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Names, type Renaming, withCollectionNames, withFieldNames } from '../fold/replace-names.js';
import { type NewEvent, type DocumentPatch, newEvent } from '../model/events.js';
import { ancestorsOf } from '../model/order.js';
import {
  type CollectionNode,
  type Identities,
  type Identity,
  type State,
  type StoredLocation,
  NEW_IDENTITY,
  byName,
  collectionAt,
  groupedIn,
  isElsewhere,
  partitionsOf,
  referencesTo,
  sameCollection,
  storedLocation,
  tableIdOf,
  tableNameOf,
} from '../model/state.js';
import { dropCollection, dropField } from './cascade.js';
import { Draft } from './draft.js';
import { type Rewritten, type UnwrittenText, withTexts, reaching } from './rename-texts.js';
import { qualifiedId } from '../model/object-ids.js';
import { renameOnTables } from './objects.js';
import { jsonEqual } from '../../kernel/json.js';
import { patchBetween } from '../fold/rename-events.js';

/* Creates the event of a rename, with the changes that the fold cannot derive. */

/** Builds the indexes that renames need, in separate steps. Each index takes 12 ms for ten thousand collections. */
function* lookUpForRenames(state: State): Resumable<void> {
  for (const find of [groupedIn, referencesTo, partitionsOf]) {
    find(state, '');
    yield;
  }
  reaching(state.collections, '');
}

/** Returns the state with new names, including in texts. */
function withNewNames(state: State, renaming: Renaming): Rewritten {
  const touched = new Set<string>();
  const rewritten = withTexts(state, byNewNames(state, renaming, touched), renaming);
  return { ...rewritten, touched: new Set([...touched, ...rewritten.touched]) };
}

/** Returns the state that the fold derives from the new names alone. */
const byNewNames = (state: State, renaming: Renaming, touched: Set<string>): State =>
  'collections' in renaming
    ? withCollectionNames(state, renaming.collections, touched)
    : withFieldNames(state, renaming, touched);

interface Rename {
  collection: string;
  /** Null to rename the collection itself. */
  field: string | null;
  to: string;
  /** The new location of the table. Undefined if the table does not move. */
  location?: StoredLocation | undefined;
}

/** Returns the event of a rename and the state after it. */
export function renameEvent(state: State, rename: Rename): { event: NewEvent; after: State } {
  const { collection, field, to, location } = rename;
  const names: Names = new Map([[field ?? collection, to]]);
  const locations = location && new Map([[to, location]]);
  const renaming: Renaming = field === null ? { collections: names, locations } : { collection, fields: names };
  const touched = new Set<string>();
  const named = byNewNames(state, renaming, touched);
  const { state: after, touched: written } = withTexts(state, named, renaming);
  const isOther = (name: string) => name !== collection && !(field === null && name === to);
  const touches = [...new Set([...touched, ...written])].filter(isOther).sort(byName);
  const patches = [...written].sort(byName).flatMap((name) => patchesOf(named, after, name));
  const event = newEvent(field === null ? 'collection.renamed' : 'field.renamed', collection, field, {
    to,
    ...(touches.length > 0 && { touches }),
    ...(patches.length > 0 && { patches }),
  });
  return { event, after };
}

function patchesOf(before: State, after: State, collection: string): DocumentPatch[] {
  const [old, now] = [before, after].map((state) => state.collections.get(collection)) as [
    CollectionNode,
    CollectionNode,
  ];
  const patches: DocumentPatch[] = [];
  const note = (of: Omit<DocumentPatch, 'patch'>, from: object, to: object): void => {
    if (from !== to && !jsonEqual(from, to)) patches.push({ ...of, patch: patchBetween(from, to) });
  };
  note({ collection }, old.collection, now.collection);
  for (const [field, value] of now.fields) note({ collection, field }, old.fields.get(field) ?? value, value);
  for (const [relation, value] of now.relations)
    note({ collection, relation }, old.relations.get(relation) ?? value, value);
  return patches;
}

export interface Renames {
  /** Maps old names of collections to new names. */
  collections: Names;
  /** Maps old names of fields to new names, per collection (by its new name). */
  fields: ReadonlyMap<string, Names>;
  /** The new locations of tables that move to another schema, by the new names of their collections. */
  locations: ReadonlyMap<string, StoredLocation>;
}

export const NO_RENAMES: Renames = { collections: new Map(), fields: new Map(), locations: new Map() };

/** True if nothing is renamed and no table moves. */
export const isNone = ({ collections, fields, locations }: Renames): boolean =>
  collections.size === 0 && fields.size === 0 && locations.size === 0;

/** Returns the names of renamed collections, and of collections whose tables move but that keep their names. */
function withKeptNames({ collections, locations }: Renames): Names {
  const named = new Set(collections.values());
  const kept = [...locations.keys()].filter((name) => !named.has(name));
  return kept.length === 0 ? collections : new Map([...collections, ...kept.map((name) => [name, name] as const)]);
}

/** @param touched collections that may differ, by the names of both states */
export function renamesBetween(from: State, to: State, touched: Iterable<string>): Renames {
  const names = [...new Set(touched)].sort(byName);
  const before = namesByIdentity(from, names);
  const collections = new Map<string, string>();
  const fields = new Map<string, Names>();
  const locations = new Map<string, StoredLocation>();
  for (const name of names) {
    const now = to.collections.get(name);
    const former = now && before.get(now.identities.collection);
    if (now === undefined || former === undefined) continue;
    if (former !== name) collections.set(former, name);
    const old = from.collections.get(former) as CollectionNode;
    if (isElsewhere(old.collection, now.collection)) locations.set(name, storedLocation(now.collection));
    const renamed = findRenamedFields(old, now);
    if (renamed.size > 0) fields.set(name, renamed);
  }
  return { collections, fields, locations };
}

function namesByIdentity({ collections }: State, names: readonly string[]): ReadonlyMap<Identity, string> {
  const nameByIdentity = new Map<Identity, string>();
  for (const name of names) {
    const identity = collections.get(name)?.identities.collection ?? NEW_IDENTITY;
    if (identity !== NEW_IDENTITY) nameByIdentity.set(identity, name);
  }
  return nameByIdentity;
}

function findRenamedFields({ identities: before }: CollectionNode, { identities: after }: CollectionNode): Names {
  const renamed = new Map<string, string>();
  if (before.fields === after.fields) return renamed;
  const others: [string, Identity][] = [];
  for (const [name, identity] of after.fields) {
    if (identity !== NEW_IDENTITY && before.fields.get(name) !== identity) others.push([name, identity]);
  }
  const names = others.length === 0 ? new Map<Identity, string>() : fieldsByIdentity(before);
  for (const [name, identity] of others) {
    const former = names.get(identity);
    if (former !== undefined) renamed.set(former, name);
  }
  return renamed;
}

function fieldsByIdentity({ fields }: Identities): ReadonlyMap<Identity, string> {
  const names = new Map<Identity, string>();
  for (const [name, identity] of fields) {
    names.set(identity, name);
  }
  return names;
}

/**
 * Returns the state with the names of another state, for diffs and checks. Objects whose names are taken by others are
 * removed, but references to these names stay.
 */
export function* withRenames(from: State, renames: Renames): Resumable<Rewritten> {
  const { collections, fields, locations } = renames;
  const touched = new Set<string>();
  const unwritten: UnwrittenText[] = [];
  const without = new Draft(from);
  for (const name of findNamesInTheWay(collections, (each) => from.collections.has(each)))
    without.removeCollection(name);
  let state = commitDraft(from, without, touched);
  const take = (named: Rewritten): void => {
    for (const name of named.touched) touched.add(name);
    unwritten.push(...named.unwritten);
    ({ state } = named);
  };
  for (const names of groupsOf(withKeptNames(renames))) {
    yield;
    yield* lookUpForRenames(state);
    take(withNewNames(state, { collections: names, locations: selectLocations(locations, names) }));
  }
  state = { ...state, objects: renameOnTables(state.objects, renamedTables(from, renames)) };
  for (const [collection, names] of fields) {
    yield;
    yield* lookUpForRenames(state);
    const draft = new Draft(state);
    const node = state.collections.get(collection);
    for (const field of findNamesInTheWay(names, (each) => node?.fields.has(each) === true))
      draft.removeField(collection, field);
    state = commitDraft(state, draft, touched);
    take(withNewNames(state, { collection, fields: names }));
  }
  return { state, touched, unwritten };
}

function selectLocations(locations: Renames['locations'], names: Names): Renames['locations'] {
  const selected = new Set(names.values());
  return locations.size === 0 ? locations : new Map([...locations].filter(([name]) => selected.has(name)));
}

/**
 * Returns the renames and moves of tables, as in `qualifiedId`. A table of the default schema has the name of its
 * collection. A table of another schema keeps its name unless it moves.
 */
export const renamedTables = ({ collections }: State, renames: Renames): Names =>
  new Map(
    [...withKeptNames(renames)].flatMap(([old, now]): [string, string][] => {
      const collection = collections.get(old)?.collection;
      if (collection?.schema == null) return [];
      const at = renames.locations.get(now) ?? storedLocation(collection);
      return [[tableIdOf(collection), qualifiedId({ schema: at.schema, name: at.name ?? now })]];
    }),
  );

/** Maximum number of names that are assigned at once. */
const GROUP = 20;

/**
 * Splits the renames into independent groups. If one object releases a name and another takes it, both are in the same
 * group.
 */
function* groupsOf(names: Names): Generator<Names> {
  const taken = new Set(names.values());
  const isAlone = ([old, now]: [string, string]): boolean => !taken.has(old) && !names.has(now);
  const alone = [...names].filter(isAlone);
  for (let at = 0; at < alone.length; at += GROUP) yield new Map(alone.slice(at, at + GROUP));
  if (alone.length < names.size) yield new Map([...names].filter((each) => !isAlone(each)));
}

function commitDraft(state: State, draft: Draft, touched: Set<string>): State {
  if (draft.touched.size === 0) return state;
  for (const name of draft.touched) touched.add(name);
  return draft.toState();
}

/** Returns the new names whose current owner does not release them. */
export const findNamesInTheWay = (names: Names, isThere: (name: string) => boolean): string[] =>
  [...names.values()].filter((name) => !names.has(name) && isThere(name));

/**
 * Removes what must be gone before the renames: objects whose names others take, with everything that depends on them,
 * and partitions that the target lacks, because PostgreSQL renames their columns together with those of their table.
 */
export function removeBeforeRenames(from: State, to: State, renames: Renames): Draft {
  const { collections, fields } = renames;
  const draft = new Draft(from);
  const gone = findNamesInTheWay(collections, (each) => from.collections.has(each));
  for (const name of [...gone, ...findTablesInTheWay(from, to, renames)])
    if (draft.get(name) !== undefined) dropCollection(draft, from, name);
  const former = invertMap(collections);
  for (const [now, names] of fields) {
    const name = former.get(now) ?? now;
    const node = draft.get(name);
    for (const field of findNamesInTheWay(names, (each) => node?.fields.has(each) === true))
      dropField(draft, from, name, field);
    for (const partition of partitionsWithout(from, to, name))
      if (draft.get(partition) !== undefined) dropCollection(draft, from, partition);
  }
  return draft;
}

/** Returns the collections whose tables are where another table moves, and that the target lacks. */
function findTablesInTheWay(from: State, to: State, { collections, locations }: Renames): string[] {
  const former = invertMap(collections);
  return [...locations].flatMap(([name, { schema, name: table = name }]) => {
    const other = collectionAt(from, schema, table);
    if (other === undefined || other === (former.get(name) ?? name)) return [];
    return sameCollection(to, from.collections.get(other) as CollectionNode) === undefined ? [other] : [];
  });
}

/** Returns the partitions of a table that the target lacks, with their own partitions. */
const partitionsWithout = (from: State, to: State, table: string): string[] =>
  [...partitionsOf(from, table)].flatMap((name) => {
    const node = from.collections.get(name);
    if (node === undefined || sameCollection(to, node) !== undefined) return [];
    return [name, ...partitionsWithout(from, to, name)];
  });

/** Returns the events of the renames and the state after them. The new names must be free. */
export function* renameEvents(from: State, renames: Renames): Resumable<{ events: NewEvent[]; after: State }> {
  const { fields, locations } = renames;
  yield* lookUpForRenames(from);
  const events: NewEvent[] = [];
  let after = from;
  const take = (rename: Rename): void => {
    const next = renameEvent(after, rename);
    events.push(next.event);
    after = next.after;
  };
  const tables: Holders = {
    identityOf: (name) => after.collections.get(name)?.identities.collection ?? '',
    findHolder: (old, to) => findHolder(after, { old, to, location: locations.get(to) }),
  };
  for (const [collection, to, last] of orderRenames(withKeptNames(renames), tables)) {
    const aside = locations.has(last) ? locationAside(after, collection, to) : undefined;
    take({ collection, field: null, to, location: to === last ? locations.get(to) : aside });
    yield;
  }
  // PostgreSQL renames the columns of partitions with those of their parent.
  const depths = new Map([...fields.keys()].map((name) => [name, ancestorsOf(after, name).length]));
  const depth = (name: string): number => depths.get(name) ?? 0;
  for (const [collection, names] of [...fields].sort(([a], [b]) => depth(a) - depth(b) || byName(a, b))) {
    const node = (): CollectionNode | undefined => after.collections.get(collection);
    const columns: Holders = {
      identityOf: (name) => node()?.identities.fields.get(name) ?? '',
      findHolder: (_, to) => (node()?.fields.has(to) === true ? to : undefined),
    };
    for (const [field, to] of orderRenames(names, columns)) {
      take({ collection, field, to });
      yield;
    }
  }
  return { events, after };
}

interface RequestedRename {
  old: string;
  to: string;
  location: StoredLocation | undefined;
}

/**
 * Returns the collection that has the new name, or whose table is at the new location. A table that gets another name in
 * another schema is renamed before it moves, or afterwards. If other tables prevent both, returns the collection itself.
 */
function findHolder(state: State, { old, to, location }: RequestedRename): string | undefined {
  if (to !== old && state.collections.has(to)) return to;
  const node = state.collections.get(old);
  if (location === undefined || node === undefined) return undefined;
  const [from, name] = [storedLocation(node.collection), location.name ?? to];
  const at = (schema: string | undefined, table: string): string | undefined => {
    const holder = collectionAt(state, schema, table);
    return holder === old ? undefined : holder;
  };
  const holder = at(location.schema, name);
  if (holder !== undefined || at(from.schema, name) === undefined) return holder;
  return at(location.schema, tableNameOf(node)) === undefined ? undefined : old;
}

/** Returns the temporary location of a table. Undefined in the default schema, where tables have the names of collections. */
function locationAside(state: State, collection: string, name: string): StoredLocation | undefined {
  const schema = state.collections.get(collection)?.collection.schema?.schema;
  return schema === undefined ? undefined : { schema, name };
}

interface Holders {
  /** Returns the object that must be renamed before this one can get its new name. */
  findHolder(old: string, to: string): string | undefined;
  identityOf(name: string): Identity;
}

/** Yields single renames in an order in which each new name is free, with the last name of each object. */
function* orderRenames(
  names: Names,
  { findHolder: holderOf, identityOf }: Holders,
): Generator<[old: string, to: string, last: string]> {
  const waiting = new Map([...names].sort(([a], [b]) => byName(a, b)));
  for (const first of waiting.keys()) {
    // Each rename in the chain waits for the next one, whose object still has the name.
    const chain = [first];
    const held = new Set(chain);
    for (let old = chain.at(-1); old !== undefined; old = chain.at(-1)) {
      const to = waiting.get(old);
      if (to === undefined) throw new Error(`renames: ${JSON.stringify(old)} keeps its name and blocks another rename`);
      const holder = holderOf(old, to);
      if (holder === undefined) {
        waiting.delete(old);
        chain.pop();
        yield [old, to, to];
      } else if (!held.has(holder)) {
        chain.push(holder);
        held.add(holder);
      } else {
        // To break a cycle, one object gets a temporary name until the others are renamed.
        const isTaken = (name: string) => holderOf('', name) !== undefined || waiting.has(name);
        const aside = freeName(`renaming ${identityOf(holder)}`, isTaken);
        const last = waiting.get(holder) as string;
        waiting.set(aside, last);
        waiting.delete(holder);
        chain[chain.indexOf(holder)] = aside;
        yield [holder, aside, last];
      }
    }
  }
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let count = 1; ; count += 1) {
    const next = count === 1 ? name : `${name} ${count}`;
    if (!isTaken(next)) return next;
  }
}
