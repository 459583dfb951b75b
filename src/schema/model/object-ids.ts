/* The ids of objects: how they are composed of names, schemas, argument types and tables. */
import {
  type ObjectKind,
  type ObjectName,
  PUBLIC,
  type PrivilegesTarget,
  TARGETS,
  isNewType,
  isFreeOnTable,
  isNamedLikeTable,
  isOnTable,
  isRoutine,
} from './objects.js';
import type { Privilege } from './object-document.js';

const PLAIN = /^[a-z_][a-z0-9_]*$/;

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns the name in double quotes if it has characters other than lowercase letters, digits and `_`. */
export const quoteUnlessPlain = (name: string): string => (PLAIN.test(name) ? name : quote(name));

const unquote = (name: string): string => (name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name);

/** The name of a relation or a type, or the id of a function, and its schema. */
export interface QualifiedName {
  /** Undefined for the default schema. */
  schema: string | undefined;
  name: string;
}

const WITH_SCHEMA = /^("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)\.("(?:[^"]|"")+"|[a-z_][a-z0-9_]*)$/;
const QUOTED_DOT = /^"(?:[^"]|"")*\.(?:[^"]|"")*"$/;

/**
 * Returns the name of a relation or a type in ids: `totals`, `billing.totals`. In the default schema, it is the plain name,
 * in quotes only if it would look like a name with a schema.
 */
export function qualifiedId({ schema, name }: QualifiedName): string {
  if (schema !== undefined) return `${quoteUnlessPlain(schema)}.${quoteUnlessPlain(name)}`;
  return WITH_SCHEMA.test(name) || QUOTED_DOT.test(name) ? quote(name) : name;
}

/** Splits the name of a relation or a type as ids contain it. */
export function splitQualifiedId(id: string): QualifiedName {
  const [, schema, name] = WITH_SCHEMA.exec(id) ?? [];
  if (schema !== undefined && name !== undefined) return { schema: unquote(schema), name: unquote(name) };
  return { schema: undefined, name: QUOTED_DOT.test(id) ? unquote(id) : id };
}

/** Every search path contains this schema, so PostgreSQL omits it from names. */
export const SEARCHED = 'public';

/** Returns what a name in SQL can mean, in the order in which PostgreSQL searches. */
export const searchedNames = (name: QualifiedName): QualifiedName[] =>
  name.schema === undefined ? [name, { ...name, schema: SEARCHED }] : [name];

/**
 * Returns the id of a function, procedure or aggregate. The name is quoted unless it is plain. Keywords do not matter, because
 * they depend on the server.
 * @param schema undefined for the default schema
 */
export const routineId = (name: string, argumentTypes: string, schema?: string): string =>
  `${schema === undefined ? '' : `${quoteUnlessPlain(schema)}.`}${quoteUnlessPlain(name)}(${argumentTypes})`;

/** Quotes the name of a table, a sequence or a type like that of a function. */
function spellQualifiedId(id: string): string {
  const { schema, name } = splitQualifiedId(id);
  return schema === undefined ? quoteUnlessPlain(name) : id;
}

/**
 * Returns the id of an object of a table. Both names of a trigger, policy, rule or role are quoted like that of a function.
 * @param table as in `qualifiedId`
 */
export function idOnTable(kind: ObjectKind, name: string, table: string): string {
  if (isFreeOnTable({ kind })) return qualifiedId({ ...splitQualifiedId(table), name });
  return isNamedLikeTable({ kind }) ? table : `${quoteUnlessPlain(name)} on ${spellQualifiedId(table)}`;
}

/** Returns the id of the privileges of a role: `editors on total(integer)`, `editors on new tables in schema billing`. */
export const idOnTarget = (role: string, target: PrivilegesTarget): string =>
  `${quoteUnlessPlain(role)} on ${spellTarget(target)}`;

function spellTarget({ type, id }: PrivilegesTarget): string {
  if (type === 'routine') return id;
  if (isNewType(type)) return id === '' ? type : `${type} in schema ${quoteUnlessPlain(id)}`;
  return `${type} ${type === 'schema' ? quoteUnlessPlain(id) : spellQualifiedId(id)}`;
}

/** Returns the schema of privileges on a schema or on the new objects in it. They always name it. Undefined for others. */
export const namedSchema = (target: PrivilegesTarget | null): string | undefined =>
  target !== null && (target.type === 'schema' || isNewType(target.type)) ? target.id || undefined : undefined;

interface ObjectNameParts {
  /** The name without schema, quotes, argument types or table. For privileges, the role. */
  name: string;
  /**
   * The schema of the object, or of its table or target. Undefined for the default schema, except in privileges on a schema
   * or on the new objects in it, which always name it.
   */
  schema: string | undefined;
  /** `integer, text`. Null unless it is a function, procedure or aggregate. */
  argumentTypes: string | null;
  /** The table or view of an object whose id contains one, as in `qualifiedId`. Otherwise null. */
  table: string | null;
  /** The function, procedure, aggregate, sequence, type, schema or new objects of privileges. Otherwise null. */
  target: PrivilegesTarget | null;
}

const ROUTINE_ID = /^(?:("(?:[^"]|"")+"|[^".(]+)\.)?("(?:[^"]|"")+"|[^".(]+)\((.*)\)$/s;
const ID_ON_TABLE = /^("(?:[^"]|"")+"|[^" ]+) on ((?:(?:"(?:[^"]|"")+"|[^". ]+)\.)?(?:"(?:[^"]|"")+"|[^". ]+))$/;
const ID_ON_ROUTINE =
  /^("(?:[^"]|"")+"|[^" ]+) on ((?:(?:"(?:[^"]|"")+"|[^".( ]+)\.)?(?:"(?:[^"]|"")+"|[^".( ]+)\(.*\))$/s;
const ID_ON_NAMED =
  /^("(?:[^"]|"")+"|[^" ]+) on (sequence|type) ((?:(?:"(?:[^"]|"")+"|[^". ]+)\.)?(?:"(?:[^"]|"")+"|[^". ]+))$/;

const ID_ON_SCHEMA = /^("(?:[^"]|"")+"|[^" ]+) on schema ("(?:[^"]|"")+"|[^". ]+)$/;
const ID_ON_NEW =
  /^("(?:[^"]|"")+"|[^" ]+) on (new (?:tables|sequences|functions|types))(?: in schema ("(?:[^"]|"")+"|[^". ]+))?$/;

/** Returns the unquoted name and the rest of an id of this form. */
function matchId(form: RegExp, id: string): { name: string; rest: string } | undefined {
  const [, name, rest] = form.exec(id) ?? [];
  return name === undefined || rest === undefined ? undefined : { name: unquote(name), rest };
}

/** Returns the name of a table, a sequence or a type from its spelling in the id of another object. */
const readSpelled = (text: string): string => (WITH_SCHEMA.test(text) ? text : qualifiedId(unqualified(unquote(text))));

const unqualified = (name: string): QualifiedName => ({ schema: undefined, name });

/** Splits an id. An id that no definition can have is returned as a name. */
export function objectNameParts({ kind, id }: ObjectName): ObjectNameParts {
  const none = { argumentTypes: null, table: null, target: null };
  if (isNamedLikeTable({ kind })) return { ...none, ...splitQualifiedId(id), table: id };
  const onTarget = kind === 'privileges' ? partsOnTarget(id) : undefined;
  if (onTarget !== undefined) return { ...none, ...onTarget };
  if (isOnTable({ kind })) return { ...none, ...(partsOnTable(id) ?? unqualified(id)) };
  if (isRoutine({ kind })) return { ...none, ...(partsOfRoutine(id) ?? unqualified(id)) };
  return { ...none, ...splitQualifiedId(id) };
}

function partsOnTable(id: string): Pick<ObjectNameParts, 'name' | 'schema' | 'table'> | undefined {
  const matched = matchId(ID_ON_TABLE, id);
  if (matched === undefined) return undefined;
  const table = readSpelled(matched.rest);
  return { name: matched.name, schema: splitQualifiedId(table).schema, table };
}

function partsOfRoutine(id: string): Pick<ObjectNameParts, 'name' | 'schema' | 'argumentTypes'> | undefined {
  const [, schema, name, argumentTypes] = ROUTINE_ID.exec(id) ?? [];
  if (name === undefined || argumentTypes === undefined) return undefined;
  return { schema: schema && unquote(schema), name: unquote(name), argumentTypes };
}

/** Splits the id of privileges that are not on a table or view. Undefined for others. */
function partsOnTarget(id: string): Pick<ObjectNameParts, 'name' | 'schema' | 'target'> | undefined {
  const onRoutine = matchId(ID_ON_ROUTINE, id);
  if (onRoutine !== undefined) {
    const { schema } = objectNameParts({ kind: 'function', id: onRoutine.rest });
    return { name: onRoutine.name, schema, target: { type: 'routine', id: onRoutine.rest } };
  }
  const onSchema = matchId(ID_ON_SCHEMA, id);
  if (onSchema !== undefined) {
    const schema = unquote(onSchema.rest);
    return { name: onSchema.name, schema, target: { type: 'schema', id: schema } };
  }
  const onNew = partsOnNew(id);
  if (onNew !== undefined) return onNew;
  const [, role, type, spelled] = ID_ON_NAMED.exec(id) ?? [];
  if (role === undefined || spelled === undefined) return undefined;
  const named = readSpelled(spelled);
  const { schema } = splitQualifiedId(named);
  return { name: unquote(role), schema, target: { type: type === 'type' ? type : 'sequence', id: named } };
}

function partsOnNew(id: string): Pick<ObjectNameParts, 'name' | 'schema' | 'target'> | undefined {
  const [, role, type, spelled] = ID_ON_NEW.exec(id) ?? [];
  if (role === undefined) return undefined;
  const schema = spelled === undefined ? undefined : unquote(spelled);
  return { name: unquote(role), schema, target: { type: type as PrivilegesTarget['type'], id: schema ?? '' } };
}

/** An object as queries of the catalog identify it. The id contains no schema, and names of relations are not quoted. */
export interface LocalObject extends ObjectName {
  /** Undefined for the default schema. */
  schema: string | undefined;
}

export function toLocalObject(object: ObjectName): LocalObject {
  const { kind } = object;
  const { schema, name } = objectNameParts(object);
  return { kind, id: hasPlainId(object) ? name : inSchema(object, undefined).id, schema };
}

export const fromLocalObject = ({ kind, id, schema }: LocalObject): ObjectName =>
  hasPlainId({ kind }) ? { kind, id: qualifiedId({ schema, name: id }) } : inSchema({ kind, id }, schema);

/** True for objects whose id is the name of a relation, a type or a statistics object. */
const hasPlainId = ({ kind }: Pick<ObjectName, 'kind'>): boolean =>
  isNamedLikeTable({ kind }) || !(isRoutine({ kind }) || isOnTable({ kind }));

/**
 * Returns the object with the id that it has in a schema, regardless of the schema in its id.
 * @param schema undefined for the default schema
 */
export function inSchema({ kind, id }: ObjectName, schema: string | undefined): ObjectName {
  const { name, argumentTypes, table, target } = objectNameParts({ kind, id });
  if (table !== null)
    return { kind, id: idOnTable(kind, name, qualifiedId({ schema, name: splitQualifiedId(table).name })) };
  if (target !== null) return { kind, id: idOnTarget(name, { ...target, id: targetInSchema(target, schema) }) };
  if (argumentTypes !== null) return { kind, id: routineId(name, argumentTypes, schema) };
  return isRoutine({ kind }) || isOnTable({ kind }) ? { kind, id } : { kind, id: qualifiedId({ schema, name }) };
}

function targetInSchema({ type, id }: PrivilegesTarget, schema: string | undefined): string {
  if (type === 'schema' || isNewType(type)) return id;
  if (type !== 'routine') return qualifiedId({ schema, name: splitQualifiedId(id).name });
  const { name, argumentTypes } = objectNameParts({ kind: 'function', id });
  return routineId(name, argumentTypes ?? '', schema);
}

/**
 * Returns the name of the table, function, sequence, type or schema of an object, without a schema. Empty for new objects.
 * Null for objects of none.
 */
export function nameOfTarget(object: ObjectName): string | null {
  const { table, target } = objectNameParts(object);
  if (target?.type === 'routine') return objectNameParts({ kind: 'function', id: target.id }).name;
  if (target?.type === 'schema') return target.id;
  if (target !== null && isNewType(target.type)) return '';
  const relation = target?.id ?? table;
  return relation === null ? null : splitQualifiedId(relation).name;
}

/**
 * Returns the privilege that PUBLIC has on a function or a type unless this object exists, which has an empty list. Null for
 * other objects. PostgreSQL can revoke a privilege on new objects only in all schemas.
 */
export function revokedFromPublic(object: ObjectName): Privilege['name'] | null {
  const { name, target } = objectNameParts(object);
  if (target === null || name !== PUBLIC || (isNewType(target.type) && target.id !== '')) return null;
  return TARGETS[target.type].publicDefault;
}

/**
 * True for the privileges of PUBLIC on the schema public. PostgreSQL grants some when it creates a database, and which ones
 * depends on its release. They are an object only if they are managed, and then its list contains all of them.
 */
export function areInitial(object: ObjectName): boolean {
  const { name, target } = objectNameParts(object);
  return name === PUBLIC && target?.type === 'schema' && target.id === SEARCHED;
}

export const isRevokedFromPublic = (object: ObjectName): boolean => revokedFromPublic(object) !== null;

/**
 * Returns the id of the object with another name. The schema, the argument types and the table stay the same, so row
 * security and table options keep their id.
 */
export function renamedId(object: ObjectName, name: string): string {
  const { argumentTypes, schema, table } = objectNameParts(object);
  if (table !== null) return idOnTable(object.kind, name, table);
  return argumentTypes === null ? qualifiedId({ schema, name }) : routineId(name, argumentTypes, schema);
}

/** True for an object that PostgreSQL renames with its table or view. Its own name stays, if it has one. */
export const isRenamedWithTable = (object: ObjectName, to: string): boolean =>
  isNamedLikeTable(object) ||
  (isOnTable(object) && objectNameParts(object).name === objectNameParts({ kind: object.kind, id: to }).name);

/** Splits `integer, "a, b"[]`. Names of types may contain commas in quotes. */
export const splitArgumentTypes = (argumentTypes: string): string[] =>
  (argumentTypes.match(/(?:"(?:[^"]|"")*"|[^",])+/g) ?? []).map((type) => type.trim());
