/**
 * The service's own tables, and how SQL names them. They live in a schema of their own that is never searched, and whose
 * name each connection knows: SQL texts have a mark in its place, which the connection replaces as it sends them.
 */

/** NUL, which PostgreSQL takes in no text: nobody's name, literal or expression can hold it. */
const MARK = '\0';

/** One of them, by its name. */
export const ownTable = (name: string): string => `${MARK}${name}`;

/** By what they hold: `SELECT … FROM ${own.events}`. */
export const own = {
  authEpoch: ownTable('service_auth_epoch'),
  changes: ownTable('service_changes'),
  checkpoints: ownTable('service_checkpoints'),
  collections: ownTable('service_collections'),
  divergences: ownTable('service_divergences'),
  documents: ownTable('service_documents'),
  events: ownTable('service_events'),
  fields: ownTable('service_fields'),
  folds: ownTable('service_folds'),
  idempotency: ownTable('service_idempotency'),
  keys: ownTable('service_keys'),
  migrations: ownTable('service_migrations'),
  preparations: ownTable('service_preparations'),
  projections: ownTable('service_projections'),
  relations: ownTable('service_relations'),
  sessions: ownTable('service_sessions'),
  settings: ownTable('service_settings'),
  tokens: ownTable('service_tokens'),
  trash: ownTable('service_trash'),
  users: ownTable('service_users'),
};

/** The service's own schema, for a catalog query: its oid, or null where there is none. */
export const OWN_SCHEMA_OID = `(SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass('${own.migrations}')::oid)`;

/** The service's own schema in a managed database, unless SERVICE_SCHEMA says another. */
export const defaultServiceSchema = (schema: string): string => (schema === 'public' ? 'service' : `service_${schema}`);

/** The schema that holds what the deletion at a position left in the trash, as SQL texts name it: as an identifier. */
export const trashSchema = (position: number): string => `${MARK}${MARK}${position}`;

/** What names such a schema in a text. */
export const TRASH_MARKS = /\0\0(\d+)/g;

/** What it is called in the database. */
export const trashSchemaName = (serviceSchema: string, position: number | string): string =>
  `${serviceSchema}_trash_${position}`;

/** The same as an expression, for a catalog query. @param position an expression too */
export const trashSchemaNameSql = (position: string): string =>
  `(SELECT n.nspname::text || '_trash_' || (${position})::text FROM pg_catalog.pg_namespace n WHERE n.oid = ${OWN_SCHEMA_OID})`;

/** Bytes that the service's schema may have in its name, so that those of the trash fit. */
export const LONGEST_SERVICE_SCHEMA = 63 - '_trash_'.length - String(Number.MAX_SAFE_INTEGER).length;

/** The text as it is sent, or shown: with the schema's name, quoted only where it has to be. */
export function nameOwnSchema(text: string, serviceSchema: string): string {
  if (!text.includes(MARK)) return text;
  return text
    .replaceAll(TRASH_MARKS, (_, position: string) => identifier(trashSchemaName(serviceSchema, position)))
    .replaceAll(MARK, () => `${identifier(serviceSchema)}.`);
}

/** Never one of PostgreSQL's words: `service` and what begins with it is none, and everything else is quoted. */
const identifier = (name: string): string =>
  /^service(_[a-z0-9_]*)?$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
