/** Maintains the indexes State.indexNames and State.referencedBy. */
import { Set as PersistentSet } from 'immutable';
import { indexNameOf } from '../model/constraint-names.js';
import type { Field, Relation } from '../model/model.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { State } from '../model/state.js';

type Fields = ReadonlyMap<string, Field> | undefined;

export interface ChangedFields {
  collection: string;
  before: Fields;
  after: Fields;
}

/**
 * Updates State.indexNames, from the names of field indexes to collections, after fields changed. All removals precede
 * additions.
 */
export function* renameIndexes(
  names: State['indexNames'],
  all: readonly ChangedFields[],
): Resumable<State['indexNames']> {
  const changes = all.filter(({ before, after }) => before !== after);
  if (changes.length === 0) return names;
  const map = names.asMutable();
  for (const { collection, before, after } of changes) {
    for (const name of namesOnlyIn(before, after)) {
      if (map.get(name) === collection && !hasIndex(after, name)) map.delete(name);
    }
    yield;
  }
  for (const { collection, before, after } of changes) {
    for (const name of namesOnlyIn(after, before)) if (!map.has(name)) map.set(name, collection);
    yield;
  }
  return map.wasAltered() ? map.asImmutable() : names;
}

/** Another field may have taken over the name. */
function hasIndex(fields: Fields, name: string): boolean {
  return [...namesOnlyIn(fields, undefined)].includes(name);
}

function* namesOnlyIn(fields: Fields, others: Fields): Generator<string> {
  for (const field of fields?.values() ?? []) {
    const { schema } = field;
    if (schema?.is_indexed === true && others?.get(field.field) !== field) yield indexNameOf({ ...field, schema });
  }
}

type Relations = ReadonlyMap<string, Relation> | undefined;

/** Updates State.referencedBy after the relations of `many` changed from `before` to `after`. */
export function reindex(index: State['referencedBy'], many: string, before: Relations, after: Relations) {
  const old = targetsOf(before);
  const now = targetsOf(after);
  let next = index;
  for (const target of old) {
    if (now.has(target)) continue;
    const rest = next.get(target)?.delete(many);
    next = rest === undefined || rest.isEmpty() ? next.delete(target) : next.set(target, rest);
  }
  for (const target of now) {
    if (!old.has(target)) next = next.set(target, (next.get(target) ?? PersistentSet<string>()).add(many));
  }
  return next;
}

function targetsOf(relations: Relations): Set<string> {
  const targets = new Set<string>();
  for (const relation of relations?.values() ?? []) {
    if (relation.one_collection !== null) targets.add(relation.one_collection);
    for (const allowed of relation.one_allowed_collections ?? []) targets.add(allowed);
  }
  return targets;
}
