/* Writes the statements that grant and revoke privileges. */
import { quoteName } from '../../kernel/text.js';
import { PUBLIC, type PrivilegesTarget, isNewType } from '../../schema/model/objects.js';
import type { Privilege, SchemaObject } from '../../schema/model/object-document.js';
import {
  SEARCHED,
  areInitial,
  namedSchema,
  revokedFromPublic,
  objectNameParts,
} from '../../schema/model/object-ids.js';
import { comparePrivileges, privilegeNames, privilegesWith, privilegesIn } from '../../schema/model/privileges.js';
import { INITIAL_PRIVILEGES } from './object-sql.js';
import { type Sql, block, columnList, ident, join, literal, objectSql, relationSql, sql } from './sql.js';

/** A statement and its summary. */
type Step = [text: Sql, summary: string];

const WORDS: Readonly<Record<Privilege['name'], Sql>> = {
  CREATE: sql`CREATE`,
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
  /** The words before GRANT and REVOKE of default privileges. Empty for other privileges. */
  start: Sql;
  /** `TABLE members`, `TYPE status`. ROUTINE stands for functions, procedures and aggregates. */
  target: Sql;
  role: Sql;
  /** True for PUBLIC. A role can have the name "PUBLIC". */
  isPublic: boolean;
  /** The owner of the table, function, sequence, type or schema. For new objects, the role that creates them. */
  owner: Sql;
  /** SQL condition: PUBLIC can use the function or type. Null for other objects, which it cannot use by default. */
  isOpen: Sql | null;
  /** True if PostgreSQL only warns about GRANT and REVOKE on an object of another role. */
  onlyWarns: boolean;
  /** `members to editors`. `named` is the target in messages. */
  words: { target: string; role: string; named: string };
}

function targetOf(schema: string, { kind, id }: SchemaObject): Target {
  const { name, table, target } = objectNameParts({ kind, id });
  return {
    ...(target === null ? relationTarget(sql`TABLE`, relationSql(schema, table ?? '')) : namedTarget(schema, target)),
    role: name === PUBLIC ? sql`PUBLIC` : ident(name),
    isPublic: name === PUBLIC,
    words: {
      ...(target === null ? plainWords(table ?? '') : targetWords(target)),
      role: name === PUBLIC ? 'PUBLIC' : name,
    },
  };
}

type TargetWords = Pick<Target['words'], 'target' | 'named'>;

const plainWords = (id: string): TargetWords => ({ target: id, named: quoteName(id) });

/** A schema can have the name of a table. */
function targetWords({ type, id }: PrivilegesTarget): TargetWords {
  if (type !== 'schema' && !isNewType(type)) return plainWords(id);
  const start = type === 'schema' ? type : `${type} in schema`;
  return id === '' ? { target: type, named: type } : { target: `${start} ${id}`, named: `${start} ${quoteName(id)}` };
}

type LocatedTarget = Pick<Target, 'start' | 'target' | 'owner' | 'isOpen' | 'onlyWarns'>;

function namedTarget(schema: string, { type, id }: PrivilegesTarget): LocatedTarget {
  if (type === 'routine') return routineTarget(schema, id);
  if (type === 'schema') return schemaTarget(id);
  if (isNewType(type)) return newTarget({ type, id });
  const name = relationSql(schema, id);
  return type === 'type' ? typeTarget(name) : relationTarget(sql`SEQUENCE`, name);
}

function relationTarget(word: Sql, name: Sql): LocatedTarget {
  const owner = sql`(SELECT c.relowner FROM pg_catalog.pg_class c WHERE c.oid = ${literal(name)}::regclass::oid)`;
  return { start: sql``, target: sql`${word} ${name}`, owner, isOpen: null, onlyWarns: false };
}

function schemaTarget(name: string): LocatedTarget {
  const owner = sql`(SELECT s.nspowner FROM pg_catalog.pg_namespace s WHERE s.nspname = ${literal(name)}::name)`;
  return { start: sql``, target: sql`SCHEMA ${ident(name)}`, owner, isOpen: null, onlyWarns: true };
}

const NEW_WORDS = {
  'new tables': sql`TABLES`,
  'new sequences': sql`SEQUENCES`,
  'new functions': sql`FUNCTIONS`,
  'new types': sql`TYPES`,
} as const;

/** Without FOR ROLE, the statement is about the role of the connection, which creates the objects. */
function newTarget({ type, id }: PrivilegesTarget & { type: keyof typeof NEW_WORDS }): LocatedTarget {
  const schema = namedSchema({ type, id });
  return {
    start:
      schema === undefined ? sql`ALTER DEFAULT PRIVILEGES ` : sql`ALTER DEFAULT PRIVILEGES IN SCHEMA ${ident(schema)} `,
    target: NEW_WORDS[type],
    owner: sql`(SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolname = current_user)`,
    isOpen: null,
    onlyWarns: false,
  };
}

function typeTarget(name: Sql): LocatedTarget {
  const oid = sql`${literal(name)}::regtype::oid`;
  return {
    start: sql``,
    target: sql`TYPE ${name}`,
    owner: sql`(SELECT t.typowner FROM pg_catalog.pg_type t WHERE t.oid = ${oid})`,
    isOpen: sql`pg_catalog.has_type_privilege('public'::name, ${oid}, 'USAGE'::text)`,
    onlyWarns: true,
  };
}

function routineTarget(schema: string, id: string): LocatedTarget {
  // A signature of an aggregate without arguments has no `*` here.
  const name = objectSql(schema, { kind: 'function', id });
  const oid = sql`${literal(name)}::regprocedure::oid`;
  return {
    start: sql``,
    target: sql`ROUTINE ${name}`,
    owner: sql`(SELECT p.proowner FROM pg_catalog.pg_proc p WHERE p.oid = ${oid})`,
    isOpen: sql`pg_catalog.has_function_privilege('public'::name, ${oid}, 'EXECUTE'::text)`,
    onlyWarns: true,
  };
}

/**
 * Returns a PL/pgSQL statement that rejects an object of another role. PostgreSQL only warns about GRANT and REVOKE then if
 * the service has any privilege on the object, as PUBLIC has on functions and types, and the service on its schemas.
 */
function rejectOtherOwner({ owner, words }: Target): Sql {
  const fault = literal(
    `the database role of the service does not own ${words.named}, so it cannot change privileges on it. Change them with the owner, or make the service a member of that role`,
  );
  return sql`IF NOT pg_catalog.pg_has_role(${owner}, 'USAGE'::text) THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;`;
}

/** Returns the statement with a check of the owner if PostgreSQL would only warn. */
const asOwner = (target: Target, statement: Sql): Sql =>
  target.onlyWarns ? sql`DO ${block(sql`BEGIN ${rejectOtherOwner(target)} ${statement}; END`)}` : statement;

function grant({ start, target, role, words }: Target, privileges: readonly Privilege[]): Step[] {
  return [false, true].flatMap((isGrantable): Step[] => {
    const list = privilegesWith(privileges, isGrantable);
    if (list.length === 0) return [];
    const option = isGrantable ? sql` WITH GRANT OPTION` : sql``;
    const summary = `grant ${privilegeNames(list)} on ${words.target} to ${words.role}`;
    return [
      [
        sql`${start}GRANT ${listSql(list)} ON ${target} TO ${role}${option}`,
        isGrantable ? `${summary} with grant option` : summary,
      ],
    ];
  });
}

/**
 * Revokes all privileges of the role, such as default privileges, so that it has exactly those of the object afterwards.
 * The owner needs its own privileges, and so do the database role of the service and the role of OBJECTS_OWNER.
 */
function revokeOthers(located: Target, objectsOwner: ObjectTarget['owner']): Step {
  const { start, target, role, isPublic, owner, words } = located;
  const revoke = sql`${start}REVOKE ALL ON ${target} FROM ${role}`;
  const summary = `revoke other privileges on ${words.target} from ${words.role}`;
  if (isPublic) return [asOwner(located, revoke), summary];
  const fault = literal(
    `the role ${quoteName(words.role)} owns ${words.named} or is a database role of the service. Its privileges cannot be managed. Name another role`,
  );
  const body = sql`BEGIN
    IF ${literal(words.role)}::name IN (pg_catalog.pg_get_userbyid(${owner}), current_user${objectsOwner == null ? sql`` : sql`, ${literal(objectsOwner)}::name`})
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
    ${rejectOtherOwner(located)}
    ${revoke};
  END`;
  return [sql`DO ${block(body)}`, summary];
}

/** The default schema, and the role that owns new objects. Absent or null for the role of the connection. */
export interface ObjectTarget {
  schema: string;
  owner?: string | null | undefined;
}

/** Statements for new privileges, and for those of a view or function that is created again. */
export function createPrivileges({ schema, owner }: ObjectTarget, object: SchemaObject): Step[] {
  const located = targetOf(schema, object);
  const revoked = revokedFromPublic(object);
  return revoked === null
    ? [revokeOthers(located, owner), ...grant(located, privilegesIn(object.definition))]
    : [revokeFromPublic(located, revoked)];
}

/** REVOKE has no effect on a privilege that a role with the grant option has passed on to PUBLIC. */
function revokeFromPublic(located: Target, privilege: Privilege['name']): Step {
  const { start, target, role, words, isOpen } = located;
  const fault = literal(
    `a role other than the owner has granted ${privilege} on ${words.named} to PUBLIC. Revoke it with that role, then repeat the request`,
  );
  const body = sql`BEGIN
    ${rejectOtherOwner(located)}
    ${start}REVOKE ALL ON ${target} FROM ${role};
    IF ${isOpen ?? sql`false`}
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
  END`;
  return [sql`DO ${block(body)}`, `revoke ${privilege.toLowerCase()} on ${words.target} from ${words.role}`];
}

/**
 * Revokes all privileges, or grants to PUBLIC again what it has by default. It does nothing if the role no longer exists, is the owner,
 * or is the database role of the service.
 * @param cascades true to revoke also what the role passed on. Otherwise PostgreSQL rejects the statement.
 */
export function dropPrivileges(schema: string, object: SchemaObject, cascades: boolean): Step {
  const located = targetOf(schema, object);
  const { start, target, role, isPublic, owner, words, onlyWarns } = located;
  if (areInitial(object)) return restoreInitial(located);
  const revoked = revokedFromPublic(object);
  if (revoked !== null)
    return [
      asOwner(located, sql`${start}GRANT ${WORDS[revoked]} ON ${target} TO ${role}`),
      `grant ${revoked.toLowerCase()} on ${words.target} to ${words.role}`,
    ];
  const revoke = sql`${start}REVOKE ALL ON ${target} FROM ${role}${cascades ? sql` CASCADE` : sql``}`;
  const summary = `revoke all privileges on ${words.target} from ${words.role}`;
  if (isPublic) return [asOwner(located, revoke), summary];
  const isOther = sql`SELECT FROM pg_catalog.pg_roles r
     WHERE r.rolname = ${literal(words.role)}::name AND r.rolname <> current_user AND r.oid <> ${owner}`;
  const check = onlyWarns ? rejectOtherOwner(located) : sql``;
  return [sql`DO ${block(sql`BEGIN IF EXISTS (${isOther}) THEN ${check} ${revoke}; END IF; END`)}`, summary];
}

/** Grants PUBLIC exactly what it had on the schema when the database was created, which depends on the release. */
function restoreInitial(located: Target): Step {
  const { target, role, words } = located;
  const body = sql`DECLARE initial text := (SELECT pg_catalog.string_agg(x.privilege_type, ', ')
      FROM pg_catalog.pg_namespace s, pg_catalog.aclexplode(${INITIAL_PRIVILEGES}) x
     WHERE s.nspname = ${literal(SEARCHED)} AND x.grantee = 0::oid);
  BEGIN
    ${rejectOtherOwner(located)}
    REVOKE ALL ON ${target} FROM ${role};
    IF initial IS NOT NULL THEN EXECUTE pg_catalog.format('GRANT %s ON SCHEMA public TO PUBLIC', initial); END IF;
  END`;
  return [sql`DO ${block(body)}`, `restore initial privileges on ${words.target} of ${words.role}`];
}

/** Statements that revoke what the role loses. They run before the statements about columns. */
export function revokeLost(schema: string, before: SchemaObject, after: SchemaObject): Step[] {
  const located = targetOf(schema, before);
  const { start, target, role, words } = located;
  const { revoked, restricted } = comparePrivileges(privilegesIn(before.definition), privilegesIn(after.definition));
  const revoke = (list: readonly Privilege[], option: Sql, what: string): Step[] =>
    list.length === 0
      ? []
      : [
          [
            asOwner(located, sql`${start}REVOKE ${option}${listSql(list)} ON ${target} FROM ${role}`),
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
