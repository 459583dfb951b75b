/* Reads GRANT statements on tables and views. They are another form of the definition of privileges. */
import { COLUMN_PRIVILEGES, PRIVILEGES, PUBLIC, type Privilege, idOnTable } from '../model/objects.js';
import { sortPrivileges } from '../model/privileges.js';
import { type Node, list, member, parseStatements, stringOf } from './expression.js';

export interface Grants {
  id: string;
  /** The schema before the table. Undefined if the statements name none. */
  schema: string | undefined;
  privileges: Privilege[];
}

const ONE_TARGET =
  'must be GRANT statements for one role on one table or view: GRANT SELECT, UPDATE (name) ON members TO editors';

/** Reads a text of GRANT statements for one role on one table. Returns a sentence that follows "definition" for others. */
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
  const relation = statement === undefined ? undefined : onlyRelation(statement);
  const [grantee, ...grantees] = list(statement?.['grantees']).map((each) => member(each, 'RoleSpec'));
  if (statement === undefined || relation === undefined || grantee === undefined || grantees.length > 0)
    return ONE_TARGET;
  const role = roleOf(grantee);
  if (role === null) return 'must name its role instead of CURRENT_USER, CURRENT_ROLE or SESSION_USER';
  const privileges = readPrivileges(statement);
  if (typeof privileges === 'string') return privileges;
  const { schemaname, relname } = relation;
  const id = idOnTable('privileges', role, String(relname));
  return { id, schema: typeof schemaname === 'string' ? schemaname : undefined, privileges };
}

/** Returns the only table or view of GRANT. Undefined for other statements. */
function onlyRelation(statement: Node): Node | undefined {
  const isGrant = statement['is_grant'] === true && statement['grantor'] === undefined;
  const isOnTables = statement['objtype'] === 'OBJECT_TABLE' && statement['targtype'] === 'ACL_TARGET_OBJECT';
  const [relation, ...others] = list(statement['objects']).map((each) => member(each, 'RangeVar'));
  return isGrant && isOnTables && others.length === 0 ? relation : undefined;
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

const ALL = 'must list its privileges instead of ALL, which differs between releases of PostgreSQL';

/** Null for a role that depends on the session. */
function roleOf({ roletype, rolename }: Node): string | null {
  if (roletype === 'ROLESPEC_PUBLIC') return PUBLIC;
  return roletype === 'ROLESPEC_CSTRING' && typeof rolename === 'string' ? rolename : null;
}

function readPrivilege({ priv_name: word, cols }: Node): Privilege | string {
  if (word === undefined) return ALL;
  const name = PRIVILEGES.find((each) => each.toLowerCase() === word);
  if (name === undefined) return `must name ${PRIVILEGES.join(', ')}, but contains ${JSON.stringify(word)}`;
  const columns = list(cols).map((each) => stringOf(each) ?? '');
  if (columns.length === 0) return { name };
  return COLUMN_PRIVILEGES.has(name) ? { name, columns } : `must not restrict ${name} to columns`;
}
