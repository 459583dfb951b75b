import { quoteName } from '../../kernel/text.js';
import { isFolder, type State, getField, primaryKeyOf, byName, getRelation, relationsTo } from '../model/state.js';
import { holdsText, keyFamily } from '../sql-text/data-types.js';
import { columnType } from '../normal-form/index.js';
import type { ColumnSchema, Relation } from '../model/model.js';
import { type Path, type Problem, type ProblemCode, problemAbout } from '../../kernel/problem.js';
import { REFERABLE_SYSTEM_COLLECTIONS, isSystemCollection } from '../model/system-collections.js';
import { INCOMPARABLE } from './columns.js';
import { relationBody } from '../transition/context.js';
import { jsonEqual } from '../../kernel/json.js';

/* Decides which of two conflicting relations is reported. */

/**
 * True if `relation` is the one to report: the one that the change touches, or the newer one.
 * @param from the state before the change
 */
function isConflicting(relation: Relation, other: Relation, from: State): boolean {
  const [mine, theirs] = [isChanged(relation, from), isChanged(other, from)];
  if (mine !== theirs) return mine;
  const [age, others] = [ageOf(relation), ageOf(other)];
  return age === others ? byName(nameOf(relation), nameOf(other)) > 0 : age > others;
}

/** Formats a relation for messages: `articles.author`. */
const nameOf = ({ many_collection, many_field }: Relation): string => `${many_collection}.${many_field}`;

function isChanged(relation: Relation, from: State): boolean {
  const before = getRelation(from, relation.many_collection, relation.many_field);
  if (before === undefined || before === relation) return before === undefined;
  return !jsonEqual(relationBody(before), relationBody(relation));
}

/** A relation that is not in the log yet has the id 0 and is the newest. */
const ageOf = ({ id }: Relation): number => (id === 0 ? Infinity : id);

/* An alias field shows the items of one relation, never of two. */

/**
 * @param relations the relations that the change touches. If two relations have the same alias, one of them is
 * reported.
 */
export function shownOnceProblems(state: State, relations: readonly Relation[], from: State): Problem[] {
  const checked = new Map<string, ReadonlyMap<string, Relation>>();
  return relations.flatMap((relation) => {
    const { many_collection, many_field, one_collection: one, one_field: alias } = relation;
    if (one === null || alias === null) return [];
    let shown = checked.get(one);
    if (shown === undefined) checked.set(one, (shown = firstByAlias(state, one, from)));
    const first = shown.get(alias);
    if (first === undefined || first === relation) return [];
    const message = `alias ${quoteName(alias)} of ${quoteName(one)} already shows the relation ${quoteName(nameOf(first))}`;
    const member = ['one_field'];
    return [problemAbout({ kind: 'relation', collection: many_collection, field: many_field, member }, message)];
  });
}

/** Returns for each alias the relation that conflicts with the others that reference `one`. */
function firstByAlias(state: State, one: string, from: State): ReadonlyMap<string, Relation> {
  const first = new Map<string, Relation>();
  for (const relation of relationsTo(state, one)) {
    const { one_collection, one_field: alias } = relation;
    if (one_collection !== one || alias === null) continue;
    const other = first.get(alias);
    if (other === undefined || isConflicting(other, relation, from)) first.set(alias, relation);
  }
  return first;
}

type Fault = Pick<Problem, 'message' | 'details'> & { path: Path; code?: ProblemCode };

/**
 * Returns the problems of a relation. The one side is checked only if the many side has no problems.
 * @param from the state before the change, which decides which of two conflicting relations is reported
 */
export function relationProblems(state: State, relation: Relation, from: State): Problem[] {
  const faults = manyFaults(state, relation);
  if (faults.length === 0) {
    faults.push(...(relation.one_collection === null ? anyFaults(state, relation) : oneFaults(state, relation)));
    faults.push(...weakFaults(state, relation), ...constraintNameFaults(state, relation, from));
  }
  const { many_collection: collection, many_field: field } = relation;
  return faults.map(({ path: member, message, ...more }) =>
    problemAbout({ kind: 'relation', collection, field, member }, message, more),
  );
}

function manyFaults(state: State, { many_collection, many_field }: Relation): Fault[] {
  const node = state.collections.get(many_collection);
  if (node === undefined)
    return [{ path: ['many_collection'], message: `collection ${quoteName(many_collection)} does not exist` }];
  const field = node.fields.get(many_field);
  if (field === undefined) {
    return [
      {
        path: ['many_field'],
        message: `field ${quoteName(many_field)} does not exist in ${quoteName(many_collection)}`,
      },
    ];
  }
  if (field.schema !== null) return [];
  return [
    { path: ['many_field'], message: `${quoteName(many_field)} is an alias field; the many side must be a column` },
  ];
}

function oneFaults(state: State, relation: Relation): Fault[] {
  const one = relation.one_collection as string;
  const path = ['one_collection'];
  if (relation.one_collection_field !== null || relation.one_allowed_collections !== null) {
    const message =
      'one_collection_field and one_allowed_collections are for a many-to-any relation, whose one_collection is null';
    return [{ path, message }];
  }
  const key = keyOf(state, one);
  if (typeof key === 'string') return [{ path, message: key }];
  if (relation.schema === null) return [];
  if (key === undefined) {
    return [
      { path, message: `${quoteName(one)} has no primary key with a single column that a foreign key can reference` },
    ];
  }
  const column = getField(state, relation.many_collection, relation.many_field)?.schema as ColumnSchema;
  if (isComparable(column, key)) return [];
  const message =
    `${quoteName(relation.many_field)} has the type ${columnType(column)}, but the primary key of ${quoteName(one)} has the type ` +
    `${columnType(key)}; give both the same type`;
  return [{ path: ['many_field'], message }];
}

/**
 * Returns the single primary key of a collection, or a sentence that explains why no relation may reference the
 * collection.
 */
function keyOf(state: State, one: string): ColumnSchema | undefined | string {
  if (isSystemCollection(one)) {
    const key = REFERABLE_SYSTEM_COLLECTIONS.get(one);
    return key === undefined
      ? `${quoteName(one)} is a system collection that relations cannot reference`
      : (key as unknown as ColumnSchema);
  }
  const node = state.collections.get(one);
  if (node === undefined) return `collection ${quoteName(one)} does not exist`;
  if (isFolder(node)) return `${quoteName(one)} is a folder, and a relation can only reference a table`;
  const keys = primaryKeyOf(node);
  return keys.length === 1 ? (keys[0]?.schema as ColumnSchema) : undefined;
}

/** True if PostgreSQL can compare the columns with an index: equal types, or types of one operator family. */
function isComparable(column: ColumnSchema, key: ColumnSchema): boolean {
  return keyFamily(column.data_type) === keyFamily(key.data_type);
}

function anyFaults(state: State, relation: Relation): Fault[] {
  const faults: Fault[] = [];
  if (relation.schema !== null) {
    faults.push({
      path: ['schema'],
      message: 'schema must be null: a many-to-any relation references several tables and cannot have a foreign key',
    });
  }
  if (relation.one_field !== null) {
    const message = 'one_field must be null: a many-to-any relation has no single collection that could show it';
    faults.push({ path: ['one_field'], message });
  }
  if (relation.one_allowed_collections === null) {
    faults.push({
      path: ['one_allowed_collections'],
      message: 'one_allowed_collections is required, because one_collection is null',
    });
  }
  const pointer = pointerFault(state, relation);
  if (pointer !== null) faults.push({ path: ['one_collection_field'], message: pointer });
  for (const [index, name] of (relation.one_allowed_collections ?? []).entries()) {
    const key = keyOf(state, name);
    if (typeof key === 'string') faults.push({ path: ['one_allowed_collections', index], message: key });
  }
  return faults;
}

function pointerFault(state: State, { many_collection, one_collection_field: name }: Relation): string | null {
  const schema = name === null ? undefined : getField(state, many_collection, name)?.schema;
  if (name === null || !schema) {
    return `a many-to-any relation needs one_collection_field, a column of ${quoteName(many_collection)} that stores the name of the collection`;
  }
  if (schema.generation_expression !== null)
    return `${quoteName(name)} is generated, so it cannot store the name of a collection`;
  if (holdsText(schema.data_type)) return null;
  return `${quoteName(name)} has the type ${columnType(schema)}, which cannot store the name of a collection; name a text column`;
}

/** Checks the members with names of optional fields. They may be null, but a named field must exist. */
function weakFaults(state: State, relation: Relation): Fault[] {
  const faults: Fault[] = [...roleFaults(relation)];
  for (const member of ['junction_field', 'sort_field'] as const) {
    const message = columnFault(state, relation, member);
    if (message !== undefined) faults.push({ path: [member], message });
  }
  const { one_field, one_collection } = relation;
  if (one_field !== null && one_collection !== null && getField(state, one_collection, one_field)?.schema !== null) {
    faults.push({
      path: ['one_field'],
      message: `${quoteName(one_field)} is not an alias field of ${quoteName(one_collection)}; name an alias field, or null`,
    });
  }
  return faults;
}

/** The roles of columns on the many side, as the end of a sentence. */
const ROLES = [
  ['many_field', 'the key of the related item'],
  ['one_collection_field', 'the collection of the related item'],
  ['junction_field', 'the other side of the junction'],
  ['sort_field', 'the sort order'],
] as const;

/** Checks that no column has more than one role. */
function roleFaults(relation: Relation): Fault[] {
  return ROLES.flatMap(([member], index) => {
    const name = relation[member];
    const other = ROLES.slice(0, index).find(([before]) => name !== null && relation[before] === name);
    if (other === undefined) return [];
    return [
      { path: [member], message: `${quoteName(name)} already stores ${other[1]} (${other[0]}); name another field` },
    ];
  });
}

function columnFault(state: State, relation: Relation, member: 'junction_field' | 'sort_field'): string | undefined {
  const { many_collection, [member]: name } = relation;
  if (name === null) return undefined;
  const field = getField(state, many_collection, name);
  if (field === undefined) return `field ${quoteName(name)} does not exist in ${quoteName(many_collection)}`;
  if (field.schema === null)
    return `${quoteName(name)} is an alias field, which stores no value; name a column, or null`;
  const order = member === 'sort_field' ? INCOMPARABLE.get(field.schema.data_type) : undefined;
  return order === undefined ? undefined : `${quoteName(name)} cannot be the sort field: ${order}`;
}

/** Checks the name of the foreign key constraint, which must be unique in its table. */
function constraintNameFaults(state: State, relation: Relation, from: State): Fault[] {
  const name = relation.schema?.constraint_name;
  if (name === undefined) return [];
  const others = state.collections.get(relation.many_collection)?.relations.values() ?? [];
  for (const other of others) {
    if (other.many_field === relation.many_field || other.schema?.constraint_name !== name) continue;
    if (!isConflicting(relation, other, from)) continue;
    const message = `constraint ${quoteName(name)} is already the foreign key of ${quoteName(other.many_field)}`;
    const details = { taken: [{ name, kind: 'constraint of the table' }] };
    return [{ code: 'ALREADY_EXISTS', path: ['schema', 'constraint_name'], message, details }];
  }
  return [];
}
