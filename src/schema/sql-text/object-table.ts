/* Finds the tables of objects. The id of a trigger contains its table. Only the definition of a statistics object does. */
import {
  type ObjectKind,
  type ObjectName,
  type PrivilegesTarget,
  isFreeOnTable,
  newTypeOf,
  targetOf,
} from '../model/objects.js';
import { type Privilege, type SchemaObject, newObject } from '../model/object-document.js';
import {
  type QualifiedName,
  SEARCHED,
  idOnTable,
  idOnTarget,
  objectNameParts,
  qualifiedId,
  searchedNames,
  revokedFromPublic,
  splitQualifiedId,
} from '../model/object-ids.js';
import { privilegesIn, sortPrivileges } from '../model/privileges.js';
import {
  type ObjectNode,
  type State,
  collectionAt,
  collectionOfTable,
  createIndexedLookup,
  getObject,
} from '../model/state.js';
import type { Field } from '../model/model.js';
import { parseTypeText } from './expression.js';
import { parseDefinition } from './object-definition.js';
import { areOnlyOf } from './table-options.js';

/** Returns the table or view that an object belongs to, as in `qualifiedId`. Null for objects that belong to no table. */
export function tableOf(object: ObjectName & Partial<Pick<SchemaObject, 'definition'>>): string | null {
  if (!isFreeOnTable(object)) return objectNameParts(object).table;
  const parsed = parseDefinition(object.definition ?? '');
  return typeof parsed === 'string' || parsed.onTable === null ? null : qualifiedId(parsed.onTable);
}

const keysByTable = createIndexedLookup(({ object }: ObjectNode) => {
  const table = tableOf(object);
  return table === null ? [] : [table];
});

/**
 * Returns the objects of a table or view: triggers, policies, rules, privileges and so on.
 * @param table as in `qualifiedId`
 */
export const objectsOn = (objects: State['objects'], table: string): SchemaObject[] =>
  [...keysByTable(objects, table)].flatMap((key) => objects.get(key)?.object ?? []);

const targetKey = ({ type, id }: PrivilegesTarget): string => `${type} ${id}`;

const keysByTarget = createIndexedLookup(({ object }: ObjectNode) => {
  const { target } = objectNameParts(object);
  return target === null ? [] : [targetKey(target)];
});

/** Returns the privileges of roles on a function, procedure, aggregate, sequence or type, or on new objects. */
export const privilegesOn = (objects: State['objects'], target: PrivilegesTarget): SchemaObject[] =>
  [...keysByTarget(objects, targetKey(target))].flatMap((key) => objects.get(key)?.object ?? []);

/** A new table, by its name as in `qualifiedId`, or a new object. */
export interface Created {
  kind: ObjectKind | 'table';
  id: string;
}

/**
 * Returns what PostgreSQL grants on a new table or object because of default privileges. PUBLIC can use a new function or
 * type unless default privileges revoke that in all schemas, and do not grant it again in this schema.
 * @param defaultSchema its name
 */
export function defaultPrivilegesOn(
  objects: State['objects'],
  created: Created,
  defaultSchema: string,
): SchemaObject[] {
  const type = newTypeOf(created.kind);
  if (type === undefined) return [];
  const granted = new Map<string, Privilege[]>();
  for (const each of ['', schemaOf(created) ?? defaultSchema].flatMap((id) => privilegesOn(objects, { type, id }))) {
    const { name } = objectNameParts(each);
    granted.set(name, [...(granted.get(name) ?? []), ...privilegesIn(each.definition)]);
  }
  return [...granted].flatMap(([role, list]) => {
    const object = newObject({ kind: 'privileges', id: privilegesId(role, created) }, sortPrivileges(list));
    return revokedFromPublic(object) !== null && list.length > 0 ? [] : [object];
  });
}

const schemaOf = ({ kind, id }: Created): string | undefined =>
  kind === 'table' ? splitQualifiedId(id).schema : objectNameParts({ kind, id }).schema;

function privilegesId(role: string, { kind, id }: Created): string {
  const target = kind === 'table' ? undefined : targetOf({ kind, id });
  return target === undefined ? idOnTable('privileges', role, id) : idOnTarget(role, target);
}

/**
 * Returns the collection whose table an object belongs to. Undefined for an object of a view, for objects that belong to
 * no table, and for a statistics object that the state does not contain.
 */
export function collectionOfObject(state: State, object: ObjectName): string | undefined {
  const table = tableOf(isFreeOnTable(object) ? (getObject(state, object) ?? object) : object);
  return table === null ? undefined : collectionOfTable(state, table);
}

/**
 * Returns the collections that an object belongs to: that of its table and, for a rule, those that it reads or writes.
 * Null stands for a view, and for a relation that is not managed.
 */
export function collectionsOfObject(state: State, object: ObjectName): (string | null)[] {
  const own = collectionOfObject(state, object);
  const definition = object.kind === 'rule' ? getObject(state, object)?.definition : undefined;
  const parsed = definition === undefined ? '' : parseDefinition(definition);
  if (typeof parsed === 'string') return own === undefined ? [] : [own];
  return [
    own ?? null,
    ...(parsed.rule?.relations ?? []).map((name) => searchedCollection(state, splitQualifiedId(name)) ?? null),
  ];
}

/** Returns the collection of a table that SQL names. */
export const searchedCollection = (state: State, name: QualifiedName): string | undefined =>
  searchedNames(name)
    .map((each) => collectionAt(state, each.schema, each.name))
    .find((each) => each !== undefined);

/** Returns the columns with a type or an array of it, and the collections that define a domain over it. */
export function usersOfType(
  { collections }: Pick<State, 'collections'>,
  { schema, name }: QualifiedName,
): UserOfType[] {
  const joined = schema === undefined ? name : `${schema}.${name}`;
  const isNamed = (text: string): boolean => text === joined || (schema === SEARCHED && text === name);
  const isType = (text: string): boolean => text.includes(name) && isNamed(parseTypeText(text)?.name ?? '');
  return [...collections.values()].flatMap(({ collection: { collection, schema }, fields }) => {
    const columns = [...fields.values()].filter((each) => each.schema !== null && isType(each.schema.data_type));
    const needs = schema?.extras?.needs ?? [];
    return [
      ...columns.map(({ field }) => ({ collection, field })),
      ...(needs.some((need) => need.kind === 'domain' && isType(need.type)) ? [{ collection, field: null }] : []),
    ];
  });
}

/** Returns the managed type of a column, or of the elements of an array. Undefined for all other types. */
export const managedTypeOf = (state: Pick<State, 'objects'>, dataType: string): SchemaObject | undefined =>
  getObject(state, { kind: 'type', id: parseTypeText(dataType)?.name ?? '' });

/**
 * True if the service supports the type of a column, or manages it as an object. PostgreSQL can convert the values of two
 * such types through text.
 */
export const hasKnownType = (state: Pick<State, 'objects'>, { type, schema }: Field): boolean =>
  type !== 'unknown' || managedTypeOf(state, schema?.data_type ?? '') !== undefined;

interface UserOfType {
  collection: string;
  /** Null for a domain in the needs of the collection. */
  field: string | null;
}

/**
 * True if PostgreSQL drops the object together with the columns: a statistics object that contains one of them, and
 * privileges and table options about no other columns.
 */
export function isDroppedWithColumns({ definition, ...object }: SchemaObject, columns: ReadonlySet<string>): boolean {
  if (typeof definition !== 'string')
    return definition.every((each) => each.columns?.every((column) => columns.has(column)) === true);
  if (!isFreeOnTable(object) && object.kind !== 'table_options') return false;
  const parsed = parseDefinition(definition);
  if (typeof parsed === 'string') return false;
  if (parsed.tableOptions !== null) return areOnlyOf(parsed.tableOptions, columns);
  return parsed.statistics?.columns.some((column) => columns.has(column)) === true;
}
