/* Writes the statements that grant and revoke privileges. */
import { quoteName } from '../../kernel/text.js';
import { PUBLIC, type Privilege, type SchemaObject } from '../../schema/model/objects.js';
import { isRevokedFromPublic, objectNameParts } from '../../schema/model/object-ids.js';
import { comparePrivileges, privilegeNames, privilegesWith, privilegesIn } from '../../schema/model/privileges.js';
import { type Sql, block, columnList, ident, join, literal, objectSql, relationSql, sql } from './sql.js';

/** A statement and its summary. */
type Step = [text: Sql, summary: string];

const WORDS: Readonly<Record<Privilege['name'], Sql>> = {
  DELETE: sql`DELETE`,
  EXECUTE: sql`EXECUTE`,
  INSERT: sql`INSERT`,
  MAINTAIN: sql`MAINTAIN`,
  REFERENCES: sql`REFERENCES`,
  SELECT: sql`SELECT`,
  TRIGGER: sql`TRIGGER`,
  TRUNCATE: sql`TRUNCATE`,
  UPDATE: sql`UPDATE`,
  USAGE: sql`USAGE`,
};

const listSql = (privileges: readonly Privilege[]): Sql =>
  join(
    privileges.map(({ name, columns }) =>
      columns === undefined ? WORDS[name] : sql`${WORDS[name]} ${columnList(columns)}`,
    ),
    sql`, `,
  );

interface Target {
  /** `TABLE members`, `SEQUENCE numbers`. ROUTINE stands for functions, procedures and aggregates. */
  target: Sql;
  role: Sql;
  /** True for PUBLIC. A role can have the name "PUBLIC". */
  isPublic: boolean;
  /** The owner of the table, function or sequence. */
  owner: Sql;
  /** `members to editors` */
  words: { target: string; role: string };
}

function targetOf(schema: string, { kind, id }: SchemaObject): Target {
  const { name, table, target } = objectNameParts({ kind, id });
  const isRoutine = target?.type === 'routine';
  return {
    ...(isRoutine ? routineTarget(schema, target.id) : relationTarget(schema, { table, sequence: target?.id })),
    role: name === PUBLIC ? sql`PUBLIC` : ident(name),
    isPublic: name === PUBLIC,
    words: { target: target?.id ?? table ?? '', role: name === PUBLIC ? 'PUBLIC' : name },
  };
}

function relationTarget(
  schema: string,
  { table, sequence }: { table: string | null; sequence: string | undefined },
): Pick<Target, 'target' | 'owner'> {
  const word = sequence === undefined ? sql`TABLE` : sql`SEQUENCE`;
  const name = relationSql(schema, sequence ?? table ?? '');
  const owner = sql`(SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid = ${literal(name)}::regclass::oid)`;
  return { target: sql`${word} ${name}`, owner };
}

function routineTarget(schema: string, id: string): Pick<Target, 'target' | 'owner'> {
  const owner = sql`(SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.oid = ${routineOid(schema, id)})`;
  return { target: sql`ROUTINE ${routineSql(schema, id)}`, owner };
}

/** A signature of an aggregate without arguments has no `*` here. */
const routineSql = (schema: string, id: string): Sql => objectSql(schema, { kind: 'function', id });

const routineOid = (schema: string, id: string): Sql => sql`${literal(routineSql(schema, id))}::regprocedure::oid`;

function grant({ target, role, words }: Target, privileges: readonly Privilege[]): Step[] {
  return [false, true].flatMap((isGrantable): Step[] => {
    const list = privilegesWith(privileges, isGrantable);
    if (list.length === 0) return [];
    const option = isGrantable ? sql` WITH GRANT OPTION` : sql``;
    const summary = `grant ${privilegeNames(list)} on ${words.target} to ${words.role}`;
    return [
      [
        sql`GRANT ${listSql(list)} ON ${target} TO ${role}${option}`,
        isGrantable ? `${summary} with grant option` : summary,
      ],
    ];
  });
}

/**
 * Revokes all privileges of the role, such as default privileges, so that it has exactly those of the object afterwards.
 * The owner needs its own privileges, and so does the database role of the service.
 */
function revokeOthers(schema: string, object: SchemaObject): Step {
  const { target, role, isPublic, owner, words } = targetOf(schema, object);
  const revoke = sql`REVOKE ALL ON ${target} FROM ${role}`;
  const summary = `revoke other privileges on ${words.target} from ${words.role}`;
  if (isPublic) return [revoke, summary];
  const fault = literal(
    `the role ${quoteName(words.role)} owns ${quoteName(words.target)} or is the database role of the service. Its privileges cannot be managed. Name another role`,
  );
  const body = sql`BEGIN
    IF ${literal(words.role)}::name IN (pg_catalog.pg_get_userbyid(${owner}), current_user)
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
    ${revoke};
  END`;
  return [sql`DO ${block(body)}`, summary];
}

/** Statements for new privileges, and for those of a view or function that is created again. */
export const createPrivileges = (schema: string, object: SchemaObject): Step[] =>
  isRevokedFromPublic(object)
    ? [revokeFromPublic(schema, object)]
    : [revokeOthers(schema, object), ...grant(targetOf(schema, object), privilegesIn(object.definition))];

/** REVOKE has no effect on EXECUTE that a role with the grant option has passed on to PUBLIC. */
function revokeFromPublic(schema: string, object: SchemaObject): Step {
  const { target, role, words } = targetOf(schema, object);
  const oid = routineOid(schema, words.target);
  const fault = literal(
    `a role other than the owner has granted EXECUTE on ${quoteName(words.target)} to PUBLIC. Revoke it with that role, then repeat the request`,
  );
  const body = sql`BEGIN
    REVOKE ALL ON ${target} FROM ${role};
    IF pg_catalog.has_function_privilege('public'::name, ${oid}, 'EXECUTE'::text)
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
  END`;
  return [sql`DO ${block(body)}`, `revoke execute on ${words.target} from ${words.role}`];
}

/**
 * Revokes all privileges, or grants EXECUTE to PUBLIC again. It does nothing if the role no longer exists, is the owner,
 * or is the database role of the service.
 * @param cascades true to revoke also what the role passed on. Otherwise PostgreSQL rejects the statement.
 */
export function dropPrivileges(schema: string, object: SchemaObject, cascades: boolean): Step {
  const { target, role, isPublic, owner, words } = targetOf(schema, object);
  if (isRevokedFromPublic(object))
    return [sql`GRANT EXECUTE ON ${target} TO ${role}`, `grant execute on ${words.target} to ${words.role}`];
  const revoke = sql`REVOKE ALL ON ${target} FROM ${role}${cascades ? sql` CASCADE` : sql``}`;
  const summary = `revoke all privileges on ${words.target} from ${words.role}`;
  if (isPublic) return [revoke, summary];
  const isOther = sql`SELECT FROM pg_catalog.pg_roles r
     WHERE r.rolname = ${literal(words.role)}::name AND r.rolname <> current_user AND r.oid <> ${owner}`;
  return [sql`DO ${block(sql`BEGIN IF EXISTS (${isOther}) THEN ${revoke}; END IF; END`)}`, summary];
}

/** Statements that revoke what the role loses. They run before the statements about columns. */
export function revokeLost(schema: string, before: SchemaObject, after: SchemaObject): Step[] {
  const { target, role, words } = targetOf(schema, before);
  const { revoked, restricted } = comparePrivileges(privilegesIn(before.definition), privilegesIn(after.definition));
  const revoke = (list: readonly Privilege[], option: Sql, what: string): Step[] =>
    list.length === 0
      ? []
      : [
          [
            sql`REVOKE ${option}${listSql(list)} ON ${target} FROM ${role}`,
            `revoke ${what}${privilegeNames(list)} on ${words.target} from ${words.role}`,
          ],
        ];
  return [...revoke(revoked, sql``, ''), ...revoke(restricted, sql`GRANT OPTION FOR `, 'the grant option of ')];
}

/** Statements that grant what the role gets. They run after the statements about columns. */
export const grantAdded = (schema: string, before: SchemaObject, after: SchemaObject): Step[] =>
  grant(
    targetOf(schema, after),
    comparePrivileges(privilegesIn(before.definition), privilegesIn(after.definition)).granted,
  );
