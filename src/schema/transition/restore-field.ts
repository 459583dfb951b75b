/** Restores a field from the trash as it was, by current names, with what was deleted with it. */
import { type Problem, type Result, invalid, ok, refuse } from '../../kernel/problem.js';
import { type Resumable, pausingEvery } from '../../kernel/resumable.js';
import { indexNameOf, uniqueNameOf, notNullNameOf } from '../model/constraint-names.js';
import type { Field } from '../model/model.js';
import { type CollectionNode, type Identity, type State, extrasOf } from '../model/state.js';
import { constraintColumns, indexColumns } from '../sql-text/columns.js';
import type { Restores } from './context.js';
import { Draft } from './draft.js';
import { keyChange } from './fitting-trash.js';
import { type StaysAway, putBackField } from './restore-dependents.js';
import { renamesBetween, withRenames } from './renames.js';

export interface RestoreField {
  /** Position of the event that deleted it. */
  position: number;
  identity: Identity;
  /** The names of the field and its collection at that time. */
  name: string;
  collection: string;
  /** The schema before the batch that deleted it. */
  past: State;
  /** The collection just before the deletion. */
  node: CollectionNode;
  /** The new name. Absent keeps the former one. */
  as?: string | undefined;
  /** Names of constraints and indexes that are not restored. */
  without: readonly string[];
  /** True if the trash has no values, so that the column is created empty. */
  empty?: boolean;
}

export interface FieldRestoration {
  draft: Draft;
  restores: Map<Identity, Restores>;
  left: StaysAway[];
  /** Names that `without` may contain. */
  keys: readonly string[];
  /** Current names. */
  collection: string;
  field: string;
}

/** Returns the draft with the field, or why it cannot be restored. */
export function* fieldRestoration(state: State, restore: RestoreField): Resumable<Result<FieldRestoration>> {
  const { position, identity, name, node, as, without, empty } = restore;
  const collection = yield* nameOf(state, node.identities.collection);
  const now = collection === undefined ? undefined : state.collections.get(collection);
  if (collection === undefined || now === undefined) return refuse(withoutTable(restore));
  const field = as ?? name;
  const problems = [...takenName(now, restore), ...otherKey(node, now, restore)];
  if (problems.length > 0) return refuse(...problems);
  const past = yield* byNamesOfNow(state, restore, collection);
  const before = past.collections.get(collection);
  if (before?.identities.fields.get(field) !== identity)
    throw new Error(`restore: ${JSON.stringify(name)} of position ${position} is not what it was`);
  const known = keysOf(before, field);
  const unknown = without.flatMap((each, index) => (known.includes(each) ? [] : [unknownKey(each, index, known)]));
  if (unknown.length > 0) return refuse(...unknown);
  const draft = new Draft(state);
  const restores = new Map<Identity, Restores>();
  const asked = new Set(without);
  const left = putBackField({
    draft,
    past,
    collection,
    field,
    isLeft: (key) => asked.has(key),
    brings: (each) =>
      restores.set(each, { position, name: restore.collection, empty: empty === true && each === identity }),
  });
  return ok({ draft, restores, left, keys: known, collection, field });
}

function* nameOf({ collections }: State, identity: Identity): Resumable<string | undefined> {
  const pause = pausingEvery(500);
  for (const [name, node] of collections) {
    if (node.identities.collection === identity) return name;
    yield* pause();
  }
  return undefined;
}

function withoutTable({ collection, name }: RestoreField): Problem {
  const message = `the collection ${JSON.stringify(collection)} that the field was of is not there`;
  return { code: 'IN_USE', message, collection, field: name };
}

function takenName({ fields, collection }: CollectionNode, { name, as }: RestoreField): Problem[] {
  if (!fields.has(as ?? name)) return [];
  const taken = `${JSON.stringify(collection.collection)} has a field ${JSON.stringify(as ?? name)} already`;
  const place = { collection: collection.collection, field: as ?? name };
  if (as !== undefined) return [{ code: 'ALREADY_EXISTS', message: taken, path: 'as', ...place }];
  return [{ code: 'ALREADY_EXISTS', message: `${taken}: restore this one under another name, {"as": "…"}`, ...place }];
}

function otherKey(then: CollectionNode, now: CollectionNode, { name, empty }: RestoreField): Problem[] {
  const why = empty === true ? null : keyChange(then, now);
  if (why === null) return [];
  const message = `the values can't find their rows: ${why}`;
  return [{ code: 'IN_USE', message, collection: now.collection.collection, field: name }];
}

function* byNamesOfNow(state: State, { past, identity, as }: RestoreField, collection: string): Resumable<State> {
  const names = new Set([...past.collections.keys(), ...state.collections.keys()]);
  const renames = yield* renamesBetween(past, state, names);
  const fields = new Map(renames.fields);
  const then = past.collections.find(
    (node) => node.identities.collection === state.collections.get(collection)?.identities.collection,
  );
  const old = [...(then?.identities.fields ?? [])].find(([, each]) => each === identity)?.[0];
  if (as !== undefined && old !== undefined && old !== as)
    fields.set(collection, new Map([...(fields.get(collection) ?? []), [old, as]]));
  if (renames.collections.size === 0 && fields.size === 0) return past;
  return (yield* withRenames(past, { collections: renames.collections, fields })).state;
}

/** Returns the names of constraints and indexes of the column that a client may exclude. */
function keysOf(node: CollectionNode, name: string): string[] {
  const field = node.fields.get(name) as Field;
  const { constraints = [], indexes = [] } = extrasOf(node);
  const key = node.relations.get(name)?.schema?.constraint_name;
  return [
    ...ownKeys(field),
    ...(key === undefined ? [] : [key]),
    ...constraints.flatMap((each) => (constraintColumns(each.definition).has(name) ? [each.name] : [])),
    ...indexes.flatMap((each) => (indexColumns(each.definition).has(name) ? [each.name] : [])),
  ];
}

function ownKeys({ collection, field, schema }: Field): string[] {
  if (schema === null) return [];
  const column = { collection, field, schema };
  return [
    ...(schema.is_nullable ? [] : [notNullNameOf(column)]),
    ...(schema.is_unique ? [uniqueNameOf(column)] : []),
    ...(schema.is_indexed ? [indexNameOf(column)] : []),
  ];
}

function unknownKey(name: string, index: number, known: readonly string[]): Problem {
  const message = `no constraint and no index that comes back is called ${JSON.stringify(name)}`;
  return invalid(['without', index], message, { known });
}
