/**
 * What two states call otherwise, found by identity; and the events that lead from the one names to the others. Names
 * are given up before they are taken: what goes gives up its name, and those that change places take turns by a name
 * for a moment.
 */
import type { Names } from '../fold/renaming.js';
import type { NewEvent } from '../model/events.js';
import { parentOf } from '../model/order.js';
import { type CollectionNode, type Identity, type State, UNMADE, byName } from '../model/state.js';
import { dropCollection, dropField } from './cascade.js';
import { Draft } from './draft.js';
import { type Rename, renameEvent, withNewNames } from './rename-event.js';
import type { UnwrittenText } from './rename-texts.js';

export interface Renames {
  /** New names by the ones that collections have. */
  collections: Names;
  /** By the collection's new name, the new names of its fields by the ones that they have. */
  fields: ReadonlyMap<string, Names>;
}

export const NO_RENAMES: Renames = { collections: new Map(), fields: new Map() };

export const isNone = ({ collections, fields }: Renames): boolean => collections.size === 0 && fields.size === 0;

/** @param touched the collections that may differ, by the names of both states */
export function renamesBetween(from: State, to: State, touched: Iterable<string>): Renames {
  const names = [...new Set(touched)].sort(byName);
  const before = namesByIdentity(from, names);
  const collections = new Map<string, string>();
  const fields = new Map<string, Names>();
  for (const name of names) {
    const now = to.collections.get(name);
    const former = now && before.get(now.identities.collection);
    if (now === undefined || former === undefined) continue;
    if (former !== name) collections.set(former, name);
    const renamed = fieldsRenamed(from.collections.get(former) as CollectionNode, now);
    if (renamed.size > 0) fields.set(name, renamed);
  }
  return { collections, fields };
}

function namesByIdentity({ collections }: State, names: readonly string[]): ReadonlyMap<Identity, string> {
  const found = new Map<Identity, string>();
  for (const name of names) {
    const identity = collections.get(name)?.identities.collection ?? UNMADE;
    if (identity !== UNMADE) found.set(identity, name);
  }
  return found;
}

function fieldsRenamed({ identities: before }: CollectionNode, { identities: after }: CollectionNode): Names {
  const renamed = new Map<string, string>();
  if (before.fields === after.fields) return renamed;
  const names = new Map([...before.fields].map(([name, identity]) => [identity, name]));
  for (const [name, identity] of after.fields) {
    const former = identity === UNMADE ? undefined : names.get(identity);
    if (former !== undefined && former !== name) renamed.set(former, name);
  }
  return renamed;
}

export interface Aligned {
  state: State;
  /** The collections that have another value, by the names of both. */
  touched: ReadonlySet<string>;
  unwritten: UnwrittenText[];
}

/**
 * The state by the names of another, everything else as it is: what diffs and checks compare with. What has a name that
 * something else gets is gone from it; mentions of that name stay.
 */
export function withRenames(from: State, renames: Renames): Aligned {
  if (isNone(renames)) return { state: from, touched: new Set(), unwritten: [] };
  const unwritten: UnwrittenText[] = [];
  const { collections, fields } = renames;
  const draft = new Draft(from);
  for (const name of inTheWay(collections, (each) => from.collections.has(each))) draft.removeCollection(name);
  let state = draft.touched.size === 0 ? from : draft.toState();
  if (collections.size > 0) {
    const named = withNewNames(state, { collections });
    unwritten.push(...named.unwritten);
    state = named.state;
  }
  for (const [collection, names] of fields) {
    const without = new Draft(state);
    const node = state.collections.get(collection);
    for (const field of inTheWay(names, (each) => node?.fields.has(each) === true))
      without.removeField(collection, field);
    const named = withNewNames(without.touched.size === 0 ? state : without.toState(), { collection, fields: names });
    unwritten.push(...named.unwritten);
    state = named.state;
  }
  return { state, touched: differing(from, state), unwritten };
}

/** The new names that something has which doesn't give them up. */
export const inTheWay = (names: Names, isThere: (name: string) => boolean): string[] =>
  [...names.values()].filter((name) => !names.has(name) && isThere(name));

function differing(before: State, after: State): Set<string> {
  const names = new Set<string>();
  for (const [name, node] of after.collections) if (before.collections.get(name) !== node) names.add(name);
  for (const name of before.collections.keys()) if (!after.collections.has(name)) names.add(name);
  return names;
}

/** What goes before the renames, because it has the name that something else gets: with what depends on it. */
export function withoutInTheWay(from: State, { collections, fields }: Renames): Draft {
  const draft = new Draft(from);
  const gone = inTheWay(collections, (each) => from.collections.has(each));
  for (const name of gone) dropCollection(draft, from, name);
  const former = new Map([...collections].map(([old, now]) => [now, old]));
  for (const [now, names] of fields) {
    const name = former.get(now) ?? now;
    const node = draft.get(name);
    for (const field of inTheWay(names, (each) => node?.fields.has(each) === true)) dropField(draft, from, name, field);
  }
  return draft;
}

/** The events of the renames, and the state after them. No name that is taken is in their way any more. */
export function renameEvents(from: State, { collections, fields }: Renames): { events: NewEvent[]; after: State } {
  const events: NewEvent[] = [];
  let after = from;
  const take = (rename: Rename): void => {
    const next = renameEvent(after, rename);
    events.push(next.event);
    after = next.after;
  };
  const identityOf = (name: string) => after.collections.get(name)?.identities.collection ?? '';
  const tables = { isTaken: (name: string) => after.collections.has(name), identityOf };
  for (const [collection, to] of turns(collections, tables)) take({ collection, field: null, to });
  // PostgreSQL renames the columns of partitions with those of their table.
  for (const [collection, names] of [...fields].sort(([a], [b]) => depth(after, a) - depth(after, b) || byName(a, b))) {
    const node = (): CollectionNode | undefined => after.collections.get(collection);
    const columns = {
      isTaken: (name: string) => node()?.fields.has(name) === true,
      identityOf: (name: string) => node()?.identities.fields.get(name) ?? '',
    };
    for (const [field, to] of turns(names, columns)) take({ collection, field, to });
  }
  return { events, after };
}

function depth(state: State, name: string): number {
  const above = new Set<string>();
  for (let at = parentOf(state, name); at !== undefined && !above.has(at); at = parentOf(state, at)) above.add(at);
  return above.size;
}

interface Holders {
  isTaken(name: string): boolean;
  identityOf(name: string): Identity;
}

/** One rename after the other, each to a name that is free when its turn comes. */
function* turns(names: Names, { isTaken, identityOf }: Holders): Generator<[string, string]> {
  const waiting = new Map([...names].sort(([a], [b]) => byName(a, b)));
  while (waiting.size > 0) {
    const free = [...waiting].find(([, to]) => !isTaken(to));
    if (free !== undefined) {
      waiting.delete(free[0]);
      yield free;
      continue;
    }
    // All that wait are in a circle.
    const [[old, to]] = waiting as unknown as [[string, string]];
    const aside = freeName(`renaming ${identityOf(old)}`, (name) => isTaken(name) || waiting.has(name));
    waiting.delete(old);
    waiting.set(aside, to);
    yield [old, aside];
  }
}

function freeName(name: string, isTaken: (name: string) => boolean): string {
  for (let count = 1; ; count += 1) {
    const next = count === 1 ? name : `${name} ${count}`;
    if (!isTaken(next)) return next;
  }
}
