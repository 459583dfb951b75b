/** Restores the relations of a collection and those that referenced it, with their alias fields. */
import type { Resumable } from '../../kernel/resumable.js';
import type { Field, NewRelation, Relation } from '../model/model.js';
import { type CollectionNode, type Identity, relationsTo } from '../model/state.js';
import { isSystemCollection } from '../model/system-collections.js';
import { dropAlias } from './cascade.js';
import { AS_ASKED, type Restoring, noCollection } from './restore-context.js';

/** Relations that cannot be restored unchanged are added to `left`. */
export function* restoreRelations(restoring: Restoring): Resumable<void> {
  const { past, name, node } = restoring;
  const others = relationsTo(past, name).filter(({ many_collection }) => many_collection !== name);
  for (const relation of [...node.relations.values(), ...others]) {
    const pointsHere = relation.many_collection !== name && relation.one_collection !== name;
    if (pointsHere) allowAgain(restoring, relation);
    else restoreRelation(restoring, relation);
    yield;
  }
  dropShowing(restoring);
  for (const collection of new Set([name, ...others.map(({ many_collection }) => many_collection)]))
    joinJunctions(restoring, collection);
}

/** Removes alias fields of relations that are not restored. */
function dropShowing({ past, name, draft }: Restoring): void {
  for (const { one_collection, one_field, many_collection, many_field } of relationsTo(past, name)) {
    if (one_collection !== name || one_field === null) continue;
    const back = draft.get(many_collection)?.relations.get(many_field);
    if (back?.one_collection !== name || back.one_field !== one_field) dropAlias(draft, name, one_field);
  }
}

/** A relation with several possible targets still exists, with its column. */
function allowAgain({ past, draft, name, left }: Restoring, relation: Relation): void {
  const { many_collection: collection, many_field: field, id } = relation;
  const held = draft.get(collection)?.relations.get(field);
  if (held?.id !== id || held.one_allowed_collections === null) {
    if (past.collections.has(collection))
      left.push({ kind: 'member', collection, field, reason: 'the relation is gone' });
    return;
  }
  const now = new Set([...held.one_allowed_collections, name]);
  const ordered = (relation.one_allowed_collections ?? []).filter((each) => now.delete(each));
  draft.putRelation({ ...held, one_allowed_collections: [...ordered, ...now] });
}

function restoreRelation(restoring: Restoring, relation: Relation): void {
  const { draft, left } = restoring;
  const { many_collection: collection, many_field: field } = relation;
  const reason = obstacle(restoring, relation);
  if (reason !== undefined) {
    left.push({ kind: 'relation', collection, field, reason });
    return;
  }
  const { id: _, ...body } = relation;
  draft.putRelation({
    ...body,
    schema: keyOf(restoring, relation),
    one_field: aliasOf(restoring, relation),
    one_allowed_collections: allowedOf(restoring, relation),
    junction_field: null,
    sort_field:
      body.sort_field !== null && restoring.isThereField(collection, body.sort_field) ? body.sort_field : null,
  });
}

function obstacle(restoring: Restoring, relation: Relation): string | undefined {
  const { draft, isThere, isThereField } = restoring;
  const { many_collection, many_field, one_collection } = relation;
  if (one_collection !== null && !isSystemCollection(one_collection) && !isThere(one_collection))
    return noCollection(restoring, one_collection);
  if (!isThere(many_collection)) return noCollection(restoring, many_collection);
  if (!isThereField(many_collection, many_field)) return 'the field is gone';
  return draft.get(many_collection)?.relations.has(many_field) === true
    ? 'the field holds another relation now'
    : undefined;
}

function keyOf({ isLeft, left }: Restoring, relation: Relation): NewRelation['schema'] {
  const { schema, many_collection: collection, many_field: field } = relation;
  if (schema === null || !isLeft(schema.constraint_name)) return schema;
  left.push({ kind: 'foreign key', collection, field, reason: AS_ASKED });
  return null;
}

function allowedOf(restoring: Restoring, relation: Relation): string[] | null {
  const { isThere, left } = restoring;
  const { one_allowed_collections: allowed, many_collection: collection, many_field: field } = relation;
  if (allowed === null) return null;
  const there = allowed.filter(isThere);
  for (const gone of allowed.filter((each) => !isThere(each)))
    left.push({ kind: 'member', collection, field, reason: noCollection(restoring, gone) });
  return there;
}

/** Returns the alias field on the other side, which is restored too. Null if its name is taken. */
function aliasOf(restoring: Restoring, { one_collection: one, one_field: field }: Relation): string | null {
  const { past, draft, name, left } = restoring;
  if (one === null || field === null || one === name) return field;
  const identity = past.collections.get(one)?.identities.fields.get(field);
  const now = draft.get(one);
  if (identity === undefined || now === undefined) return null;
  if (now.identities.fields.get(field) === identity) return field;
  if (!now.fields.has(field)) return restoreAlias(restoring, now, { one, field, identity });
  left.push({ kind: 'alias', collection: one, field, reason: 'another field is called so now' });
  return null;
}

interface Alias {
  one: string;
  field: string;
  identity: Identity;
}

function restoreAlias(
  { past, draft, brings }: Restoring,
  now: CollectionNode,
  { one, field, identity }: Alias,
): string {
  const alias = past.collections.get(one)?.fields.get(field) as Field;
  const { group } = alias.meta;
  const stays = group === null || now.fields.has(group);
  draft.restoreField(stays ? alias : { ...alias, meta: { ...alias.meta, group: null } }, identity);
  brings(identity);
  return field;
}

/** The two relations of a junction reference each other. */
function joinJunctions({ past, draft }: Restoring, collection: string): void {
  const held = new Map([...draft.relationsOf(collection)].map((relation) => [relation.many_field, relation]));
  for (const then of past.collections.get(collection)?.relations.values() ?? []) {
    const relation = held.get(then.many_field);
    const { junction_field, one_collection } = then;
    const isFree = relation?.junction_field === null && relation.one_collection === one_collection;
    if (isFree && junction_field !== null && held.has(junction_field))
      draft.putRelation({ ...relation, junction_field });
  }
}
