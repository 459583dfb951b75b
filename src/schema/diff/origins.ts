/*
 * The origin of a new object that existed before consists of its identity and its trash entry. Applying the diff
 * restores such objects. Without an origin, the new object is a different one with the same name.
 */
import { type Path, type Problem, invalidProblem, renderPath } from '../../kernel/problem.js';
import { type Identity, memberKey, type State } from '../model/state.js';
import { type RecreatedObjects, type TrashNode, restorableEntries } from '../transition/restoring-transition.js';
import type { SchemaDiff, CollectionDiff, FieldDiff } from './diff.js';
import { type Entry, type Origin, isAddition } from './entries.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Draft } from '../transition/draft.js';

/** Adds the origins to the new objects of a diff. */
export function addOrigins(diff: SchemaDiff, again: RecreatedObjects, restorable: readonly TrashNode[]): SchemaDiff {
  if (again.size === 0) return diff;
  const kept = restorable.filter(({ empty }) => empty !== true);
  const positions = new Map(kept.map(({ identity, position }) => [identity, position]));
  const originOf = (key: string, entries: readonly Entry<unknown>[]): Origin => {
    const identity = isAddition(entries) ? again.get(key) : undefined;
    if (identity === undefined) return {};
    const restores = positions.get(identity);
    return { identity, ...(restores !== undefined && { restores }) };
  };
  return {
    ...diff,
    collections: diff.collections.map((item) => ({ ...item, ...originOf(item.collection, item.diff) })),
    fields: diff.fields.map((item) => ({ ...item, ...originOf(memberKey(item.collection, item.field), item.diff) })),
  };
}

/** Reads the origins of a submitted diff by name. */
export function readOrigins({ collections, fields }: SchemaDiff): RecreatedObjects {
  const origins = new Map<string, Identity>();
  for (const { collection, identity } of collections) if (identity !== undefined) origins.set(collection, identity);
  for (const { collection, field, identity } of fields) {
    if (identity !== undefined) origins.set(memberKey(collection, field), identity);
  }
  return origins;
}

/** Returns the problems of the origin that a submitted item contains. */
export function originProblems(item: { [member: string]: unknown }, at: Path): Problem[] {
  const { identity, restores, diff } = item;
  if (identity === undefined && restores === undefined) return [];
  const problems: Problem[] = [];
  if (typeof identity !== 'string' || !/^\d{1,15}(\.\d{1,6})?$/.test(identity))
    problems.push(invalidProblem([...at, 'identity'], 'identity must have the value that /history/diff returned'));
  if (restores !== undefined && !(Number.isSafeInteger(restores) && (restores as number) > 0))
    problems.push(invalidProblem([...at, 'restores'], 'restores must be the position of a deletion'));
  if (!Array.isArray(diff) || !isAddition(diff as Entry<unknown>[]))
    problems.push(invalidProblem([...at, 'identity'], 'only a new object can have an identity here'));
  return problems;
}

/** Returns a problem for each identity that two objects share. */
export function findSharedIdentities({ collections, fields }: SchemaDiff): Problem[] {
  const seen = new Set<Identity>();
  const check = (part: 'collections' | 'fields') => (item: Origin, index: number) => {
    const { identity } = item;
    if (identity === undefined) return [];
    if (!seen.has(identity)) {
      seen.add(identity);
      return [];
    }
    return [invalidProblem(['diff', part, index, 'identity'], 'another object already has this identity')];
  };
  return [...collections.flatMap(check('collections')), ...fields.flatMap(check('fields'))];
}

/* Gives objects that a diff restores from the trash their former identity in the draft. */

/** Returns what the diff restores from the trash, and sets the identities in the draft. */
export function* identifyFromTrash(
  state: State,
  draft: Draft,
  { diff, kept }: { diff: SchemaDiff; kept: readonly TrashNode[] },
): Resumable<TrashNode[]> {
  if (kept.length === 0) return [];
  const again = readOrigins(diff);
  identifyTables(draft, diff, { again, kept });
  identifyFields(draft, diff, { again, kept });
  const to = draft.toState();
  return yield* restorableEntries({ from: state, to, touched: draft.touched }, kept);
}

interface RestorableObjects {
  again: RecreatedObjects;
  kept: readonly TrashNode[];
}

function identifyTables(draft: Draft, { collections }: SchemaDiff, { again, kept }: RestorableObjects): void {
  const tables = new Set(kept.flatMap(({ kind, identity }) => (kind === 'collection' ? [identity] : [])));
  for (const { collection } of collections) {
    const identity = again.get(collection) ?? '';
    if (tables.has(identity) && draft.get(collection) !== undefined) draft.identify(collection, new Map(), identity);
  }
}

function identifyFields(draft: Draft, { fields: items }: SchemaDiff, { again, kept }: RestorableObjects): void {
  const tableOf = new Map(kept.flatMap(identitiesIn));
  for (const { collection, field } of items) {
    const identity = again.get(memberKey(collection, field)) ?? '';
    const node = draft.get(collection);
    if (node?.fields.has(field) !== true || tableOf.get(identity) !== node.identities.collection) continue;
    draft.identify(collection, new Map([[field, identity]]));
  }
}

/** Returns the fields that are restored with a trash entry, each with the identity of its collection. */
const identitiesIn = ({ kind, identity, node: { identities } }: TrashNode): [Identity, Identity][] =>
  kind === 'field'
    ? [[identity, identities.collection]]
    : [...identities.fields.values()].map((field) => [field, identities.collection]);

/**
 * Returns conflicts for objects that the diff would restore but the trash no longer contains. Creating them without
 * their data is never correct.
 */
export function findLost({ collections, fields }: SchemaDiff, entries: readonly TrashNode[]): Problem[] {
  const kept = entries.filter(({ empty }) => empty !== true);
  const positions = new Map<Identity | undefined, number>(kept.map(({ identity, position }) => [identity, position]));
  const check = (part: 'collections' | 'fields') => (item: CollectionDiff | FieldDiff, index: number) => {
    const { identity, restores } = item;
    if (restores === undefined || positions.get(identity) === restores) return [];
    const message = `the trash no longer contains a matching deletion at position ${restores}. Create a new diff and apply that`;
    const path = renderPath(['diff', part, index, 'restores']);
    return [{ code: 'SCHEMA_CHANGED' as const, message, path }];
  };
  return [...collections.flatMap(check('collections')), ...fields.flatMap(check('fields'))];
}
