import { readdirSync } from 'node:fs';
import { OLDER_RELEASE } from './errors.js';

/**
 * Provides the names of the service's own tables in SQL. Their schema is never in the search path. SQL texts contain a
 * mark, which the connection replaces with the name of the schema when it sends them.
 */

/**
 * The character NUL marks the schema of the service's own tables. PostgreSQL never accepts NUL, so no name, literal or
 * expression can contain the mark.
 */
const MARK = '\0';

export const ownTable = (name: string): string => `${MARK}${name}`;

/** The service's own tables, for use in SQL: `SELECT … FROM ${own.events}`. */
export const own = {
  authEpoch: ownTable('service_auth_epoch'),
  changes: ownTable('service_changes'),
  checkpoints: ownTable('service_checkpoints'),
  collections: ownTable('service_collections'),
  divergences: ownTable('service_divergences'),
  documents: ownTable('service_documents'),
  environments: ownTable('service_environments'),
  events: ownTable('service_events'),
  exchangedIdTokens: ownTable('service_exchanged_id_tokens'),
  fields: ownTable('service_fields'),
  formerUsers: ownTable('service_former_users'),
  folds: ownTable('service_folds'),
  idempotency: ownTable('service_idempotency'),
  identities: ownTable('service_identities'),
  keys: ownTable('service_keys'),
  migrations: ownTable('service_migrations'),
  objects: ownTable('service_objects'),
  preparations: ownTable('service_preparations'),
  presets: ownTable('service_presets'),
  projections: ownTable('service_projections'),
  relations: ownTable('service_relations'),
  sessions: ownTable('service_sessions'),
  settings: ownTable('service_settings'),
  tokens: ownTable('service_tokens'),
  trash: ownTable('service_trash'),
  users: ownTable('service_users'),
  webhookDeliveries: ownTable('service_webhook_deliveries'),
  webhooks: ownTable('service_webhooks'),
};

/** The keys of the rows of `own.settings`. */
export const SETTING_KEYS = { logBeginning: 'log_beginning', restoring: 'restoring', tokenSecret: 'token_secret' };

/** SQL for the oid of the service's own schema, for catalog queries. Null if the schema is missing. */
export const OWN_SCHEMA_OID = `(SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass('${own.migrations}')::oid)`;

/** Returns the schema that is used if SERVICE_SCHEMA is not set. */
export const defaultServiceSchema = (schema: string): string => (schema === 'public' ? 'service' : `service_${schema}`);

/** Identifies a schema with deleted objects: by the position of a deletion, or by the number of a shared schema. */
export type TrashId = number | `s${number}`;

/** Returns the quoted name of a schema with deleted objects, for SQL. */
export const trashSchema = (id: TrashId): string => `${MARK}${MARK}${id}`;

/** Matches the mark of a schema with deleted objects. */
export const TRASH_MARKS = /\0\0(s?\d+)/g;

/** Returns the actual name of a schema with deleted objects. */
export const trashSchemaName = (serviceSchema: string, id: number | string): string => `${serviceSchema}_trash_${id}`;

/**
 * Returns the name of a schema with deleted objects as a SQL expression, for catalog queries. @param id a SQL
 * expression
 */
export const trashSchemaNameSql = (id: string): string =>
  `(SELECT n.nspname::text || '_trash_' || (${id})::text FROM pg_catalog.pg_namespace n WHERE n.oid = ${OWN_SCHEMA_OID})`;

/** Maximum bytes of the service schema's name, so that the names of trash schemas fit. */
export const LONGEST_SERVICE_SCHEMA = 63 - '_trash_'.length - String(Number.MAX_SAFE_INTEGER).length;

/** Replaces the marks by the schema name, for sending or display. The name is quoted only if necessary. */
export function nameOwnSchema(text: string, serviceSchema: string): string {
  if (!text.includes(MARK)) return text;
  return text
    .replaceAll(TRASH_MARKS, (_, id: string) => identifier(trashSchemaName(serviceSchema, id)))
    .replaceAll(MARK, () => `${identifier(serviceSchema)}.`);
}

/** Quotes a name if necessary. No keyword of PostgreSQL begins with `service`, so such names need no quotes. */
const identifier = (name: string): string =>
  /^service(_[a-z0-9_]*)?$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;

/* Prevents a process with fewer migrations than its database from writing, because it might damage newer data. */

/** Location of the migrations: two levels above both src/postgres and dist/postgres. */
export const MIGRATIONS = new URL('../../db/', import.meta.url);

export const MIGRATION_FILE = /^\d{4}_\w+\.sql$/;

/** The newest migration of this release. */
const NEWEST_MIGRATION = Math.max(
  0,
  ...readdirSync(MIGRATIONS).flatMap((name) => (MIGRATION_FILE.test(name) ? Number(name.slice(0, 4)) : [])),
);

/** SQL condition: a newer release has migrated the database. */
export const IS_OLDER_RELEASE = `(SELECT pg_catalog.max(number) > ${NEWEST_MIGRATION} FROM ${own.migrations})`;

/**
 * Makes the transaction of an older release fail by an impossible cast. It is sent with the first statements of every
 * write and costs no round trip. A PL/pgSQL block is not used because it would be compiled each time.
 * `environmentProblem` converts the error.
 */
export const REFUSE_OLDER_RELEASE = {
  text: `SELECT CASE WHEN pg_catalog.max(number) > ${NEWEST_MIGRATION} THEN ('${OLDER_RELEASE} ' || pg_catalog.max(number)::text)::int END
           FROM ${own.migrations}`,
};
