/*
 * Reads GRANT statements, and REVOKE of EXECUTE from PUBLIC. They are another form of the definition of privileges.
 */
import {
  COLUMN_PRIVILEGES,
  EXECUTE,
  PUBLIC,
  type Privilege,
  TABLE_PRIVILEGES,
  idOnRoutine,
  idOnTable,
} from '../model/objects.js';
import { sortPrivileges } from '../model/privileges.js';
import { type Node, list, member, parseStatements, stringOf } from './expression.js';
import { routineIdIn } from './routine.js';

export interface Grants {
  id: string;
  /** The schema before the table or function. Undefined if the statements name none. */
  schema: string | undefined;
  privileges: Privilege[];
}

const ONE_TARGET =
  'must be GRANT statements for one role on one table, view or function: GRANT SELECT, UPDATE (name) ON members TO editors, GRANT EXECUTE ON FUNCTION total(integer) TO editors. On a function, it can also be REVOKE EXECUTE ON FUNCTION total(integer) FROM PUBLIC';

/**
 * Reads GRANT statements for one role on one table or function, or REVOKE of EXECUTE from PUBLIC. Returns a
 * sentence that follows "definition" for others.
 */
export function parseGrants(text: string): Grants | string {
  const statements = parseStatements(text);
  return typeof statements === 'string' ? statements : readGrants(statements.map(({ stmt }) => stmt));
}

/** Reads parsed statements. Returns a sentence that follows "definition" for statements that are not accepted. */
export function readGrants(statements: readonly unknown[]): Grants | string {
  const all: Grants[] = [];
  for (const statement of statements) {
    const read = readGrant(member(statement, 'GrantStmt'));
    if (typeof read === 'string') return read;
    all.push(read);
  }
  const [first] = all;
  if (first === undefined || all.some(({ id, schema }) => id !== first.id || schema !== first.schema))
    return ONE_TARGET;
  return { ...first, privileges: sortPrivileges(all.flatMap(({ privileges }) => privileges)) };
}

function readGrant(statement: Node | undefined): Grants | string {
  const target = statement === undefined ? undefined : onlyTarget(statement);
  const role = statement === undefined ? undefined : onlyRole(statement);
  if (statement === undefined || target === undefined || role === undefined) return ONE_TARGET;
  if (role === null) return 'must name its role instead of CURRENT_USER, CURRENT_ROLE or SESSION_USER';
  return target.isRoutine ? readOnRoutine(statement, role, target) : readOnTable(statement, role, target);
}

function readOnTable(statement: Node, role: string, { name, schema }: Target): Grants | string {
  if (statement['is_grant'] !== true) return ONE_TARGET;
  const privileges = readPrivileges(statement);
  if (typeof privileges === 'string') return privileges;
  return { id: idOnTable('privileges', role, name), schema, privileges };
}

function readOnRoutine(statement: Node, role: string, { name, schema }: Target): Grants | string {
  const privileges = readExecute(statement);
  if (typeof privileges === 'string') return privileges;
  const id = idOnRoutine(role, name);
  if (statement['is_grant'] === true) return { id, schema, privileges };
  const isPlain = statement['grant_option'] !== true && statement['behavior'] !== 'DROP_CASCADE';
  return role === PUBLIC && isPlain ? { id, schema, privileges: [] } : ONE_TARGET;
}

/** Returns the only role. Null for one that depends on the session, undefined for several roles. */
function onlyRole(statement: Node): string | null | undefined {
  const [grantee, ...others] = list(statement['grantees']).map((each) => member(each, 'RoleSpec'));
  return grantee === undefined || others.length > 0 ? undefined : roleOf(grantee);
}

interface Target {
  /** The name of a table or view, or the id of a function. */
  name: string;
  schema: string | undefined;
  isRoutine: boolean;
}

const ROUTINES: ReadonlySet<unknown> = new Set(['OBJECT_FUNCTION', 'OBJECT_PROCEDURE', 'OBJECT_ROUTINE']);

/** Returns the only table, view or function of GRANT or REVOKE. Undefined for other statements. */
function onlyTarget(statement: Node): Target | undefined {
  const { objtype, targtype, grantor, objects } = statement;
  const [object, ...others] = list(objects);
  if (targtype !== 'ACL_TARGET_OBJECT' || grantor !== undefined || others.length > 0) return undefined;
  const routine = ROUTINES.has(objtype) ? member(object, 'ObjectWithArgs') : undefined;
  if (routine !== undefined) {
    const id = routineIdIn(routine);
    const [, schema] = list(routine['objname']).map(stringOf).reverse();
    return id === undefined ? undefined : { name: id, schema, isRoutine: true };
  }
  const relation = objtype === 'OBJECT_TABLE' ? member(object, 'RangeVar') : undefined;
  if (relation === undefined) return undefined;
  const { schemaname, relname } = relation;
  return {
    name: String(relname),
    schema: typeof schemaname === 'string' ? schemaname : undefined,
    isRoutine: false,
  };
}

/** Functions have no other privilege, so ALL has the same meaning in all PostgreSQL releases. */
function readExecute(statement: Node): Privilege[] | string {
  const words = list(statement['privileges']).map((each) => member(each, 'AccessPriv') ?? {});
  const isExecute = words.every(({ priv_name: word = 'execute', cols }) => word === 'execute' && cols === undefined);
  if (!isExecute) return `must name ${EXECUTE}, the only privilege on a function`;
  return [{ name: EXECUTE, ...(statement['grant_option'] === true && { grantable: true }) }];
}

function readPrivileges(statement: Node): Privilege[] | string {
  const privileges: Privilege[] = [];
  for (const each of list(statement['privileges'])) {
    const read = readPrivilege(member(each, 'AccessPriv') ?? {});
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

function readPrivilege({ priv_name: word, cols }: Node): Privilege | string {
  if (word === undefined) return ALL;
  const name = TABLE_PRIVILEGES.find((each) => each.toLowerCase() === word);
  if (name === undefined) return `must name ${TABLE_PRIVILEGES.join(', ')}, but contains ${JSON.stringify(word)}`;
  const columns = list(cols).map((each) => stringOf(each) ?? '');
  if (columns.length === 0) return { name };
  return COLUMN_PRIVILEGES.has(name) ? { name, columns } : `must not restrict ${name} to columns`;
}
