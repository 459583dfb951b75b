/* Writes the statements that grant and revoke privileges. */
import { quoteName } from '../../kernel/text.js';
import { PUBLIC, type Privilege, type PrivilegesTarget, type SchemaObject } from '../../schema/model/objects.js';
import { revokedFromPublic, objectNameParts } from '../../schema/model/object-ids.js';
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
  /** `TABLE members`, `TYPE status`. ROUTINE stands for functions, procedures and aggregates. */
  target: Sql;
  role: Sql;
  /** True for PUBLIC. A role can have the name "PUBLIC". */
  isPublic: boolean;
  /** The owner of the table, function, sequence or type. */
  owner: Sql;
  /** SQL condition: PUBLIC can use the function or type. Null for tables and sequences, which it cannot use by default. */
  isOpen: Sql | null;
  /** `members to editors` */
  words: { target: string; role: string };
}

function targetOf(schema: string, { kind, id }: SchemaObject): Target {
  const { name, table, target } = objectNameParts({ kind, id });
  return {
    ...(target === null ? relationTarget(sql`TABLE`, relationSql(schema, table ?? '')) : namedTarget(schema, target)),
    role: name === PUBLIC ? sql`PUBLIC` : ident(name),
    isPublic: name === PUBLIC,
    words: { target: target?.id ?? table ?? '', role: name === PUBLIC ? 'PUBLIC' : name },
  };
}

type LocatedTarget = Pick<Target, 'target' | 'owner' | 'isOpen'>;

function namedTarget(schema: string, { type, id }: PrivilegesTarget): LocatedTarget {
  if (type === 'routine') return routineTarget(schema, id);
  const name = relationSql(schema, id);
  return type === 'type' ? typeTarget(name) : relationTarget(sql`SEQUENCE`, name);
}

function relationTarget(word: Sql, name: Sql): LocatedTarget {
  const owner = sql`(SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid = ${literal(name)}::regclass::oid)`;
  return { target: sql`${word} ${name}`, owner, isOpen: null };
}

function typeTarget(name: Sql): LocatedTarget {
  const oid = sql`${literal(name)}::regtype::oid`;
  return {
    target: sql`TYPE ${name}`,
    owner: sql`(SELECT t.typowner FROM pg_catalog.pg_type t WHERE t.oid = ${oid})`,
    isOpen: sql`pg_catalog.has_type_privilege('public'::name, ${oid}, 'USAGE'::text)`,
  };
}

function routineTarget(schema: string, id: string): LocatedTarget {
  // A signature of an aggregate without arguments has no `*` here.
  const name = objectSql(schema, { kind: 'function', id });
  const oid = sql`${literal(name)}::regprocedure::oid`;
  return {
    target: sql`ROUTINE ${name}`,
    owner: sql`(SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.oid = ${oid})`,
    isOpen: sql`pg_catalog.has_function_privilege('public'::name, ${oid}, 'EXECUTE'::text)`,
  };
}

/**
 * Returns a PL/pgSQL statement that rejects an object of another role. PostgreSQL only warns about GRANT and REVOKE then if
 * the service has any privilege on the object, as PUBLIC has on functions and types.
 */
function rejectOtherOwner({ owner, words }: Target): Sql {
  const fault = literal(
    `the database role of the service does not own ${quoteName(words.target)}, so it cannot change privileges on it. Change them with the owner, or make the service a member of that role`,
  );
  return sql`IF NOT pg_catalog.pg_has_role(${owner}, 'USAGE'::text) THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;`;
}

/** Returns the statement with a check of the owner if PostgreSQL would only warn. */
const asOwner = (target: Target, statement: Sql): Sql =>
  target.isOpen === null ? statement : sql`DO ${block(sql`BEGIN ${rejectOtherOwner(target)} ${statement}; END`)}`;

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
function revokeOthers(located: Target): Step {
  const { target, role, isPublic, owner, words } = located;
  const revoke = sql`REVOKE ALL ON ${target} FROM ${role}`;
  const summary = `revoke other privileges on ${words.target} from ${words.role}`;
  if (isPublic) return [revoke, summary];
  const fault = literal(
    `the role ${quoteName(words.role)} owns ${quoteName(words.target)} or is the database role of the service. Its privileges cannot be managed. Name another role`,
  );
  const body = sql`BEGIN
    IF ${literal(words.role)}::name IN (pg_catalog.pg_get_userbyid(${owner}), current_user)
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
    ${rejectOtherOwner(located)}
    ${revoke};
  END`;
  return [sql`DO ${block(body)}`, summary];
}

/** Statements for new privileges, and for those of a view or function that is created again. */
export function createPrivileges(schema: string, object: SchemaObject): Step[] {
  const located = targetOf(schema, object);
  const revoked = revokedFromPublic(object);
  return revoked === null
    ? [revokeOthers(located), ...grant(located, privilegesIn(object.definition))]
    : [revokeFromPublic(located, revoked)];
}

/** REVOKE has no effect on a privilege that a role with the grant option has passed on to PUBLIC. */
function revokeFromPublic(located: Target, privilege: Privilege['name']): Step {
  const { target, role, words, isOpen } = located;
  const fault = literal(
    `a role other than the owner has granted ${privilege} on ${quoteName(words.target)} to PUBLIC. Revoke it with that role, then repeat the request`,
  );
  const body = sql`BEGIN
    ${rejectOtherOwner(located)}
    REVOKE ALL ON ${target} FROM ${role};
    IF ${isOpen ?? sql`false`}
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
  END`;
  return [sql`DO ${block(body)}`, `revoke ${privilege.toLowerCase()} on ${words.target} from ${words.role}`];
}

/**
 * Revokes all privileges, or grants EXECUTE or USAGE to PUBLIC again. It does nothing if the role no longer exists, is the owner,
 * or is the database role of the service.
 * @param cascades true to revoke also what the role passed on. Otherwise PostgreSQL rejects the statement.
 */
export function dropPrivileges(schema: string, object: SchemaObject, cascades: boolean): Step {
  const located = targetOf(schema, object);
  const { target, role, isPublic, owner, words, isOpen } = located;
  const revoked = revokedFromPublic(object);
  if (revoked !== null)
    return [
      asOwner(located, sql`GRANT ${WORDS[revoked]} ON ${target} TO ${role}`),
      `grant ${revoked.toLowerCase()} on ${words.target} to ${words.role}`,
    ];
  const revoke = sql`REVOKE ALL ON ${target} FROM ${role}${cascades ? sql` CASCADE` : sql``}`;
  const summary = `revoke all privileges on ${words.target} from ${words.role}`;
  if (isPublic) return [revoke, summary];
  const isOther = sql`SELECT FROM pg_catalog.pg_roles r
     WHERE r.rolname = ${literal(words.role)}::name AND r.rolname <> current_user AND r.oid <> ${owner}`;
  const check = isOpen === null ? sql`` : rejectOtherOwner(located);
  return [sql`DO ${block(sql`BEGIN IF EXISTS (${isOther}) THEN ${check} ${revoke}; END IF; END`)}`, summary];
}

/** Statements that revoke what the role loses. They run before the statements about columns. */
export function revokeLost(schema: string, before: SchemaObject, after: SchemaObject): Step[] {
  const located = targetOf(schema, before);
  const { target, role, words } = located;
  const { revoked, restricted } = comparePrivileges(privilegesIn(before.definition), privilegesIn(after.definition));
  const revoke = (list: readonly Privilege[], option: Sql, what: string): Step[] =>
    list.length === 0
      ? []
      : [
          [
            asOwner(located, sql`REVOKE ${option}${listSql(list)} ON ${target} FROM ${role}`),
            `revoke ${what}${privilegeNames(list)} on ${words.target} from ${words.role}`,
          ],
        ];
  return [...revoke(revoked, sql``, ''), ...revoke(restricted, sql`GRANT OPTION FOR `, 'the grant option of ')];
}

/** Statements that grant what the role gets. They run after the statements about columns. */
export function grantAdded(schema: string, before: SchemaObject, after: SchemaObject): Step[] {
  const located = targetOf(schema, after);
  const { granted } = comparePrivileges(privilegesIn(before.definition), privilegesIn(after.definition));
  return grant(located, granted).map(([text, summary]) => [asOwner(located, text), summary]);
}
