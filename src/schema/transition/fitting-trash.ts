/** Decides which trash entries can be restored by a transition. */
import { jsonEqual } from '../../kernel/json.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { ColumnSchema, Field } from '../model/model.js';
import { type CollectionNode, type Identity, type State, extrasOf, isFolder, primaryKeyOf } from '../model/state.js';
import { type InTrash, type Way, withTables } from './restoring-transition.js';

/** Returns the restorable entries, tables first, because fields may be restored into them. */
export function* fitting<T extends InTrash>(way: Way, found: readonly T[]): Resumable<T[]> {
  const { to } = way;
  const tables: T[] = [];
  for (const each of found) {
    yield;
    if (each.kind === 'collection' && unfitTable(each.node, way) === null) tables.push(each);
  }
  const from = tables.length === 0 ? way.from : (yield* withTables(way, tables)).state;
  const fits = [...tables];
  for (const each of found) {
    yield;
    if (each.kind === 'field' && unfitField(each, { from, to }) === null) fits.push(each);
  }
  return fits;
}

/** Returns the collection with the same identity. */
function byIdentity({ collections }: State, { identities, collection }: CollectionNode): CollectionNode | undefined {
  const same = (node: CollectionNode | undefined) => node?.identities.collection === identities.collection;
  const named = collections.get(collection.collection);
  return same(named) ? named : collections.find(same);
}

function unfitTable(before: CollectionNode, { from, to }: Pick<Way, 'from' | 'to'>): string | null {
  const after = byIdentity(to, before);
  if (after === undefined || isFolder(after)) return 'it is not asked for';
  // A diff matches by name. It keeps a table that has the name now and cannot replace it by another one.
  const named = from.collections.get(after.collection.collection);
  if (named !== undefined && byIdentity(to, named) === undefined) return 'another table has its name';
  const parts = ['partition_by', 'partition_of'] as const;
  const [old, now] = [extrasOf(before), extrasOf(after)];
  if (parts.some((part) => !jsonEqual(old[part], now[part]))) return 'it is partitioned otherwise';
  const changed = [...after.fields.values()].find((field) => isAnother(before, after, field));
  return changed === undefined ? null : `${JSON.stringify(changed.field)} is of another kind there`;
}

/** PostgreSQL cannot convert columns from or to an unsupported type. */
function isAnother(before: CollectionNode, after: CollectionNode, now: Field): boolean {
  const identity = after.identities.fields.get(now.field);
  const [name] = [...before.identities.fields].find(([, each]) => each === identity) ?? [];
  const old = name === undefined ? undefined : before.fields.get(name);
  if (!old?.schema || !now.schema || (old.type !== 'unknown' && now.type !== 'unknown')) return false;
  return !isSameType(old.schema, now.schema);
}

function unfitField(each: InTrash, { from, to }: Pick<Way, 'from' | 'to'>): string | null {
  const { identity, node } = each;
  const after = byIdentity(to, node);
  const now = after && fieldOf(after, identity);
  const old = fieldOf(node, identity);
  if (after === undefined || !now?.schema || !old?.schema) return 'it is not asked for';
  return each.empty === true ? null : unfitValues(node, { from, now: now.schema, old: old.schema, after });
}

function unfitValues(
  node: CollectionNode,
  { from, now, old, after }: { from: State; now: ColumnSchema; old: ColumnSchema; after: CollectionNode },
): string | null {
  if (now.generation_expression !== null) return 'its values are computed there';
  if (!isSameType(now, old)) return `its values are of the type ${old.data_type}`;
  // A changed key does not exist during the transition.
  return keyChange(node, byIdentity(from, node)) ?? keyChange(node, after);
}

function fieldOf({ fields, identities }: CollectionNode, identity: Identity): Field | undefined {
  for (const [name, each] of identities.fields) if (each === identity) return fields.get(name);
  return undefined;
}

/** Returns why values stored by the former key cannot be matched by the current one. Null if they can. */
export function keyChange(then: CollectionNode, now: CollectionNode | undefined): string | null {
  if (now === undefined) return 'its table is gone';
  const key = (node: CollectionNode) =>
    new Map(primaryKeyOf(node).map((field) => [node.identities.fields.get(field.field) ?? '', field]));
  const [old, new_] = [key(then), key(now)];
  const isSame = old.size === new_.size && [...old.keys()].every((identity) => new_.has(identity));
  if (!isSame) return 'the primary key is another one now';
  const retyped = [...old].find(([identity, field]) => !areAlike(field, new_.get(identity) as Field));
  return retyped === undefined
    ? null
    : `the type of the primary key ${JSON.stringify(retyped[1].field)} is another one now`;
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
