/* Three-way merge: applies the changes from the base to theirs to ours. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Field, NewRelation } from '../model/model.js';
import { isObjectKind } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  NEW_IDENTITY,
  byName,
  getObject,
  initialState,
} from '../model/state.js';
import { isSameDefinition } from '../sql-text/object-definition.js';
import { relationBody } from '../transition/context.js';
import { Draft } from '../transition/draft.js';
import {
  COLLECTION,
  FIELD,
  type Kind,
  type Merging,
  OBJECT,
  RELATION,
  type Sides,
  mergeDocument,
  createRemovedConflict,
  showSides,
} from './documents.js';
import {
  type CollectionLocation,
  type MergeConflict,
  type MergeLocation,
  type Resolution,
  decisionsOf,
} from './model.js';
import { renameSides, isSameNode, type RenamedSides } from './rename-sides.js';
import type { Json } from '../../kernel/json.js';
import { type Problem, type Result, invalidProblem, ok, refuse } from '../../kernel/problem.js';
import { changeProblems } from '../invariants/index.js';
import { renameProblems } from '../invariants/names.js';
import { type Comparison, type CompareOptions, readDesired } from '../compare/compare-snapshot.js';
import { type ObjectEquality, NO_EQUALITY } from '../compare/desired-state.js';
import { warnAboutLikelyRenames } from '../compare/looks-renamed.js';
import { diffStates } from '../diff/diff.js';
import { snapshotHash } from '../snapshot/snapshot.js';

/* Reports each violated rule of the merged result as a conflict at its location. */

/** @param state the result, with the names of `named` */
function* findInvalid(named: RenamedSides, state: State, touched: ReadonlySet<string>): Resumable<MergeConflict[]> {
  const problems = [
    ...renameProblems(state, named.renames, named.unwritten),
    ...(yield* changeProblems({ from: named.ours, to: state, touched })),
  ];
  return problems.map((problem) => conflictOf(named, problem));
}

function conflictOf(named: RenamedSides, problem: Problem): MergeConflict {
  const location = placeOf(problem);
  const documents = {
    base: documentAt(named.base, location),
    ours: documentAt(named.ours, location),
    theirs: documentAt(named.theirs, location),
  };
  return {
    kind: 'invalid',
    place: location,
    message: `the merged schema is not valid: ${problem.message}`,
    ...showSides(documents),
  };
}

function placeOf({ subject, collection = '', field, object }: Problem): MergeLocation {
  if (object !== undefined && isObjectKind(object.kind)) return { part: 'objects', kind: object.kind, id: object.id };
  const part = subject?.kind === 'relation' ? 'relations' : 'fields';
  return field === undefined ? { part: 'collections', collection } : { part, collection, field };
}

function documentAt(state: State, location: MergeLocation): Json | undefined {
  if (location.part === 'objects') return getObject(state, location);
  const { part, collection, field = '' } = location;
  const node = state.collections.get(collection);
  if (part === 'collections') return node?.collection as unknown as Json;
  if (part === 'fields') return node?.fields.get(field) as unknown as Json;
  const relation = node?.relations.get(field);
  return relation && relationBody(relation);
}

interface MergeSides {
  base: State;
  ours: State;
  theirs: State;
}

export type MergedStates =
  /** The result if there are conflicts. Nothing is merged. */
  | { kind: 'conflicts'; conflicts: MergeConflict[]; unused: number[] }
  /**
   * The merged result. `ours` has the names of the result. `touched` contains the collections that may differ from
   * ours, by the names of both states.
   */
  | { kind: 'merged'; ours: State; state: State; touched: ReadonlySet<string>; unused: number[] };

interface MergeOptions {
  /** Decisions about conflicts. `unused` in the result lists the first decisions that match no conflict. */
  resolutions?: readonly Resolution[];
  /** Finds equal definitions. By default, those with equal parse trees. */
  objects?: ObjectEquality;
}

/**
 * Merges member by member. A change of one side, or the same change of both, is applied. Different changes of both are
 * a conflict. Names follow identities, and objects of theirs have the identities of the base. The result is a valid
 * schema, otherwise the conflicts explain why.
 */
export function* mergeStates(
  sides: MergeSides,
  { resolutions = [], objects = NO_EQUALITY }: MergeOptions = {},
): Resumable<MergedStates> {
  const merging: Merging = { decisions: decisionsOf(resolutions), conflicts: [] };
  const named = yield* renameSides(sides, merging);
  const { conflicts } = merging;
  const unused = () => merging.decisions.unused();
  // Names come first, because they determine which objects correspond.
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts, unused: unused() };
  const draft = new Draft(named.ours, named.touched);
  const names = new Set([...named.base.collections.keys(), ...named.theirs.collections.keys()]);
  for (const name of [...names].sort(byName)) {
    yield;
    const nodes = {
      base: named.base.collections.get(name),
      ours: named.ours.collections.get(name),
      theirs: named.theirs.collections.get(name),
    };
    mergeCollection(merging, draft, name, nodes);
  }
  yield* mergeObjects(merging, draft, { sides: named, equality: objects });
  if (conflicts.length > 0) return { kind: 'conflicts', conflicts, unused: unused() };
  const state = draft.toState();
  const invalid = yield* findInvalid(named, state, draft.touched);
  if (invalid.length > 0) return { kind: 'conflicts', conflicts: invalid, unused: unused() };
  const touched = new Set([...draft.touched, ...named.renames.collections.keys()]);
  return { kind: 'merged', ours: named.ours, state, touched, unused: unused() };
}

function* mergeObjects(
  merging: Merging,
  draft: Draft,
  { sides, equality }: { sides: MergeSides; equality: ObjectEquality },
): Resumable<void> {
  const { base, ours, theirs } = sides;
  if (base.objects === theirs.objects) return;
  for (const key of [...new Set([...base.objects.keys(), ...theirs.objects.keys()])].sort(byName)) {
    yield;
    const nodes = { base: base.objects.get(key), ours: ours.objects.get(key), theirs: theirs.objects.get(key) };
    const named = nodes.base ?? nodes.theirs;
    if (named === undefined) continue;
    const { kind, id } = named.object;
    const documents = unifySpelling(
      mapSides(nodes, ({ object }) => object),
      equality,
    );
    const isOtherObject = isOther(mapSides(nodes, ({ identity }) => identity));
    const location: MergeLocation = { part: 'objects', kind, id };
    const merged = mergeDocument(merging, location, documents, { kind: OBJECT, isOther: isOtherObject });
    if (merged === documents.ours) continue;
    if (merged === undefined) draft.removeObject({ kind, id });
    else draft.putObject(merged);
  }
}

/** Replaces definitions with the same meaning by the text of ours or, without ours, of the base. */
function unifySpelling({ base, ours, theirs }: Sides<SchemaObject>, { isSame }: ObjectEquality): Sides<SchemaObject> {
  const like = (object: SchemaObject | undefined, ...models: (SchemaObject | undefined)[]) => {
    const model = models.find(
      (each) =>
        object !== undefined &&
        each !== undefined &&
        (isSameDefinition(each.definition, object.definition) || isSame(each.definition, object.definition)),
    );
    return object && { ...object, definition: (model ?? object).definition };
  };
  const common = like(base, ours);
  return { base: common, ours, theirs: like(theirs, ours, common) };
}

type Nodes = Sides<CollectionNode>;

function mergeCollection(merging: Merging, draft: Draft, name: string, nodes: Nodes): void {
  const { base, ours, theirs } = nodes;
  // If theirs did not change the object, the object of ours stays.
  if (isSame(base, theirs)) return;
  const location: CollectionLocation = { part: 'collections', collection: name };
  const decided = merging.decisions.at(location);
  if (decided === 'theirs') replace(draft, name, theirs);
  else if (decided === undefined && (ours === undefined || theirs === undefined || isOther(nodes))) {
    mergeWholeCollection(merging, draft, location, nodes);
  } else if (decided === undefined) {
    const documents = mapSides(nodes, ({ collection }) => collection);
    const merged = mergeDocument(merging, location, documents, { kind: COLLECTION });
    if (merged !== undefined && merged !== documents.ours) draft.putCollection(merged);
    mergeMembers({ merging, draft, nodes, name }, FIELDS);
    mergeMembers({ merging, draft, nodes, name }, RELATIONS);
  }
}

const isSame = (a: CollectionNode | undefined, b: CollectionNode | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && isSameNode(a, b));

/** Merges a collection that one side lacks, or that one side replaced by a different collection with its name. */
function mergeWholeCollection(merging: Merging, draft: Draft, location: CollectionLocation, nodes: Nodes): void {
  const { base, ours, theirs } = nodes;
  if (base === undefined || isSame(base, ours)) replace(draft, location.collection, theirs);
  else if (ours !== undefined || theirs !== undefined) {
    merging.conflicts.push(
      createRemovedConflict(
        location,
        mapSides(nodes, ({ collection }) => collection),
      ),
    );
  }
}

/** Replaces the collection in the draft by the collection of theirs. */
function replace(draft: Draft, name: string, theirs: CollectionNode | undefined): void {
  if (theirs === undefined) {
    draft.removeCollection(name);
    return;
  }
  const held = draft.get(name);
  draft.putCollection(theirs.collection);
  for (const { of, put, remove } of [FIELDS, RELATIONS] as Members<object>[]) {
    const documents = of(theirs);
    for (const member of held === undefined ? [] : of(held).keys()) {
      if (!documents.has(member)) remove(draft, name, member);
    }
    for (const document of documents.values()) {
      put(draft, document);
    }
  }
}

/** Gives access to the fields or the relations of a collection. */
interface Members<T extends object> {
  part: 'fields' | 'relations';
  kind: Kind<T>;
  of: (node: CollectionNode) => ReadonlyMap<string, T>;
  /** Returns the identity of the object with the name in a node. Objects with different identities are never merged. */
  identityOf: (node: CollectionNode, name: string) => Identity | undefined;
  put: (draft: Draft, value: T) => void;
  remove: (draft: Draft, collection: string, name: string) => void;
}

const FIELDS: Members<Field> = {
  part: 'fields',
  kind: FIELD,
  of: ({ fields }) => fields,
  identityOf: ({ identities }, name) => identities.fields.get(name),
  put: (draft, field) => draft.putField(field),
  remove: (draft, collection, name) => draft.removeField(collection, name),
};

const RELATIONS: Members<NewRelation> = {
  part: 'relations',
  kind: RELATION,
  of: ({ relations }) => new Map([...relations].map(([field, relation]) => [field, relationBody(relation)])),
  identityOf: () => NEW_IDENTITY,
  put: (draft, relation) => draft.putRelation(relation),
  remove: (draft, collection, name) => draft.removeRelation(collection, name),
};

interface Holder {
  merging: Merging;
  draft: Draft;
  nodes: Nodes;
  name: string;
}

function mergeMembers<T extends object>(
  { merging, draft, nodes, name }: Holder,
  { part, kind, of, identityOf, put, remove }: Members<T>,
): void {
  const all = mapSides(nodes, of);
  if (all.base === all.theirs) return;
  for (const member of new Set([...(all.base?.keys() ?? []), ...(all.theirs?.keys() ?? [])])) {
    const documents = mapSides(all, (each) => each.get(member));
    if (documents.base === documents.theirs) continue;
    const identities = mapSides(nodes, (node) => identityOf(node, member));
    const location = { part, collection: name, field: member };
    const merged = mergeDocument(merging, location, documents, { kind, isOther: isOther(identities) });
    if (merged === documents.ours) continue;
    if (merged === undefined) remove(draft, name, member);
    else put(draft, merged);
  }
}

/** True if a side removed the object of the base and created a different object with its name. */
function isOther({ base, ours, theirs }: Sides<CollectionNode | string>): boolean {
  const identityOf = (of: CollectionNode | string): string => (typeof of === 'string' ? of : of.identities.collection);
  if (base === undefined || identityOf(base) === NEW_IDENTITY) return false;
  return [ours, theirs].some((side) => side !== undefined && identityOf(side) !== identityOf(base));
}

const mapSides = <T, U>(sides: Sides<T>, map: (value: T) => U | undefined): Sides<U> => {
  const of = (value: T | undefined): U | undefined => (value === undefined ? undefined : map(value));
  return { base: of(sides.base), ours: of(sides.ours), theirs: of(sides.theirs) };
};

/* Merge a submitted snapshot by applying its changes since the base to the current schema. */

interface SnapshotMerge {
  base: State;
  ours: State;
  /** The submitted snapshot. Omitted parts are taken from the base. */
  theirs: unknown;
  resolutions: readonly Resolution[];
}

type MergeOutcome = { kind: 'conflicts'; conflicts: MergeConflict[] } | ({ kind: 'merged' } & Comparison);

/** Problems have paths in a request body with the members `theirs` (the snapshot) and `resolve` (the resolutions). */
export function* mergeSnapshot(
  { base, ours, theirs, resolutions }: SnapshotMerge,
  options: CompareOptions,
): Resumable<Result<MergeOutcome>> {
  const read = moveBelow('theirs', yield* readDesired(base, theirs, options));
  if (!read.ok) return read;
  const { desired, warnings } = read.value;
  const sides = { base, ours, theirs: desired.state };
  const merged = yield* mergeStates(sides, { resolutions, ...(options.objects && { objects: options.objects }) });
  if (merged.unused.length > 0) return refuse(...merged.unused.map(noConflictProblem));
  if (merged.kind === 'conflicts') return ok(merged);
  const { ours: named, state, touched } = merged;
  return ok({
    kind: 'merged',
    hash: yield* snapshotHash(ours, options.release),
    diff: yield* diffStates(ours, state, touched),
    warnings: [...warnings, ...(yield* warnAboutLikelyRenames(named, state, touched))],
    desired: { state, touched },
  });
}

/** @param index the index of the resolution in the body */
export const noConflictProblem = (index: number): Problem =>
  invalidProblem(['resolve', index, 'place'], 'no conflict exists here; copy place from a conflict');

/**
 * Returns the state of a snapshot. Used for a base that is in no log. Its objects are matched to `ours` by name,
 * because a snapshot contains no identities. An object that ours has renamed since then counts as a different object.
 */
export function* stateOfSnapshot(body: unknown, ours: State, options: CompareOptions): Resumable<Result<State>> {
  const read = moveBelow('base', yield* readDesired(initialState(), body, options));
  if (!read.ok) return read;
  const { state } = read.value.desired;
  const draft = new Draft(state);
  const ownOf = (...names: string[]): string => `snapshot ${JSON.stringify(names)}`;
  for (const [name, node] of state.collections) {
    yield;
    const there = ours.collections.get(name)?.identities;
    const fields = [...node.fields.keys()].map(
      (field) => [field, there?.fields.get(field) ?? ownOf(name, field)] as const,
    );
    draft.identify(name, new Map(fields), there?.collection ?? ownOf(name));
  }
  for (const [key, { object }] of state.objects)
    draft.putObject(object, ours.objects.get(key)?.identity ?? ownOf(object.kind, object.id));
  return ok(draft.toState());
}

/** Moves the locations of problems below a member. */
function moveBelow<T>(member: string, result: Result<T>): Result<T> {
  if (result.ok) return result;
  return refuse(...result.problems.map((problem) => ({ ...problem, path: pathBelow(member, problem.path) })));
}

function pathBelow(member: string, path: string | undefined): string {
  if (path === undefined || path === '') return member;
  return path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;
}
