/* Writes the statements that grant and revoke privileges. */
import { quoteName } from '../../kernel/text.js';
import { PUBLIC, type Privilege, type SchemaObject, objectNameParts } from '../../schema/model/objects.js';
import { comparePrivileges, privilegeNames, privilegesWith, privilegesIn } from '../../schema/model/privileges.js';
import { type Sql, block, columnList, ident, join, literal, qualified, sql } from './sql.js';

/** A statement and its summary. */
type Step = [text: Sql, summary: string];

const WORDS: Readonly<Record<Privilege['name'], Sql>> = {
  DELETE: sql`DELETE`,
  INSERT: sql`INSERT`,
  MAINTAIN: sql`MAINTAIN`,
  REFERENCES: sql`REFERENCES`,
  SELECT: sql`SELECT`,
  TRIGGER: sql`TRIGGER`,
  TRUNCATE: sql`TRUNCATE`,
  UPDATE: sql`UPDATE`,
};

const listSql = (privileges: readonly Privilege[]): Sql =>
  join(
    privileges.map(({ name, columns }) =>
      columns === undefined ? WORDS[name] : sql`${WORDS[name]} ${columnList(columns)}`,
    ),
    sql`, `,
  );

interface Target {
  table: Sql;
  role: Sql;
  /** True for PUBLIC. A role can have the name "PUBLIC". */
  isPublic: boolean;
  /** `members to editors` */
  words: { table: string; role: string };
}

function targetOf(schema: string, { kind, id }: SchemaObject): Target {
  const { name, table } = objectNameParts({ kind, id });
  return {
    table: qualified(schema, table ?? ''),
    role: name === PUBLIC ? sql`PUBLIC` : ident(name),
    isPublic: name === PUBLIC,
    words: { table: table ?? '', role: name === PUBLIC ? 'PUBLIC' : name },
  };
}

function grant({ table, role, words }: Target, privileges: readonly Privilege[]): Step[] {
  return [false, true].flatMap((isGrantable): Step[] => {
    const list = privilegesWith(privileges, isGrantable);
    if (list.length === 0) return [];
    const option = isGrantable ? sql` WITH GRANT OPTION` : sql``;
    const summary = `grant ${privilegeNames(list)} on ${words.table} to ${words.role}`;
    return [
      [
        sql`GRANT ${listSql(list)} ON TABLE ${table} TO ${role}${option}`,
        isGrantable ? `${summary} with grant option` : summary,
      ],
    ];
  });
}

/**
 * Revokes all privileges of the role, such as default privileges, so that it has exactly those of the object afterwards.
 * The owner of the table needs its own privileges, and so does the database role of the service.
 */
function revokeOthers(schema: string, object: SchemaObject): Step {
  const { table, role, isPublic, words } = targetOf(schema, object);
  const revoke = sql`REVOKE ALL ON TABLE ${table} FROM ${role}`;
  const summary = `revoke other privileges on ${words.table} from ${words.role}`;
  if (isPublic) return [revoke, summary];
  const name = literal(words.role);
  const fault = literal(
    `the role ${quoteName(words.role)} owns ${quoteName(words.table)} or is the database role of the service. Its privileges cannot be managed. Name another role`,
  );
  const body = sql`BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = ${literal(table)}::regclass::oid
        AND ${name}::name IN (pg_catalog.pg_get_userbyid(c.relowner), current_user))
    THEN RAISE EXCEPTION USING MESSAGE = ${fault}, ERRCODE = 'invalid_grantor'; END IF;
    ${revoke};
  END`;
  return [sql`DO ${block(body)}`, summary];
}

/** Statements for new privileges, and for those of a view that is created again. */
export const createPrivileges = (schema: string, object: SchemaObject): Step[] => [
  revokeOthers(schema, object),
  ...grant(targetOf(schema, object), privilegesIn(object.definition)),
];

/**
 * Revokes all privileges. It does nothing if the role no longer exists, owns the table, or is the database role of the
 * service.
 * @param cascades true to revoke also what the role passed on. Otherwise PostgreSQL rejects the statement then.
 */
export function dropPrivileges(schema: string, object: SchemaObject, cascades: boolean): Step {
  const { table, role, isPublic, words } = targetOf(schema, object);
  const revoke = sql`REVOKE ALL ON TABLE ${table} FROM ${role}${cascades ? sql` CASCADE` : sql``}`;
  const summary = `revoke all privileges on ${words.table} from ${words.role}`;
  if (isPublic) return [revoke, summary];
  const isOther = sql`SELECT FROM pg_catalog.pg_roles r
     WHERE r.rolname = ${literal(words.role)}::name AND r.rolname <> current_user AND NOT EXISTS (
       SELECT FROM pg_catalog.pg_class c WHERE c.oid = ${literal(table)}::regclass::oid AND c.relowner = r.oid)`;
  return [sql`DO ${block(sql`BEGIN IF EXISTS (${isOther}) THEN ${revoke}; END IF; END`)}`, summary];
}

/** Statements that revoke what the role loses. They run before the statements about columns. */
export function revokeLost(schema: string, before: SchemaObject, after: SchemaObject): Step[] {
  const { table, role, words } = targetOf(schema, before);
  const { revoked, restricted } = comparePrivileges(privilegesIn(before.definition), privilegesIn(after.definition));
  const revoke = (list: readonly Privilege[], option: Sql, what: string): Step[] =>
    list.length === 0
      ? []
      : [
          [
            sql`REVOKE ${option}${listSql(list)} ON TABLE ${table} FROM ${role}`,
            `revoke ${what}${privilegeNames(list)} on ${words.table} from ${words.role}`,
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
