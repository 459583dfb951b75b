/** The two schemas of a service: the managed schema and the schema of its own tables. */
import type pg from 'pg';
import { OperatorError } from '../kernel/problem.js';
import type { Parameterised } from './exchange.js';
import { trashSchemaName } from './own-tables.js';
import type { Queryable } from './pool.js';

export interface Schemas {
  /** The default schema. */
  schema: string;
  /** All managed schemas. If absent, the service manages only the default schema. */
  schemas?: readonly string[] | undefined;
  /** The schema of the service's own tables. */
  serviceSchema: string;
}

/** Privileges of the role in a schema. */
interface SchemaPrivilege {
  account: string;
  database: string;
  exists: boolean;
  /**
   * True if the role has USAGE and CREATE on the schema. For a missing schema, true if it has CREATE on the database.
   */
  ok: boolean;
}

const RIGHT = `
  SELECT current_user::text AS account, current_database()::text AS database, n.oid IS NOT NULL AS exists,
         CASE WHEN n.oid IS NULL THEN pg_catalog.has_database_privilege(current_database(), 'CREATE')
              ELSE pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_schema_privilege(n.oid, 'CREATE')
         END AS ok
    FROM (VALUES ($1)) AS wanted (name) LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = wanted.name`;

/** Returns a sentence that names the missing privilege and the statement to run, or null. */
export async function findMissingPrivilege(db: Queryable, schema: string): Promise<string | null> {
  const { rows } = await db.query<SchemaPrivilege>(RIGHT, [schema]);
  const { account, database, exists, ok } = rows[0] as SchemaPrivilege;
  if (ok) return null;
  const [who, which] = [quoted(account), quoted(schema)];
  if (exists) {
    return (
      `The role ${who} cannot create tables in the schema ${which}. ` +
      `Run as its owner or a superuser: GRANT USAGE, CREATE ON SCHEMA ${which} TO ${who}.`
    );
  }
  return (
    `The schema ${which} does not exist, and the role ${who} cannot create it. Run as a superuser: ` +
    `CREATE SCHEMA ${which} AUTHORIZATION ${who}, or GRANT CREATE ON DATABASE ${quoted(database)} TO ${who}.`
  );
}

/**
 * Returns a statement whose result is one row: `there` is true if all managed schemas exist, otherwise `lost` names a
 * missing one. Someone can rename or drop a schema with SQL at any time.
 */
export const schemasExist = (schemas: readonly string[]) =>
  ({
    text: `SELECT pg_catalog.min(w.name) IS NULL AS there, pg_catalog.min(w.name) AS lost FROM pg_catalog.unnest($1::text[]) AS w (name)
            WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_namespace n WHERE n.nspname = w.name)`,
    values: [schemas],
  }) satisfies Parameterised;

/** Explains in several sentences that a managed schema is missing, and what to do. */
export function lostSchema(schema: string): string {
  const name = quoted(schema);
  return (
    `The schema ${name} no longer exists: someone renamed or dropped it outside the service. ` +
    `Rename it back (ALTER SCHEMA … RENAME TO ${name}). If it was dropped, restore a backup, ` +
    `or create an empty one (CREATE SCHEMA ${name}) and run "dps drift".`
  );
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Creates a schema if it is missing.
 * @throws OperatorError if the role lacks a privilege on it
 */
export async function ensureSchema(client: pg.ClientBase, schema: string): Promise<void> {
  const missing = await findMissingPrivilege(client, schema);
  if (missing !== null) throw new OperatorError(missing);
  // CREATE SCHEMA IF NOT EXISTS requires the privilege to create schemas even if the schema exists.
  const schemas = await client.query(`SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1`, [schema]);
  if (schemas.rowCount === 0) await client.query(`CREATE SCHEMA ${client.escapeIdentifier(schema)}`);
}

/* Checks the role of OBJECTS_OWNER. */

export interface OwnedSchemas extends Schemas {
  /** The role of OBJECTS_OWNER. Absent or null if there is none. */
  objectsOwner?: string | null | undefined;
}

interface OwnerFacts {
  account: string;
  /** Null if the role does not exist. The other members are then null too. */
  role: string | null;
  isAccount: boolean;
  /** A superuser, or a role that can grant itself others. */
  isPowerful: boolean;
  /** True if the account may act for the role and create objects for it. */
  isMember: boolean;
  /** A managed schema in which the role cannot create objects. */
  closed: string | null;
  /** A schema or table of the service, or a role, which the role may use. */
  reached: string | null;
}

/**
 * $1 is the role, $2 are the managed schemas, $3 is the schema of the service and $4 the start of the names of trash
 * schemas. PostgreSQL 16 checks SET separately. The privileges of PUBLIC count too.
 */
const OWNER_FACTS = `
  SELECT current_user::text AS account, r.rolname::text AS role, r.rolname = current_user AS "isAccount", r.rolsuper OR r.rolcreaterole AS "isPowerful",
         pg_catalog.pg_has_role(r.oid, 'USAGE') AND pg_catalog.pg_has_role(r.oid,
           CASE WHEN pg_catalog.current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END) AS "isMember",
         (SELECT n.nspname::text FROM pg_catalog.pg_namespace n
           WHERE n.nspname = ANY ($2::text[]) AND NOT (pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE') AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'CREATE'))
           ORDER BY 1 LIMIT 1) AS closed,
         coalesce(
           (SELECT pg_catalog.format('the schema %I', n.nspname) FROM pg_catalog.pg_namespace n
             WHERE (n.nspname = $3 OR pg_catalog.starts_with(n.nspname::text, $4)) AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE, CREATE')
             ORDER BY n.nspname LIMIT 1),
           (SELECT pg_catalog.format('the table %s', c.oid::regclass) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
             WHERE n.nspname = $3 AND c.relkind IN ('r', 'p', 'v', 'm')
               AND (pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')
                 OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT, INSERT, UPDATE, REFERENCES'))
             ORDER BY c.relname LIMIT 1),
           (SELECT pg_catalog.format('the role %I, which owns it', o.rolname) FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
             WHERE n.nspname = $3 AND pg_catalog.pg_has_role(r.oid, o.oid, 'MEMBER'))) AS reached
    FROM (VALUES (1)) AS one LEFT JOIN pg_catalog.pg_roles r ON r.rolname = $1`;

/** Returns why the role of OBJECTS_OWNER cannot own objects, and what to do. Null if it can. */
export async function findOwnerProblem(
  db: Queryable,
  { schema, schemas = [schema], serviceSchema, objectsOwner }: OwnedSchemas,
): Promise<string | null> {
  if (objectsOwner == null) return null;
  const values = [objectsOwner, schemas, serviceSchema, trashSchemaName(serviceSchema, '')];
  const { rows } = await db.query<OwnerFacts>(OWNER_FACTS, values);
  const facts = rows[0] as OwnerFacts;
  const [who, owner, own] = [quoted(facts.account), quoted(objectsOwner), quoted(serviceSchema)];
  const role = `The role ${owner} of OBJECTS_OWNER`;
  if (facts.role === null)
    return `${role} does not exist. Run as a superuser: CREATE ROLE ${owner}; GRANT ${owner} TO ${who}.`;
  if (facts.isAccount)
    return `${role} is the role of the service, which can read accounts and the log. Set another role.`;
  if (facts.isPowerful)
    return `${role} is a superuser or can create roles, so its functions could read accounts and the log. Run as a superuser: ALTER ROLE ${owner} NOSUPERUSER NOCREATEROLE.`;
  if (!facts.isMember)
    return `The role ${who} of the service cannot create objects for the role ${owner} of OBJECTS_OWNER. Run as a superuser: ALTER ROLE ${who} INHERIT; GRANT ${owner} TO ${who}.`;
  if (facts.reached !== null)
    return `${role} has privileges on ${facts.reached}, so its functions could read accounts and the log in the schema ${own}. Revoke these privileges from ${owner}, from PUBLIC and from the roles of which ${owner} is a member, or set another role.`;
  if (facts.closed !== null)
    return `${role} cannot create objects in the schema ${quoted(facts.closed)}. Run as its owner or a superuser: GRANT USAGE, CREATE ON SCHEMA ${quoted(facts.closed)} TO ${owner}.`;
  return null;
}

/** @throws OperatorError if the role of OBJECTS_OWNER cannot own objects, or has privileges on the service's own tables */
export async function rejectUnsafeOwner(db: Queryable, schemas: OwnedSchemas): Promise<void> {
  const problem = await findOwnerProblem(db, schemas);
  if (problem !== null) throw new OperatorError(problem);
}

/*
 * A log finds its deleted tables by the name of a trash schema. Tables that another log left there would look like its
 * own. Empty shared schemas are harmless.
 */
const LEFT_TRASH = `
  SELECT n.nspname::text AS name
    FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL (SELECT pg_catalog.substr(n.nspname::text, pg_catalog.length($1) + 1) AS id) t
   WHERE pg_catalog.starts_with(n.nspname::text, $1) AND t.id ~ '^s?[0-9]+$'
     AND (t.id ~ '^[0-9]' OR EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid))
   ORDER BY n.nspname LIMIT 4`;

/** Returns a clause that names trash schemas left by another log, or null. */
export async function findLeftoverTrash(db: Queryable, serviceSchema: string): Promise<string | null> {
  const { rows } = await db.query<{ name: string }>(LEFT_TRASH, [trashSchemaName(serviceSchema, '')]);
  if (rows.length === 0) return null;
  const some = rows.slice(0, 3).map(({ name }) => quoted(name));
  return `deleted tables of an earlier service are in ${some.join(', ')}${rows.length > 3 ? ' and more' : ''}`;
}

/** @throws OperatorError if another log left trash schemas in the database */
export async function rejectLeftoverTrash(
  db: Queryable,
  { serviceSchema }: Pick<Schemas, 'serviceSchema'>,
): Promise<void> {
  const left = await findLeftoverTrash(db, serviceSchema);
  if (left === null) return;
  throw new OperatorError(
    `The service cannot create the schema "${serviceSchema}": ${left}. Rename or drop these schemas, or set another SERVICE_SCHEMA.`,
  );
}

/**
 * Comment on our table of migrations, followed by the name of the managed schema. It identifies the owner of the
 * tables.
 */
export const PLACE_COMMENT = 'The tables beside this one belong to the service that manages the schema ';

/**
 * Aborts the start if the managed schema is inaccessible, or if the service schema contains other objects.
 * @throws OperatorError
 */
export async function rejectForeignObjects(
  client: pg.ClientBase,
  { schema, schemas, serviceSchema }: Schemas,
): Promise<void> {
  await refuseOtherService(client, { schema, serviceSchema });
  await refuseSharedSchemas(client, { schema, schemas, serviceSchema });
  await refuseUnreachable(client, schema);
  await refuseForeign(client, serviceSchema);
  // The managed schema must not contain the own tables of another service.
  const inside = await client.query(
    `SELECT FROM pg_catalog.pg_tables WHERE schemaname = ANY ($1) AND tablename = 'service_migrations'`,
    [schemas ?? [schema]],
  );
  if (inside.rowCount === 0) return;
  throw new OperatorError(
    `The schema "${schema}" cannot be managed: it contains the tables of a service. Check DB_SCHEMA, or set another SERVICE_SCHEMA for that service.`,
  );
}

/**
 * Rejects schemas that the role cannot use. PostgreSQL silently ignores schemas without USAGE in the search path. A
 * pooler that DB_POOLER does not declare loses the whole search path.
 */
async function refuseUnreachable(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ current: string | null }>(`SELECT current_schema() AS current`);
  if (rows[0]?.current === schema) return;
  const { text, values } = schemasExist([schema]);
  const reachable = await client.query<{ there: boolean }>(text, values);
  if (reachable.rows[0]?.there !== true) throw new OperatorError(lostSchema(schema));
  throw new OperatorError(
    `The schema "${schema}" cannot be used: the database role needs the privileges USAGE and CREATE on it ` +
      `(and with DB_POOLER none, DATABASE_URL must not use a pooler).`,
  );
}

/**
 * Rejects a default schema that another service manages, which happens after the order of DB_SCHEMAS has changed.
 * Also rejects further schemas that are the default schema of another service.
 */
async function refuseSharedSchemas(client: pg.ClientBase, { schema, schemas = [schema], serviceSchema }: Schemas) {
  const { rows } = await client.query<{ place: string; comment: string | null }>(
    `SELECT n.nspname::text AS place, pg_catalog.obj_description(c.oid, 'pg_class') AS comment
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = 'service_migrations' AND n.nspname <> $1 ORDER BY 1`,
    [serviceSchema],
  );
  const other = rows.find(({ comment }) =>
    schemas.some((name) => comment === `${PLACE_COMMENT}${JSON.stringify(name)}.`),
  );
  if (other === undefined) return;
  const theirs = (other.comment ?? '').slice(PLACE_COMMENT.length, -1);
  throw new OperatorError(
    `The schema ${theirs} is the default schema of the service in the schema "${other.place}". Put it first in DB_SCHEMAS, or set SERVICE_SCHEMA and different DB_SCHEMAS for a second service.`,
  );
}

async function refuseOtherService(client: pg.ClientBase, { schema, serviceSchema }: Schemas): Promise<void> {
  const { rows } = await client.query<{ comment: string | null }>(
    `SELECT pg_catalog.obj_description(c.oid, 'pg_class') AS comment
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relname = 'service_migrations'`,
    [serviceSchema],
  );
  const comment = rows[0]?.comment ?? '';
  if (!comment.startsWith(PLACE_COMMENT) || comment === `${PLACE_COMMENT}${JSON.stringify(schema)}.`) return;
  const other = comment.slice(PLACE_COMMENT.length, -1);
  throw new OperatorError(
    `The schema "${serviceSchema}" belongs to a service that manages the schema ${other}, not "${schema}". Check DB_SCHEMA, and set a different SERVICE_SCHEMA for each service.`,
  );
}

/**
 * Selects tables and similar relations, functions, and types that belong to no table. Our own objects have a prefix and
 * are excluded.
 */
const FOREIGN = `
  WITH place AS (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1),
  begun AS (SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN place ON place.oid = c.relnamespace
                            WHERE c.relname = 'service_migrations') AS yes)
  SELECT found.name FROM (
    SELECT c.relname::text AS name FROM pg_catalog.pg_class c JOIN place ON place.oid = c.relnamespace WHERE c.relkind NOT IN ('i', 'I', 't')
    UNION ALL
    SELECT p.proname::text FROM pg_catalog.pg_proc p JOIN place ON place.oid = p.pronamespace
    UNION ALL
    SELECT t.typname::text FROM pg_catalog.pg_type t JOIN place ON place.oid = t.typnamespace WHERE t.typtype IN ('e', 'd', 'r')
  ) found, begun
  WHERE NOT begun.yes OR NOT pg_catalog.starts_with(found.name, 'service_')
  ORDER BY found.name COLLATE "C" LIMIT 1`;

async function refuseForeign(client: pg.ClientBase, serviceSchema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(FOREIGN, [serviceSchema]);
  if (rows[0] === undefined) return;
  throw new OperatorError(
    `The schema "${serviceSchema}" contains "${rows[0].name}", which does not belong to the service. The service needs its own schema. Move the object, or set another SERVICE_SCHEMA.`,
  );
}
