/**
 * Restores a field from the trash with its state before the deletion. Names in it that changed since then are replaced
 * with the current ones. Objects that were deleted with the field are restored too.
 */
import { type Problem, type Result, invalidProblem, ok, refuse } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { indexNameOf, uniqueNameOf, notNullNameOf } from '../model/constraint-names.js';
import type { Field, NewRelation, Relation, TableSchema } from '../model/model.js';
import {
  type CollectionNode,
  type Identity,
  type State,
  extrasOf,
  extrasOfTable,
  tableNameOf,
  tableIdOf,
} from '../model/state.js';
import type { Privilege, SchemaObject } from '../model/object-document.js';
import { idOnTable, objectNameParts } from '../model/object-ids.js';
import { selectColumns, sortPrivileges } from '../model/privileges.js';
import { constraintColumns, indexColumns } from '../sql-text/definitions.js';
import { objectsOn } from '../sql-text/object-table.js';
import { type Restores, relationBody } from './context.js';
import { Draft } from './draft.js';
import { keyChange } from './restoring-transition.js';
import { withTypeNames } from './objects.js';
import { isNone, renamesBetween, withRenames } from './renames.js';
import { REFERABLE_SYSTEM_COLLECTIONS } from '../model/system-collections.js';
import { quoteName } from '../../kernel/text.js';
import { withExtras } from './cascade.js';

/* Restore objects that were deleted in the same batch because of the field, if the other side still exists and the
   name is free. All other objects are reported. */

/** Explains as a clause why an object is not restored: `the relation articles.author: … is gone`. */
type NotRestoredReason = string;

interface FieldRestorationContext {
  draft: Draft;
  /** The schema before the batch, with current names. */
  past: State;
  /** The current name of the collection. */
  collection: string;
  field: string;
  /** The privileges that roles had on the column. */
  privileges: readonly PrivilegesObject[];
  /** True if a constraint, an index, or privileges with this id are not restored. */
  isLeft(name: string): boolean;
  /** Called for each restored field. */
  brings(identity: Identity): void;
}

/** @returns the objects that are not restored, with reasons */
function putBackField(at: FieldRestorationContext): NotRestoredReason[] {
  const before = at.past.collections.get(at.collection) as CollectionNode;
  putField(at, before, at.field);
  const away = [...putBackDefinitions(at, before), ...putBackRelation(at, before)];
  putBackMentions(at, before);
  putBackPrivileges(at);
  return away;
}

/**
 * Restores the field with its identity, its group and its group members, and references to the field in the collection.
 */
function putField(at: FieldRestorationContext, before: CollectionNode, name: string): void {
  const { draft, collection } = at;
  const field = removeExcluded(before, before.fields.get(name) as Field, at);
  const identity = before.identities.fields.get(name) as Identity;
  const stays = sameField(draft.get(collection), before);
  const group = field.meta.group !== null && stays(field.meta.group) ? field.meta.group : null;
  draft.restoreField({ ...field, meta: { ...field.meta, group } }, identity);
  at.brings(identity);
  putBackChildren({ draft, collection }, before, field);
  putBackPointers({ draft, collection }, before, name);
}

/** Removes the constraints and indexes that the client excluded. */
function removeExcluded(node: CollectionNode, field: Field, { isLeft }: FieldRestorationContext): Field {
  const { schema } = field;
  if (schema === null) return field;
  const column = { ...field, schema };
  const table = tableNameOf(node);
  return {
    ...field,
    schema: {
      ...schema,
      is_nullable: schema.is_nullable || isLeft(notNullNameOf(table, column)),
      is_unique: schema.is_unique && !isLeft(uniqueNameOf(table, column)),
      is_indexed: schema.is_indexed && !isLeft(indexNameOf(table, column)),
    },
  };
}

type RestoreTarget = Pick<FieldRestorationContext, 'draft' | 'collection'>;

/** Moves fields back into the group. The deletion had moved them to the parent group. */
function putBackChildren(
  { draft, collection }: RestoreTarget,
  before: CollectionNode,
  { field, meta: { group } }: Field,
): void {
  const stays = sameField(draft.get(collection), before);
  for (const child of before.fields.values()) {
    if (child.meta.group !== field || !stays(child.field)) continue;
    const now = draft.get(collection)?.fields.get(child.field);
    if (now?.meta.group === group) draft.putField({ ...now, meta: { ...now.meta, group: field } });
  }
}

/** Restores archive_field and sort_field of the collection if they named the field. */
function putBackPointers({ draft, collection }: RestoreTarget, before: CollectionNode, name: string): void {
  const held = draft.get(collection)?.collection;
  if (held === undefined) return;
  const { archive_field, sort_field } = before.collection.meta;
  const meta = {
    ...held.meta,
    archive_field: restoreReference(name, archive_field, held.meta.archive_field),
    sort_field: restoreReference(name, sort_field, held.meta.sort_field),
  };
  draft.putCollection({ ...held, meta });
}

const restoreReference = (name: string, was: string | null, is: string | null): string | null =>
  was === name && is === null ? name : is;

/** True if the same field still exists. */
const sameField =
  (now: CollectionNode | undefined, before: CollectionNode) =>
  (name: string): boolean => {
    const identity = before.identities.fields.get(name);
    return identity !== undefined && now?.identities.fields.get(name) === identity;
  };

/** True if the same collection still exists. */
function sameCollection({ draft, past }: Pick<FieldRestorationContext, 'draft' | 'past'>, name: string): boolean {
  if (REFERABLE_SYSTEM_COLLECTIONS.has(name)) return true;
  const identity = past.collections.get(name)?.identities.collection;
  return identity !== undefined && draft.get(name)?.identities.collection === identity;
}

type Definition = { name: string; definition: string; references?: string };

/** Restores the constraints, indexes and sequences that used the column. */
function putBackDefinitions(at: FieldRestorationContext, before: CollectionNode): NotRestoredReason[] {
  const { draft, collection, field } = at;
  const held = draft.get(collection)?.collection;
  if (!held?.schema) return [];
  const { constraints = [], indexes = [], needs = [] } = extrasOf(before);
  const now = extrasOf({ collection: held });
  const away: NotRestoredReason[] = [];
  const stays = sameField(draft.get(collection), before);
  const missing = <T extends Definition>(items: readonly T[], there: readonly Definition[] = [], columnsOf: Columns) =>
    items.filter((each) => {
      const columns = columnsOf(each.definition);
      if (!columns.has(field) || there.some(({ name }) => name === each.name)) return false;
      if (at.isLeft(each.name)) return false;
      const gone = [...columns].find((column) => !stays(column));
      const lacks = gone === undefined ? lostTarget(at, each) : quoteName(gone);
      if (lacks !== undefined) away.push(`${each.name}: ${lacks} no longer exists`);
      return lacks === undefined;
    });
  const additions = {
    constraints: missing(constraints, now.constraints, constraintColumns),
    indexes: missing(indexes, now.indexes, indexColumns),
    needs: needs.filter((need) => need.kind === 'sequence' && need.owned_by === field),
  };
  const schema = addDefinitions(held.schema, additions);
  if (schema !== held.schema) draft.putCollection({ ...held, schema });
  return away;
}

type Columns = (definition: string) => ReadonlySet<string>;

const lostTarget = (at: FieldRestorationContext, { references }: Definition): string | undefined =>
  references === undefined || sameCollection(at, references) ? undefined : quoteName(references);

type Lists = Required<Pick<NonNullable<TableSchema['extras']>, 'constraints' | 'indexes' | 'needs'>>;

function addDefinitions(schema: TableSchema, additions: Lists): TableSchema {
  if (Object.values(additions).every((list) => list.length === 0)) return schema;
  const { constraints = [], indexes = [], needs = [] } = extrasOfTable(schema);
  const byName = <T extends { name: string }>(items: T[]): T[] => items.sort((a, b) => (a.name < b.name ? -1 : 1));
  return withExtras(schema, {
    ...schema.extras,
    constraints: byName([...constraints, ...additions.constraints]),
    indexes: byName([...indexes, ...additions.indexes]),
    needs: [...needs, ...additions.needs],
  });
}

/** Restores the relation of the field, with the alias field. */
function putBackRelation(at: FieldRestorationContext, before: CollectionNode): NotRestoredReason[] {
  const { draft, collection, field } = at;
  const relation = before.relations.get(field);
  if (relation === undefined) return [];
  const label = `relation ${collection}.${field}`;
  const stays = sameField(draft.get(collection), before);
  const unless = (name: string | null) => (name !== null && stays(name) ? name : null);
  const ends = endsOf(at, relation, stays);
  if (typeof ends === 'string') return [`${label}: ${ends}`];
  const { one_field, away } = putBackAlias(at, relation);
  const { sort_field, junction_field } = relation;
  draft.putRelation({
    ...relationBody(relation),
    ...ends,
    one_field,
    schema: relation.schema !== null && at.isLeft(relation.schema.constraint_name) ? null : relation.schema,
    sort_field: unless(sort_field),
    junction_field: unless(junction_field),
  });
  return away;
}

/** Returns the current targets of the relation, or why there are none. */
function endsOf(
  at: FieldRestorationContext,
  { one_collection, one_allowed_collections: allowed, one_collection_field: pointer }: Relation,
  stays: (field: string) => boolean,
): Pick<NewRelation, 'one_allowed_collections'> | string {
  if (one_collection !== null) {
    return sameCollection(at, one_collection)
      ? { one_allowed_collections: allowed }
      : `${quoteName(one_collection)} no longer exists`;
  }
  if (pointer !== null && !stays(pointer))
    return `${quoteName(pointer)}, which stores its collection, no longer exists`;
  return { one_allowed_collections: allowed?.filter((each) => sameCollection(at, each)) ?? null };
}

function putBackAlias(
  at: FieldRestorationContext,
  { one_collection: one, one_field }: Relation,
): { one_field: string | null; away: NotRestoredReason[] } {
  if (one === null || one_field === null) return { one_field: null, away: [] };
  const { draft, past } = at;
  const then = past.collections.get(one);
  if (then?.fields.get(one_field) === undefined) return { one_field: null, away: [] };
  const now = draft.get(one)?.fields.get(one_field);
  if (now !== undefined) return { one_field: null, away: [`field ${one}.${one_field}: its name is in use`] };
  putField({ ...at, collection: one }, then, one_field);
  return { one_field, away: [] };
}

/** Restores references to the field in other relations of the collection. */
function putBackMentions({ draft, collection, field }: FieldRestorationContext, before: CollectionNode): void {
  const stays = sameField(draft.get(collection), before);
  for (const relation of before.relations.values()) {
    const now = draft.get(collection)?.relations.get(relation.many_field);
    if (now === undefined || !stays(relation.many_field)) continue;
    const sort_field = restoreReference(field, relation.sort_field, now.sort_field);
    const junction_field = restoreReference(field, relation.junction_field, now.junction_field);
    if (sort_field !== now.sort_field || junction_field !== now.junction_field)
      draft.putRelation({ ...now, sort_field, junction_field });
  }
}

/** Grants the privileges on the column again, together with those that the roles have now. */
function putBackPrivileges({ draft, privileges, isLeft }: FieldRestorationContext): void {
  for (const object of privileges) {
    if (isLeft(object.id)) continue;
    const now = draft.object(object)?.definition ?? [];
    const definition = typeof now === 'string' ? now : sortPrivileges(now.concat(object.definition));
    draft.putObject({ ...object, definition });
  }
}

type PrivilegesObject = SchemaObject & { definition: Privilege[] };

/** Returns the privileges that roles had on the column, with its current name and that of its table. */
function findFormerPrivileges(
  { past, identity }: RestoreField,
  node: CollectionNode,
  field: string,
): PrivilegesObject[] {
  const before = past.collections.find(({ identities }) => identities.collection === node.identities.collection);
  const table = tableIdOf(node.collection);
  const [name = ''] = [...(before?.identities.fields ?? [])].find(([, each]) => each === identity) ?? [];
  if (before?.collection.schema == null) return [];
  return objectsOn(past.objects, tableIdOf(before.collection)).flatMap((object) => {
    const former = Array.isArray(object.definition) ? selectColumns(object.definition, new Set([name])) : [];
    if (former.length === 0) return [];
    const id = idOnTable(object.kind, objectNameParts(object).name, table);
    return [{ ...object, id, definition: former.map((each) => ({ ...each, columns: [field] })) }];
  });
}

export interface RestoreField {
  /** Position of the event that deleted the field. */
  position: number;
  identity: Identity;
  /** The names of the field and its collection at that time. */
  name: string;
  collection: string;
  /** The schema before the batch that deleted the field. */
  past: State;
  /** The collection immediately before the deletion. */
  node: CollectionNode;
  /** The new name. If absent, the field keeps its former name. */
  as?: string | undefined;
  /** Names of constraints and indexes, and ids of privileges, that are not restored. */
  without: readonly string[];
  /** True if the trash has no values, so that the column is created empty. */
  empty?: boolean;
}

export interface FieldRestoration {
  draft: Draft;
  restores: Map<Identity, Restores>;
  left: NotRestoredReason[];
  /** The names that `without` may contain. */
  keys: readonly string[];
  /** The current name of the collection, and below that of the field. */
  collection: string;
  field: string;
}

/** Returns the draft with the field, or why it cannot be restored. */
export function* fieldRestoration(state: State, restore: RestoreField): Resumable<Result<FieldRestoration>> {
  const { position, identity, name, node, as, without, empty } = restore;
  const collection = nameOf(state, node.identities.collection);
  const now = collection === undefined ? undefined : state.collections.get(collection);
  if (collection === undefined || now === undefined) return refuse(withoutTable(restore));
  const field = as ?? name;
  const problems = [...takenName(now, restore), ...otherKey(node, now, restore)];
  if (problems.length > 0) return refuse(...problems);
  const past = withTypeNames(yield* renameToCurrent(state, restore, collection), state);
  const before = past.collections.get(collection);
  if (before?.identities.fields.get(field) !== identity)
    throw new Error(`restore: ${JSON.stringify(name)} of position ${position} is not the deleted object`);
  const privileges = findFormerPrivileges(restore, node, field);
  const constraintNames = [...keysOf(before, field), ...privileges.map(({ id }) => id)];
  const unknown = without.flatMap((each, index) =>
    constraintNames.includes(each) ? [] : [unknownKey(each, index, constraintNames)],
  );
  if (unknown.length > 0) return refuse(...unknown);
  const draft = new Draft(state);
  const restores = new Map<Identity, Restores>();
  const skippedNames = new Set(without);
  const left = putBackField({
    draft,
    past,
    collection,
    field,
    privileges,
    isLeft: (key) => skippedNames.has(key),
    brings: (each) =>
      restores.set(each, { position, name: restore.collection, empty: empty === true && each === identity }),
  });
  return ok({ draft, restores, left, keys: constraintNames, collection, field });
}

function nameOf({ collections }: State, identity: Identity): string | undefined {
  for (const [name, node] of collections) {
    if (node.identities.collection === identity) return name;
  }
  return undefined;
}

function withoutTable({ collection, name }: RestoreField): Problem {
  const message = `collection ${JSON.stringify(collection)} of the field does not exist`;
  return { code: 'IN_USE', message, collection, field: name };
}

function takenName({ fields, collection }: CollectionNode, { name, as }: RestoreField): Problem[] {
  if (!fields.has(as ?? name)) return [];
  const taken = `field ${JSON.stringify(as ?? name)} of collection ${JSON.stringify(collection.collection)} already exists`;
  const location = { collection: collection.collection, field: as ?? name };
  if (as !== undefined) return [{ code: 'ALREADY_EXISTS', message: taken, path: 'as', ...location }];
  return [
    { code: 'ALREADY_EXISTS', message: `${taken}: restore this one with another name, {"as": "…"}`, ...location },
  ];
}

function otherKey(then: CollectionNode, now: CollectionNode, { name, empty }: RestoreField): Problem[] {
  const why = empty === true ? null : keyChange(then, now);
  if (why === null) return [];
  const message = `the values cannot be matched to rows: ${why}`;
  return [{ code: 'IN_USE', message, collection: now.collection.collection, field: name }];
}

function* renameToCurrent(state: State, { past, identity, as }: RestoreField, collection: string): Resumable<State> {
  const names = new Set([...past.collections.keys(), ...state.collections.keys()]);
  const renames = renamesBetween(past, state, names);
  const fields = new Map(renames.fields);
  const then = past.collections.find(
    (node) => node.identities.collection === state.collections.get(collection)?.identities.collection,
  );
  const old = [...(then?.identities.fields ?? [])].find(([, each]) => each === identity)?.[0];
  if (as !== undefined && old !== undefined && old !== as)
    fields.set(collection, new Map([...(fields.get(collection) ?? []), [old, as]]));
  if (isNone({ ...renames, fields })) return past;
  return (yield* withRenames(past, { ...renames, fields })).state;
}

/** Returns the names of constraints and indexes of the column that a client may exclude. */
function keysOf(node: CollectionNode, name: string): string[] {
  const field = node.fields.get(name) as Field;
  const { constraints = [], indexes = [] } = extrasOf(node);
  const key = node.relations.get(name)?.schema?.constraint_name;
  return [
    ...ownKeys(tableNameOf(node), field),
    ...(key === undefined ? [] : [key]),
    ...constraints.flatMap((each) => (constraintColumns(each.definition).has(name) ? [each.name] : [])),
    ...indexes.flatMap((each) => (indexColumns(each.definition).has(name) ? [each.name] : [])),
  ];
}

function ownKeys(table: string, { field, schema }: Field): string[] {
  if (schema === null) return [];
  const column = { field, schema };
  return [
    ...(schema.is_nullable ? [] : [notNullNameOf(table, column)]),
    ...(schema.is_unique ? [uniqueNameOf(table, column)] : []),
    ...(schema.is_indexed ? [indexNameOf(table, column)] : []),
  ];
}

function unknownKey(name: string, index: number, names: readonly string[]): Problem {
  const message = `no restored constraint or index is named ${JSON.stringify(name)}`;
  return invalidProblem(['without', index], message, { known: names });
}
