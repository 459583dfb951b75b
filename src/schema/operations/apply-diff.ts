/** apply-diff: applies a diff, checked as strictly as any other command. */
import type { SchemaDiff, ObjectDiff } from '../diff/diff.js';
import { identifyFromTrash, findLost, originProblems, findSharedIdentities } from '../diff/origins.js';
import { Draft } from '../transition/draft.js';
import {
  diffLocations,
  applyItems,
  applyRenames,
  type ApplyContext,
  type Target,
  applyEntries,
} from '../diff/apply-entries.js';
import {
  type Problem,
  type Result,
  ok,
  refuse,
  type Path,
  invalidProblem,
  problemsInSteps,
  problemsOfEach,
  unknownMembers,
} from '../../kernel/problem.js';
import { snapshotHash } from '../snapshot/snapshot.js';
import { type Identity, type State, type ObjectNode, getObject, hasTableNamed } from '../model/state.js';
import { tableOf } from '../sql-text/object-table.js';
import type { TrashNode } from '../transition/restoring-transition.js';
import type { Resumable } from '../../kernel/resumable.js';
import {
  type EntryFindings,
  conflict,
  isRemoval,
  isRenameEntry,
  type Entry,
  isWhole,
  isAddition,
} from '../diff/entries.js';
import type { RequestedBackfill } from './backfills.js';
import { type Operation, decideDraft } from './operation.js';
import { type ObjectName, isOnTable, objectLabel, RELATION_KINDS, TARGETS, isAlwaysThere } from '../model/objects.js';
import type { Definition, SchemaObject } from '../model/object-document.js';
import { objectNameParts, renamedId } from '../model/object-ids.js';
import { readBackfill } from '../normal-form/field.js';
import { readNewObject } from '../normal-form/object.js';
import { identifierFault } from '../normal-form/names.js';
import { isObject, jsonEqual } from '../../kernel/json.js';
import { isSystemCollection } from '../model/system-collections.js';

export interface ApplyDiff {
  /** The release of this service, which is part of the hash. */
  release: string;
  /** The hash of the schema that the diff was created for. Absent if the diff may be applied to any schema. */
  hash?: string;
  diff: SchemaDiff;
  /** Trash entries of objects that the diff recreates. Absent means none. */
  kept?: readonly TrashNode[];
}

export interface ApplyDiffInput {
  release: string;
  body: unknown;
  /** True if the diff may contain objects other than tables. */
  objects?: boolean;
}

export const applyDiff: Operation<'apply-diff', ApplyDiffInput, ApplyDiff> = {
  name: 'apply-diff',

  *parse({ release, body, objects }) {
    const document = yield* readDiffDocument(body, objects);
    return document.ok ? ok({ release, ...document.value }) : document;
  },

  *decide(state, { release, hash, diff, kept = [] }) {
    const current = yield* snapshotHash(state, release);
    const findings: EntryFindings = { problems: [], conflicts: [] };
    const draft = yield* applyToDraft(state, diff, findings);
    const stale = hash !== undefined && hash !== current;
    if (stale || findings.conflicts.length > 0) return rejectStaleDiff(stale, current, findings);
    if (findings.problems.length > 0) return refuse(...findings.problems);
    const identified = yield* identifyFromTrash(state, draft, { diff, kept });
    const lost = findLost(diff, identified);
    if (lost.length > 0) return refuse(...lost);
    return yield* decideDraft(state, draft, { found: identified, backfills: backfillsOf(diff) }, diffLocations(diff));
  },

  locations: ({ diff }) => diffLocations(diff),
};

const backfillsOf = ({ fields }: SchemaDiff): RequestedBackfill[] =>
  fields.flatMap(({ collection, field, backfill }) =>
    backfill === undefined ? [] : [{ collection, field, backfill }],
  );

/** Applies the diff to a draft without checking its hash. */
export function* applyToDraft(state: State, diff: SchemaDiff, findings: EntryFindings): Resumable<Draft> {
  const named = yield* applyRenames(state, diff, findings);
  const draft = new Draft(named.state, named.touched);
  yield* applyItems({ draft, findings }, named.items);
  applyObjects({ draft, findings }, diff.objects ?? [], { base: named.state, state });
  return draft;
}

function rejectStaleDiff(stale: boolean, current: string, { conflicts, problems }: EntryFindings): Result<never> {
  const paths = conflicts.map((conflict) => conflict.path);
  const first: Problem = {
    code: 'SCHEMA_CHANGED',
    message: stale
      ? 'the schema has changed since this diff was created; create a new diff and apply that'
      : 'entries of this diff do not fit the current schema; create a new diff and apply that',
    details: { current_hash: current, conflicts: paths },
  };
  // If entries can never apply, the client made an error, and the schema has not changed in the meantime.
  if (!stale && problems.length > 0) return refuse(...problems, ...conflicts);
  return refuse(first, ...conflicts);
}

/* Apply the items of a diff about objects other than tables to a draft. */

/**
 * Applies removals first, because they release names. Then it applies renames, which may exchange names, and then all
 * other items.
 */
function applyObjects(
  context: ApplyContext,
  items: readonly ObjectDiff[],
  { base, state }: Record<'base' | 'state', State>,
): void {
  const { draft, findings } = context;
  const former: FormerDefinitions = items.length === 0 ? new Map() : definitionsByIdentity(state);
  const all = [...items.entries()];
  const others = all.filter(([, { diff }]) => !isRemoval(diff));
  const removing = { base, draft, withTables: draft.toState() };
  for (const [index, item] of all)
    if (isRemoval(item.diff) && !isRemovedWithOther(removing, item))
      applyEntries(findings, targetOf(draft, item, { index, former }));
  // Triggers on views follow the renames of these views.
  applyObjectRenames(
    context,
    others.filter(([, item]) => !isOnTable(item)),
  );
  applyObjectRenames(
    context,
    others.filter(([, item]) => isOnTable(item)),
  );
  for (const [index, item] of others) {
    if (item.diff.every((entry) => isRenameEntry(entry, 'id'))) continue;
    applyEntries(findings, targetOf(draft, item, { index, former }));
  }
}

type FormerDefinitions = ReadonlyMap<Identity, Definition>;

const definitionsByIdentity = ({ objects }: State): FormerDefinitions =>
  new Map([...objects.values()].map(({ identity, object }) => [identity, object.definition]));

/**
 * Returns the entries with the current definition as `lhs`, if it was the definition before the renames of the same diff.
 * Clients cannot know how the service writes the new names into a definition.
 */
function withRenamedDefinition(
  { diff }: ObjectDiff,
  node: ObjectNode | undefined,
  former: FormerDefinitions,
): Entry<SchemaObject>[] {
  const old = node && former.get(node.identity);
  if (node === undefined || old === undefined || jsonEqual(old, node.object.definition)) return diff;
  const { definition } = node.object;
  return diff.map((entry) => {
    if (entry.kind === 'E' && jsonEqual(entry.path, ['definition']) && jsonEqual(entry.lhs, old))
      return { ...entry, lhs: definition };
    if (entry.kind !== 'D' || 'path' in entry || !isObject(entry.lhs)) return entry;
    return jsonEqual(entry.lhs.definition, old) ? { ...entry, lhs: { ...entry.lhs, definition } } : entry;
  });
}

function applyObjectRenames(context: ApplyContext, items: readonly [number, ObjectDiff][]): void {
  const { draft, findings } = context;
  const renamed = items.flatMap(([index, item]) => extractRenamed(context, item, ['diff', 'objects', index]));
  const free = renamed.filter(({ node, to, at }) => {
    const object = { kind: node.object.kind, id: to };
    if (draft.object(object) === undefined) return true;
    findings.conflicts.push(conflict(at, `${objectLabel(object)} already exists`));
    return false;
  });
  draft.putRenamed(free);
}

interface Removing {
  base: State;
  draft: Draft;
  /** The state with the changes to tables of the diff. */
  withTables: State;
}

/** True for an object whose table or view, or whose function, sequence or type, the diff removes as well. */
const isRemovedWithOther = ({ base, draft, withTables }: Removing, { kind, id }: ObjectDiff): boolean => {
  const { target } = objectNameParts({ kind, id });
  if (target !== null && isAlwaysThere(target)) return false;
  if (target !== null)
    return !TARGETS[target.type].kinds.some((each) => draft.object({ kind: each, id: target.id }) !== undefined);
  // The objects of a table that moves to another schema remain.
  if (draft.object({ kind, id }) !== undefined) return false;
  const table = tableOf(getObject(base, { kind, id }) ?? { kind, id });
  const isView = table !== null && RELATION_KINDS.some((each) => draft.object({ kind: each, id: table }) !== undefined);
  return table !== null && !isView && !hasTableNamed(withTables, table);
};

const RENAME_KEEPS_TYPES =
  'rhs must have the argument types or the table of lhs. A function with other argument types, or an object of another table, is a new one';

const RENAMES_NO_ROLE = 'privileges cannot be renamed. Delete them, and create privileges for the other role';

interface RenamedNode {
  node: ObjectNode;
  to: string;
  at: Path;
}

function renameFault({ kind, id }: ObjectName, lhs: unknown, rhs: unknown): string | null {
  const { name } = objectNameParts({ kind, id });
  const fault = identifierFault(name);
  if (fault !== null) return `the name ${fault}`;
  if (kind === 'privileges') return RENAMES_NO_ROLE;
  const keepsTypes = typeof lhs !== 'string' || renamedId({ kind, id: lhs }, name) === id;
  if (!keepsTypes) return RENAME_KEEPS_TYPES;
  return rhs === id ? null : `rhs must be ${JSON.stringify(id)}, the id of the item`;
}

/**
 * Removes the object of a rename entry from the draft. Returns an empty list if the item has no rename entry, or an
 * invalid one.
 */
function extractRenamed({ draft, findings }: ApplyContext, { kind, id, diff }: ObjectDiff, item: Path): RenamedNode[] {
  const index = diff.findIndex((entry) => isRenameEntry(entry, 'id'));
  if (index < 0) return [];
  const at = [...item, 'diff', index];
  const { lhs, rhs } = diff[index] as { lhs: unknown; rhs: unknown };
  const fault = renameFault({ kind, id }, lhs, rhs);
  if (fault !== null) {
    findings.problems.push(invalidProblem([...at, 'rhs'], fault));
    return [];
  }
  const node = typeof lhs === 'string' ? draft.extractObject({ kind, id: lhs }) : undefined;
  if (node !== undefined) return [{ node, to: id, at }];
  findings.conflicts.push(conflict([...at, 'lhs'], 'no object with that name exists, so it cannot be renamed'));
  return [];
}

function targetOf(
  draft: Draft,
  item: ObjectDiff,
  { index, former }: { index: number; former: FormerDefinitions },
): Target<SchemaObject> {
  const { kind, id } = item;
  const node = draft.objectNode({ kind, id });
  return {
    at: ['diff', 'objects', index],
    diff: withRenamedDefinition(item, node, former),
    renamedBy: 'id',
    current: node?.object,
    read: readNewObject,
    isMeant: (read) => read.kind === kind && read.id === id,
    put: (value) => draft.putObject(value),
    remove: () => draft.removeObject({ kind, id }),
  };
}

/* Validate the shape of a submitted diff before it is compared with the schema. */

const PARTS = {
  collections: ['collection'],
  fields: ['collection', 'field'],
  relations: ['collection', 'field'],
  objects: ['kind', 'id'],
} as const;

type Part = keyof typeof PARTS;

/** The members that an item may have, by part. */
const ITEM_MEMBERS: Record<Part, ReadonlySet<string>> = {
  collections: new Set(['collection', 'diff', 'identity', 'restores']),
  fields: new Set(['collection', 'field', 'diff', 'identity', 'restores', 'backfill']),
  relations: new Set(['collection', 'field', 'diff', 'related_collection']),
  objects: new Set(['kind', 'id', 'diff']),
};

/** The members that each kind of entry may have. Entries about whole documents have no path, all others have one. */
const ENTRY_MEMBERS: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['N', new Set(['kind', 'path', 'rhs'])],
  ['D', new Set(['kind', 'path', 'lhs'])],
  ['E', new Set(['kind', 'path', 'lhs', 'rhs'])],
  ['A', new Set(['kind', 'path', 'index', 'item'])],
]);

/**
 * Reads a submitted diff. Omitted parts are empty. Only the shape of entries is checked, and not their content.
 * @param withObjects true if the diff may contain objects other than tables
 */
export function* readDiffDocument(
  body: unknown,
  withObjects = false,
): Resumable<Result<{ hash: string; diff: SchemaDiff }>> {
  if (!isObject(body))
    return refuse(invalidProblem([], 'the body must be an object with hash and diff, as returned by /schema/diff'));
  // The response of /schema/diff contains `warnings`. Clients can send it back unchanged.
  const problems = unknownMembers(body, new Set(['hash', 'diff', 'warnings']), []);
  const { hash, diff } = body;
  if (typeof hash !== 'string')
    problems.push(invalidProblem(['hash'], 'hash is required; send the one that /schema/diff returned'));
  if (!isObject(diff)) {
    return refuse(
      ...problems,
      invalidProblem(['diff'], 'diff must be an object with collections, fields and relations'),
    );
  }
  const parts = (Object.keys(PARTS) as Part[]).filter((part) => part !== 'objects' || withObjects);
  problems.push(...unknownMembers(diff, new Set(parts), ['diff']));
  for (const part of parts) problems.push(...(yield* partProblems(diff[part], part)));
  if (problems.length > 0) return refuse(...problems);
  const read = completeDiff(diff);
  const shared = findSharedIdentities(read);
  return shared.length > 0 ? refuse(...shared) : ok({ hash: hash as string, diff: read });
}

const completeDiff = ({
  collections = [],
  fields = [],
  relations = [],
  objects = [],
}: Partial<SchemaDiff>): SchemaDiff => ({
  collections,
  fields,
  relations,
  ...(objects.length > 0 && { objects }),
});

function* partProblems(items: unknown, part: Part): Resumable<Problem[]> {
  const at = ['diff', part];
  if (items === undefined) return [];
  if (!Array.isArray(items)) return [invalidProblem(at, `${part} must be an array`)];
  const problems = yield* problemsInSteps(items, (item, index) => itemProblems(item, part, [...at, index]));
  return problems.length > 0 ? problems : yield* rejectRepeatedObjects(items, part);
}

interface Item {
  collection: string;
  field?: string;
  kind?: string;
  id?: string;
  diff: Entry<unknown>[];
}

/**
 * Reports objects that occur too often. Each object may occur once. If another object takes its name, the name may
 * occur twice: first for the removed object, then for the new or renamed one.
 */
function* rejectRepeatedObjects(items: readonly Item[], part: Part): Resumable<Problem[]> {
  const seen = new Map<string, Item | null>();
  return yield* problemsInSteps(items, (item, index) => {
    const id = PARTS[part].map((member: 'collection' | 'field' | 'kind' | 'id') => item[member]).join('\0');
    const first = seen.get(id);
    seen.set(id, first === undefined ? item : null);
    if (first === undefined || (first !== null && isRemoval(first.diff) && isAddedOrRenamed(item, part))) return [];
    const name = JSON.stringify(id.replace('\0', '.'));
    return [
      invalidProblem(['diff', part, index], `${name} occurs more than once in ${part}; put its entries into one diff`),
    ];
  });
}

const isAddedOrRenamed = (item: Item, part: Part): boolean =>
  isAddition(item.diff) || item.diff.some((entry) => isRenameEntry(entry, RENAMED_BY[part]));

const RENAMED_BY = { collections: 'collection', fields: 'field', relations: undefined, objects: 'id' } as const;

function itemProblems(item: unknown, part: Part, at: Path): Problem[] {
  if (!isObject(item)) return [invalidProblem(at, 'must be an object')];
  const problems = unknownMembers(item, ITEM_MEMBERS[part], at);
  for (const member of PARTS[part]) {
    if (typeof item[member] !== 'string')
      problems.push(invalidProblem([...at, member], `${member} is required and must be a string`));
  }
  const { collection, diff, related_collection: related = null } = item;
  if (related !== null && typeof related !== 'string') {
    problems.push(invalidProblem([...at, 'related_collection'], 'related_collection must be a string or null'));
  }
  if (typeof collection === 'string' && isSystemCollection(collection)) {
    const message = `${JSON.stringify(collection)} is a system collection and cannot be changed`;
    problems.push(invalidProblem([...at, 'collection'], message));
  }
  return [
    ...problems,
    ...originProblems(item, at),
    ...itemBackfillProblems(item, at),
    ...entriesProblems(diff, [...at, 'diff']),
  ];
}

function itemBackfillProblems({ backfill, restores, diff }: { [member: string]: unknown }, item: Path): Problem[] {
  if (backfill === undefined) return [];
  const at = [...item, 'backfill'];
  const read = readBackfill(backfill, at);
  if (!read.ok) return read.problems;
  if (restores !== undefined) return [invalidProblem(at, 'a restored field gets its values from the trash')];
  return Array.isArray(diff) && isRemoval(diff as Entry<unknown>[])
    ? [invalidProblem(at, 'a deleted field cannot be filled')]
    : [];
}

function entriesProblems(diff: unknown, at: Path): Problem[] {
  if (!Array.isArray(diff) || diff.length === 0) return [invalidProblem(at, 'diff must be an array of entries')];
  const mixesWholeObject =
    diff.length > 1 && diff.some((entry) => isObject(entry) && isWhole(entry as unknown as Entry));
  if (mixesWholeObject) return [invalidProblem(at, 'an entry for the whole object must be the only entry')];
  return problemsOfEach(diff, (entry, index) => entryProblems(entry, [...at, index]));
}

function entryProblems(entry: unknown, at: Path): Problem[] {
  if (!isObject(entry)) return [invalidProblem(at, 'an entry must be an object with kind')];
  const kind = entry['kind'];
  const members = ENTRY_MEMBERS.get(kind);
  if (members === undefined) return [invalidProblem([...at, 'kind'], 'kind must be N, D, E or A')];
  const required = [...members].filter((member) => member !== 'path' || kind === 'E' || kind === 'A');
  const problems = [...unknownMembers(entry, members, at), ...missingMembers(entry, required, at)];
  if (entry['path'] !== undefined && !isPath(entry['path'])) {
    problems.push(invalidProblem([...at, 'path'], 'path must be an array with at least one member name or index'));
  }
  return kind === 'A' ? [...problems, ...elementProblems(entry, at)] : problems;
}

function missingMembers(entry: { [member: string]: unknown }, required: readonly string[], at: Path): Problem[] {
  return required
    .filter((member) => entry[member] === undefined)
    .map((member) => invalidProblem([...at, member], `${member} is required for this kind`));
}

function isPath(path: unknown): boolean {
  return Array.isArray(path) && path.length > 0 && path.every((step) => typeof step === 'string' || isIndex(step));
}

const isIndex = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Kind A contains an index and the element that was added or removed. */
function elementProblems({ index, item }: { [member: string]: unknown }, at: Path): Problem[] {
  const problems: Problem[] = [];
  if (index !== undefined && !isIndex(index))
    problems.push(invalidProblem([...at, 'index'], 'index must be a non-negative integer'));
  if (item === undefined) return problems;
  const inner = [...at, 'item'];
  if (!isObject(item)) return [...problems, invalidProblem(inner, 'item must be an object with kind N or D')];
  if (item['kind'] !== 'N' && item['kind'] !== 'D')
    return [...problems, invalidProblem([...inner, 'kind'], 'kind must be N or D')];
  const members = ['kind', item['kind'] === 'N' ? 'rhs' : 'lhs'];
  return [...problems, ...unknownMembers(item, new Set(members), inner), ...missingMembers(item, members, inner)];
}
