/**
 * Translates the three states to common names. Afterwards, objects with equal names are the same object, or two
 * additions with one name.
 */
import { jsonEqual } from '../../kernel/json.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Names } from '../fold/replace-names.js';
import { OBJECT_KINDS, type ObjectKind, isFreeOnTable, isOnTable, objectKey } from '../model/objects.js';
import { qualifiedId, splitQualifiedId } from '../model/object-ids.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  type StoredLocation,
  NEW_IDENTITY,
  byName,
  getObject,
  hasTableNamed,
  isElsewhere,
  storedLocation,
} from '../model/state.js';
import { definitionOnTable } from '../sql-text/object-definition.js';
import { tableOf } from '../sql-text/object-table.js';
import { Draft } from '../transition/draft.js';
import type { Rewritten, UnwrittenText } from '../transition/rename-texts.js';
import { NO_RENAMES, type Renames, isNone, renamedTables, renamesBetween, withRenames } from '../transition/renames.js';
import { type Merging, type Sides, settle } from './documents.js';
import type { MergeLocation, Side, ConflictKind } from './model.js';
import { relationBody } from '../transition/context.js';

/* Merge names. A rename on one side is applied, and renames on both sides must agree. */

/** An object of the base, with its name in each state. */
interface NamedObjectSides {
  base: string;
  /** Undefined if that side removed it. */
  ours: string | undefined;
  theirs: string | undefined;
  /** True if one side removed it and the other changed it. */
  isChanged: () => boolean;
}

interface NameMerge {
  things: readonly NamedObjectSides[];
  /** True if the side has a new object with the name. */
  isNew(side: Side, name: string): boolean;
  /**
   * Returns the decision about a name. `name` is the name in the base, or a name that the sides gave to two objects.
   */
  decided(name: string): Side | undefined;
  conflict(about: { kind: ConflictKind; message: string; base: string } & Partial<Record<Side, string>>): void;
}

/** Maps names in the base to merged names, for objects that a side renamed. */
function mergedNames(naming: NameMerge): ReadonlyMap<string, string> {
  const final = new Map<string, string>();
  const things: NamedObjectSides[] = [];
  for (const thing of naming.things) {
    const name = nameOf(thing, naming);
    // A name without a decision cannot conflict with other names.
    if (name === undefined) continue;
    things.push(thing);
    if (isRenamed(thing)) final.set(thing.base, name);
  }
  const holders = holdersOf(things, final);
  for (const name of [...new Set(final.values())].sort(byName)) {
    if ((holders.get(name) ?? []).length > 1 || isTaken(naming, name)) decideTaken(naming, { things, final, name });
  }
  return final;
}

interface TakenNames {
  things: readonly NamedObjectSides[];
  final: Map<string, string>;
  name: string;
}

/**
 * Resolves a name that several objects would get. Each of them gets the name that it has on the selected side. Without
 * a decision, this is the side of ours.
 */
function decideTaken({ decided, conflict }: NameMerge, { things, final, name }: TakenNames): void {
  const take = decided(name);
  const holders = things.filter(({ base }) => final.get(base) === name);
  if (take === undefined) conflict({ kind: 'name_taken', message: TAKEN, base: name, ...findNewNames(holders, name) });
  for (const thing of holders) final.set(thing.base, thing[take ?? 'ours'] ?? thing.base);
}

const TAKEN = 'both sides gave this name to different objects';

/** Returns the renamed objects that got this name, by side. */
const findNewNames = (things: readonly NamedObjectSides[], name: string): Partial<Record<Side, string>> =>
  Object.fromEntries(
    (['ours', 'theirs'] as const).flatMap((side) => {
      const thing = things.find((each) => each[side] === name && each.base !== name);
      return thing === undefined ? [] : [[side, thing.base]];
    }),
  );

const isRenamed = ({ base, ours = base, theirs = base }: NamedObjectSides): boolean => ours !== base || theirs !== base;

function nameOf(
  { base, ours = base, theirs = base }: NamedObjectSides,
  { decided, conflict }: NameMerge,
): string | undefined {
  if (ours === theirs || theirs === base) return ours;
  if (ours === base) return theirs;
  const take = decided(base);
  if (take !== undefined) return take === 'theirs' ? theirs : ours;
  conflict({ kind: 'renamed', message: 'both sides renamed it differently', base, ours, theirs });
  return undefined;
}

/**
 * Returns the objects that would have a name after the merge. Objects that one side removed and the other left
 * unchanged are omitted.
 */
function holdersOf(
  things: readonly NamedObjectSides[],
  final: ReadonlyMap<string, string>,
): ReadonlyMap<string, NamedObjectSides[]> {
  const holders = new Map<string, NamedObjectSides[]>();
  for (const thing of things) {
    const name = final.get(thing.base) ?? thing.base;
    const isThere = (thing.ours !== undefined && thing.theirs !== undefined) || thing.isChanged();
    if (isThere) holders.set(name, [...(holders.get(name) ?? []), thing]);
  }
  return holders;
}

const isTaken = ({ isNew }: NameMerge, name: string): boolean => isNew('ours', name) || isNew('theirs', name);

/* Compare collections of two states without relation ids, which belong to the log. */

/** True if the collections are equal, except for identities and for the order of fields and relations. */
export function isSameNode(a: CollectionNode, b: CollectionNode): boolean {
  if (a === b) return true;
  if (a.fields.size !== b.fields.size || a.relations.size !== b.relations.size) return false;
  if (!jsonEqual(a.collection, b.collection)) return false;
  for (const [name, field] of a.fields) if (!jsonEqual(field, b.fields.get(name))) return false;
  for (const [name, relation] of a.relations) {
    const other = b.relations.get(name);
    if (other === undefined || !jsonEqual(relationBody(relation), relationBody(other))) return false;
  }
  return true;
}

export interface RenamedSides {
  base: State;
  ours: State;
  theirs: State;
  /** The renames relative to ours. */
  renames: Renames;
  /** Names of the collections of ours that the renames change. */
  touched: ReadonlySet<string>;
  /** SQL of ours that may contain an old name. */
  unwritten: readonly UnwrittenText[];
}

type States = Record<'base' | Side, State>;

/**
 * Returns the states with common names. If renames conflict, adds the conflicts to `merging` and does not rename
 * columns.
 */
export function* renameSides(sides: States, merging: Merging): Resumable<RenamedSides> {
  const states = withObjectNames(sides, merging, (kind) => !isOnTable({ kind }));
  // Triggers and policies follow the names of their tables and views.
  const withObjectsOnTables = (named: States): States => withObjectNames(named, merging, (kind) => isOnTable({ kind }));
  if (areNamedAlike(states))
    return { ...withObjectsOnTables(states), renames: NO_RENAMES, touched: new Set(), unwritten: [] };
  const named = yield* renameTables(states, merging);
  const tables = { ...named, ...withObjectsOnTables(named) };
  return merging.conflicts.length > 0 ? tables : yield* renameColumns(tables, merging);
}

/** Renames the objects that one side renamed. Each kind of object has its own namespace. */
function withObjectNames(
  { base, ours, theirs }: States,
  merging: Merging,
  isIncluded: (kind: ObjectKind) => boolean,
): States {
  const states = { base, ours, theirs };
  if (base.objects.isEmpty() || (base.objects === ours.objects && base.objects === theirs.objects)) return states;
  return OBJECT_KINDS.filter(isIncluded).reduce((renamed, kind) => withNamesOfKind(renamed, kind, merging), states);
}

function withNamesOfKind(states: States, kind: ObjectKind, merging: Merging): States {
  const { base, ours, theirs } = states;
  const held = { ours: objectsByIdentity(ours, kind), theirs: objectsByIdentity(theirs, kind) };
  const baseNames = objectsByIdentity(base, kind);
  const things = [...baseNames].map(([identity, name]): NamedObjectSides => {
    const names = { ours: held.ours.get(identity), theirs: held.theirs.get(identity) };
    const side = names.ours === undefined ? theirs : ours;
    const now = getObject(side, { kind, id: names.ours ?? names.theirs ?? '' });
    return { base: name, ...names, isChanged: () => !jsonEqual(now, getObject(base, { kind, id: name })) };
  });
  const identities = new Set(baseNames.keys());
  const final = mergedNames({
    things,
    isNew: (side, id) => isUnknown(states[side].objects.get(objectKey({ kind, id }))?.identity, identities),
    ...createNaming(merging, (id) => ({ part: 'objects', kind, id, path: ['id'] })),
  });
  const named = (side: 'base' | Side): State => withObjectsRenamed(states[side], kind, namesTo(things, side, final));
  return { base: named('base'), ours: named('ours'), theirs: named('theirs') };
}

function objectsByIdentity({ objects }: State, kind: ObjectKind): ReadonlyMap<Identity, string> {
  const names = new Map<Identity, string>();
  for (const { identity, object } of objects.values())
    if (object.kind === kind && identity !== NEW_IDENTITY) names.set(identity, object.id);
  return names;
}

function withObjectsRenamed(state: State, kind: ObjectKind, names: Names): State {
  if (names.size === 0) return state;
  const draft = new Draft(state);
  const taken = [...names].flatMap(([id, to]) => {
    const node = draft.extractObject({ kind, id });
    return node === undefined ? [] : [{ node, to }];
  });
  draft.putRenamed(taken);
  return draft.toState();
}

/** A fast check that nothing was renamed, which is true for most merges. */
function areNamedAlike({ base, ours, theirs }: States): boolean {
  for (const side of [ours, theirs]) {
    const names = new Set([...base.collections.keys(), ...side.collections.keys()]);
    if (!isNone(renamesBetween(base, side, names))) return false;
  }
  return true;
}

function* renameTables(states: States, merging: Merging): Resumable<RenamedSides> {
  const { base, ours, theirs } = states;
  const held = { ours: tablesByIdentity(ours), theirs: tablesByIdentity(theirs) };
  const baseIdentities = new Set(tablesByIdentity(base).keys());
  const things: NamedObjectSides[] = [];
  for (const [name, node] of base.collections) {
    yield;
    const nameByTable = {
      ours: held.ours.get(node.identities.collection),
      theirs: held.theirs.get(node.identities.collection),
    };
    things.push({ base: name, ...nameByTable, isChanged: () => isChanged({ ...states, node }, nameByTable) });
  }
  const final = mergedNames({
    things,
    isNew: (side, name) => isUnknown(states[side].collections.get(name)?.identities.collection, baseIdentities),
    ...createNaming(merging, (name) => ({ part: 'collections', collection: name, path: ['collection'] })),
  });
  const located = mergedLocations(states, things);
  const to = (side: 'base' | Side): Renames => ({
    ...NO_RENAMES,
    collections: namesTo(things, side, final),
    locations: locationsTo(states[side], { things, side, final, located }),
  });
  const named = yield* withRenames(ours, to('ours'));
  const follow = (side: 'base' | Side, { state }: { state: State }): State =>
    withTablesOfStatistics(states[side], state, to(side));
  return {
    base: follow('base', yield* withRenames(base, to('base'))),
    theirs: follow('theirs', yield* withRenames(theirs, to('theirs'))),
    ours: named.state,
    renames: to('ours'),
    touched: named.touched,
    unwritten: named.unwritten,
  };
}

/** Maps names in the base to merged locations of tables, for tables that a side moved. */
function mergedLocations(states: States, things: readonly NamedObjectSides[]): ReadonlyMap<string, StoredLocation> {
  const located = new Map<string, StoredLocation>();
  const tableIn = ({ collections }: State, name = '') => collections.get(name)?.collection;
  for (const { base, ...names } of things) {
    const was = tableIn(states.base, base);
    const [ours, theirs] = [tableIn(states.ours, names.ours), tableIn(states.theirs, names.theirs)];
    if (was === undefined || ours === undefined || theirs === undefined) continue;
    if (![ours, theirs].some((side) => isElsewhere(was, side))) continue;
    // Different moves are conflicts of the members.
    const merged = settle({ base: storedLocation(was), ours: storedLocation(ours), theirs: storedLocation(theirs) });
    if (merged !== null) located.set(base, merged.value);
  }
  return located;
}

interface MergedNames {
  things: readonly NamedObjectSides[];
  side: 'base' | Side;
  final: ReadonlyMap<string, string>;
  located: ReadonlyMap<string, StoredLocation>;
}

/** Returns the moves of one side, by merged names. */
function locationsTo({ collections }: State, { things, side, final, located }: MergedNames): Renames['locations'] {
  const locations = new Map<string, StoredLocation>();
  for (const thing of things) {
    const [location, node] = [located.get(thing.base), collections.get(thing[side] ?? '')];
    if (location === undefined || node === undefined || jsonEqual(location, storedLocation(node.collection))) continue;
    locations.set(final.get(thing.base) ?? thing.base, location);
  }
  return locations;
}

/**
 * Renames the tables of statistics objects, whose ids contain only the schema. PostgreSQL rewrites those of ours after a
 * rename.
 */
function withTablesOfStatistics(before: State, after: State, renames: Renames): State {
  if (isNone(renames) || after.objects.isEmpty()) return after;
  const names = new Map(
    [...renamedTables(before, renames)].flatMap(([old, now]): [string, string][] => {
      // The statistics objects of a table that moves are in its new schema.
      const moved = qualifiedId({ ...splitQualifiedId(now), name: splitQualifiedId(old).name });
      return moved === old || !hasTableNamed(before, moved) ? [[moved, now]] : [];
    }),
  );
  const draft = new Draft(after);
  for (const { object } of after.objects.values()) {
    const to = isFreeOnTable(object) ? names.get(tableOf(object) ?? '') : undefined;
    if (to !== undefined) draft.putObject({ ...object, definition: definitionOnTable(object, to) });
  }
  return draft.toState();
}

/** True if the identity does not exist in the base. */
const isUnknown = (identity: Identity | undefined, identities: ReadonlySet<Identity>): boolean =>
  identity !== undefined && (identity === NEW_IDENTITY || !identities.has(identity));

function tablesByIdentity({ collections }: State): ReadonlyMap<Identity, string> {
  const nameByIdentity = new Map<Identity, string>();
  for (const [name, { identities }] of collections) {
    if (identities.collection !== NEW_IDENTITY) nameByIdentity.set(identities.collection, name);
  }
  return nameByIdentity;
}

function isChanged(
  { ours, theirs, node }: States & { node: CollectionNode },
  names: Record<Side, string | undefined>,
): boolean {
  const side = names.ours === undefined ? theirs : ours;
  const now = side.collections.get(names.ours ?? names.theirs ?? '');
  return now !== undefined && !isSameNode(node, now);
}

function createNaming({ decisions, conflicts }: Merging, placeOf: (name: string) => MergeLocation) {
  return {
    decided: (name: string) => decisions.at(placeOf(name)),
    conflict: ({ kind, message, base, ...names }: Parameters<Parameters<typeof mergedNames>[0]['conflict']>[0]) =>
      void conflicts.push({ kind, place: placeOf(base), message, base, ...names }),
  };
}

/** Returns the renames of one side. */
function namesTo(things: readonly NamedObjectSides[], side: 'base' | Side, final: ReadonlyMap<string, string>): Names {
  const names = new Map<string, string>();
  for (const thing of things) {
    const [now, name] = [thing[side], final.get(thing.base)];
    if (now !== undefined && name !== undefined && now !== name) names.set(now, name);
  }
  return names;
}

/** Renames fields of collections with common names. */
function* renameColumns(renamed: RenamedSides, merging: Merging): Resumable<RenamedSides> {
  const namesByTable = {
    base: new Map<string, Names>(),
    ours: new Map<string, Names>(),
    theirs: new Map<string, Names>(),
  };
  for (const [name, node] of renamed.base.collections) {
    yield;
    const nodes = {
      base: node,
      ours: renamed.ours.collections.get(name),
      theirs: renamed.theirs.collections.get(name),
    };
    if (!haveOtherNames(nodes)) continue;
    const things = [...node.fields.keys()].map((field) => readFieldNames(nodes, field));
    const columnIdentities = new Set(node.identities.fields.values());
    const final = mergedNames({
      things,
      isNew: (side, field) => isUnknown(nodes[side]?.identities.fields.get(field), columnIdentities),
      ...createNaming(merging, (field) => ({ part: 'fields', collection: name, field, path: ['field'] })),
    });
    for (const side of ['base', 'ours', 'theirs'] as const) {
      const names = namesTo(things, side, final);
      if (names.size > 0) namesByTable[side].set(name, names);
    }
  }
  return yield* withFieldNames(renamed, namesByTable);
}

function* withFieldNames(
  renamed: RenamedSides,
  fields: Record<'base' | Side, ReadonlyMap<string, Names>>,
): Resumable<RenamedSides> {
  const named = function* (side: 'base' | Side): Resumable<Rewritten> {
    return yield* withRenames(renamed[side], { ...NO_RENAMES, fields: fields[side] });
  };
  const [base, ours, theirs] = [yield* named('base'), yield* named('ours'), yield* named('theirs')];
  return {
    ...renamed,
    base: base.state,
    theirs: theirs.state,
    ours: ours.state,
    renames: { ...renamed.renames, fields: fields.ours },
    touched: new Set([...renamed.touched, ...ours.touched]),
    unwritten: [...renamed.unwritten, ...ours.unwritten],
  };
}

/** True if a side renamed a field of the base. */
function haveOtherNames({ base, ours, theirs }: Sides<CollectionNode>): boolean {
  const fields = base?.identities.fields;
  return [ours, theirs].some((side) => {
    if (side === undefined || fields === undefined || side.identities.fields === fields) return false;
    const missing = [...fields].filter(([name, identity]) => side.identities.fields.get(name) !== identity);
    if (missing.length === 0) return false;
    const there = new Set(side.identities.fields.values());
    return missing.some(([, identity]) => identity !== NEW_IDENTITY && there.has(identity));
  });
}

function readFieldNames({ base, ours, theirs }: Sides<CollectionNode>, field: string): NamedObjectSides {
  const identity = base?.identities.fields.get(field) ?? NEW_IDENTITY;
  const nameIn = (node: CollectionNode | undefined): string | undefined => {
    if (identity === NEW_IDENTITY) return node?.fields.has(field) === true ? field : undefined;
    for (const [name, each] of node?.identities.fields ?? []) if (each === identity) return name;
    return undefined;
  };
  const names = { ours: nameIn(ours), theirs: nameIn(theirs) };
  const isChangedIn = (node: CollectionNode | undefined, name: string | undefined): boolean =>
    name !== undefined && (name !== field || !jsonEqual(base?.fields.get(field), node?.fields.get(name)));
  return {
    base: field,
    ...names,
    isChanged: () => (names.ours === undefined ? isChangedIn(theirs, names.theirs) : isChangedIn(ours, names.ours)),
  };
}
