/*
 * Reads GRANT statements, and REVOKE from PUBLIC. They are another form of the definition of privileges.
 */
import {
  COLUMN_PRIVILEGES,
  PUBLIC,
  type PrivilegesTarget,
  TABLE_PRIVILEGES,
  TARGETS,
  grantedType,
  isNewType,
} from '../model/objects.js';
import type { Privilege } from '../model/object-document.js';
import { areInitial, idOnTable, idOnTarget, qualifiedId, revokedFromPublic } from '../model/object-ids.js';
import { sortPrivileges } from '../model/privileges.js';
import { type Node, list, member, parseStatements, stringOf } from './expression.js';
import { routineIdIn } from './routine.js';
import { qualifiedName } from './view.js';

export interface Grants {
  id: string;
  privileges: Privilege[];
}

const ONE_TARGET =
  'must be GRANT statements for one role on one table, view, function, sequence, type or schema: GRANT SELECT, UPDATE (name) ON members TO editors, GRANT EXECUTE ON FUNCTION total(integer) TO editors, GRANT USAGE ON SEQUENCE numbers TO editors, GRANT USAGE ON TYPE status TO editors, GRANT USAGE ON SCHEMA billing TO editors. On a function or a type, it can also be REVOKE: REVOKE EXECUTE ON FUNCTION total(integer) FROM PUBLIC, REVOKE USAGE ON TYPE status FROM PUBLIC. On the schema public, GRANT to PUBLIC can follow REVOKE ALL ON SCHEMA public FROM PUBLIC. Default privileges are ALTER DEFAULT PRIVILEGES IN SCHEMA billing GRANT USAGE ON SEQUENCES TO editors, and ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC';

/**
 * Reads GRANT statements for one role on one table, function, sequence, type or schema, or REVOKE from PUBLIC, also those of
 * ALTER DEFAULT PRIVILEGES. Returns a sentence that follows "definition" for others.
 */
export function parseGrants(text: string): Grants | string {
  const statements = parseStatements(text);
  return typeof statements === 'string' ? statements : readGrants(statements.map(({ stmt }) => stmt));
}

/** Reads parsed statements. Returns a sentence that follows "definition" for statements that are not accepted. */
export function readGrants(statements: readonly unknown[]): Grants | string {
  const all: Grants[] = [];
  for (const statement of statements) {
    const read = readGrant(statement);
    if (typeof read === 'string') return read;
    all.push(read);
  }
  const [first] = all;
  if (first === undefined || all.some(({ id }) => id !== first.id)) return ONE_TARGET;
  return { ...first, privileges: sortPrivileges(all.flatMap(({ privileges }) => privileges)) };
}

/** True for statements that grant or revoke privileges. */
export const isAboutPrivileges = (statement: unknown): boolean =>
  member(statement, 'GrantStmt') !== undefined || member(statement, 'AlterDefaultPrivilegesStmt') !== undefined;

function readGrant(parsed: unknown): Grants | string {
  const ofDefaults = member(parsed, 'AlterDefaultPrivilegesStmt');
  const statement = ofDefaults === undefined ? member(parsed, 'GrantStmt') : (ofDefaults['action'] as Node);
  if (statement === undefined) return ONE_TARGET;
  const target = ofDefaults === undefined ? onlyTarget(statement) : newObjectsIn(ofDefaults, statement);
  const role = onlyRole(statement);
  if (typeof target === 'string') return target;
  if (target === undefined || role === undefined) return ONE_TARGET;
  if (role === null) return 'must name its role instead of CURRENT_USER, CURRENT_ROLE or SESSION_USER';
  const { id, type } = target;
  return type !== 'table' && TARGETS[type].publicDefault !== null
    ? readUse(statement, role, { id, type })
    : readOnRelation(statement, role, target);
}

const OF_SERVICE =
  'must not contain FOR ROLE, because the default privileges of other roles are not managed. Remove it: the statement is then about the database role of the service';

/** Returns the new objects of ALTER DEFAULT PRIVILEGES. Undefined for several schemas, and for schemas and large objects. */
function newObjectsIn({ options }: Node, { objtype }: Node): Target | string | undefined {
  const named = new Map(
    list(options).map((each) => {
      const { defname, arg } = member(each, 'DefElem') ?? {};
      return [defname, list(member(arg, 'List')?.['items'])] as const;
    }),
  );
  if (named.has('roles')) return OF_SERVICE;
  const type = grantedType(objtype, true);
  const [schema = '', ...others] = (named.get('schemas') ?? []).map(stringOf);
  return type === undefined || others.length > 0 ? undefined : { type, id: schema };
}

function readOnRelation(statement: Node, role: string, { id, type }: Target): Grants | string {
  if (statement['is_grant'] !== true)
    return type === 'schema' ? readRevokedInitial(statement, role, { type, id }) : ONE_TARGET;
  const privileges = readPrivileges(statement, type === 'table' ? TABLE_PRIVILEGES : TARGETS[type].privileges);
  if (typeof privileges === 'string') return privileges;
  return { id: type === 'table' ? idOnTable('privileges', role, id) : idOnTarget(role, { type, id }), privileges };
}

/** Reads a statement about a function or a type, which PUBLIC can use by default. */
function readUse(statement: Node, role: string, target: PrivilegesTarget): Grants | string {
  const privileges = readOnlyPrivilege(statement, target);
  if (typeof privileges === 'string') return privileges;
  const id = idOnTarget(role, target);
  if (statement['is_grant'] === true) return { id, privileges };
  const isPlain = statement['grant_option'] !== true && statement['behavior'] !== 'DROP_CASCADE';
  return isPlain && revokedFromPublic({ kind: 'privileges', id }) !== null ? { id, privileges: [] } : ONE_TARGET;
}

/** Reads REVOKE ALL ON SCHEMA public FROM PUBLIC, after which PUBLIC has only what the following statements grant. */
function readRevokedInitial(statement: Node, role: string, target: PrivilegesTarget): Grants | string {
  const id = idOnTarget(role, target);
  const isAll = list(statement['privileges']).length === 0 && statement['grant_option'] !== true;
  const isPlain = isAll && statement['behavior'] !== 'DROP_CASCADE';
  return isPlain && areInitial({ kind: 'privileges', id }) ? { id, privileges: [] } : ONE_TARGET;
}

/** Returns the only role. Null for one that depends on the session, undefined for several roles. */
function onlyRole(statement: Node): string | null | undefined {
  const [grantee, ...others] = list(statement['grantees']).map((each) => member(each, 'RoleSpec'));
  return grantee === undefined || others.length > 0 ? undefined : roleOf(grantee);
}

interface Target {
  /**
   * The id of a function, the name of a table, view, sequence or type as in `qualifiedId`, or the name of a schema. Empty for
   * the new objects in all schemas.
   */
  id: string;
  type: PrivilegesTarget['type'] | 'table';
}

/** Returns the only table, view, function, sequence, type or schema of GRANT or REVOKE. Undefined for other statements. */
function onlyTarget(statement: Node): Target | undefined {
  const { objtype, targtype, grantor, objects } = statement;
  const [object, ...others] = list(objects);
  return targtype !== 'ACL_TARGET_OBJECT' || grantor !== undefined || others.length > 0
    ? undefined
    : readTarget(objtype, object);
}

function readTarget(objtype: unknown, object: unknown): Target | undefined {
  const type = objtype === 'OBJECT_TABLE' ? 'table' : grantedType(objtype, false);
  if (type === 'routine') return routineIn(member(object, 'ObjectWithArgs') ?? {});
  if (type === 'type') return typeIn(list(member(object, 'List')?.['items']).map(stringOf));
  if (type === 'schema') return schemaIn(stringOf(object));
  const relation = member(object, 'RangeVar');
  if (type === undefined || relation === undefined) return undefined;
  return { id: qualifiedId(qualifiedName(relation)), type };
}

function routineIn(routine: Node): Target | undefined {
  const id = routineIdIn(routine);
  return id === undefined ? undefined : { id, type: 'routine' };
}

function typeIn(names: readonly (string | undefined)[]): Target | undefined {
  const [name, schema, database] = [...names].reverse();
  return name === undefined || database !== undefined ? undefined : { id: qualifiedId({ schema, name }), type: 'type' };
}

const schemaIn = (name: string | undefined): Target | undefined =>
  name === undefined ? undefined : { id: name, type: 'schema' };

/** Functions and types have no other privilege, so ALL has the same meaning in all PostgreSQL releases. */
function readOnlyPrivilege(statement: Node, { type }: PrivilegesTarget): Privilege[] | string {
  const [name] = TARGETS[type].privileges;
  const only = name.toLowerCase();
  const words = list(statement['privileges']).map((each) => member(each, 'AccessPriv') ?? {});
  const isOnly = words.every(({ priv_name: word = only, cols }) => word === only && cols === undefined);
  const on = isNewType(type) ? type : type === 'type' ? 'a type' : 'a function';
  if (!isOnly) return `must name ${name}, the only privilege on ${on}`;
  return [{ name, ...(statement['grant_option'] === true && { grantable: true }) }];
}

type Names = readonly Privilege['name'][];

/** @param names the privileges on the table, sequence or schema */
function readPrivileges(statement: Node, names: Names): Privilege[] | string {
  const privileges: Privilege[] = [];
  for (const each of list(statement['privileges'])) {
    const read = readPrivilege(member(each, 'AccessPriv') ?? {}, names);
    if (typeof read === 'string') return read;
    privileges.push(statement['grant_option'] === true ? { ...read, grantable: true } : read);
  }
  return privileges.length === 0 ? ALL : privileges;
}

const ALL = 'must list its privileges instead of ALL, which differs between PostgreSQL releases';

/** Null for a role that depends on the session. */
function roleOf({ roletype, rolename }: Node): string | null {
  if (roletype === 'ROLESPEC_PUBLIC') return PUBLIC;
  return roletype === 'ROLESPEC_CSTRING' && typeof rolename === 'string' ? rolename : null;
}

function readPrivilege({ priv_name: word, cols }: Node, names: Names): Privilege | string {
  if (word === undefined) return ALL;
  const name = names.find((each) => each.toLowerCase() === word);
  if (name === undefined) return `must name ${names.join(', ')}, but contains ${JSON.stringify(word)}`;
  const columns = list(cols).map((each) => stringOf(each) ?? '');
  if (columns.length === 0) return { name };
  const hasColumns = names === TABLE_PRIVILEGES && COLUMN_PRIVILEGES.has(name);
  return hasColumns ? { name, columns } : `must not restrict ${name} to columns`;
}
