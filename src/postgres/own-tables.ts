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
  checkpoints: ownTable('service_checkpoints'),
  collections: ownTable('service_collections'),
  divergences: ownTable('service_divergences'),
  events: ownTable('service_events'),
  fields: ownTable('service_fields'),
  folds: ownTable('service_folds'),
  idempotency: ownTable('service_idempotency'),
  keys: ownTable('service_keys'),
  migrations: ownTable('service_migrations'),
  projections: ownTable('service_projections'),
  relations: ownTable('service_relations'),
  sessions: ownTable('service_sessions'),
  settings: ownTable('service_settings'),
  tokens: ownTable('service_tokens'),
  users: ownTable('service_users'),
};

/** The service's own schema, for a catalog query: its oid, or null where there is none. */
export const OWN_SCHEMA_OID = `(SELECT c.relnamespace FROM pg_catalog.pg_class c WHERE c.oid = pg_catalog.to_regclass('${own.migrations}'))`;

/** The service's own schema in a managed database, unless SERVICE_SCHEMA says another. */
export const defaultServiceSchema = (schema: string): string => (schema === 'public' ? 'service' : `service_${schema}`);

/** The text as it is sent, or shown: with the schema's name, quoted only where it has to be. */
export function nameOwnSchema(text: string, serviceSchema: string): string {
  return text.includes(MARK) ? text.replaceAll(MARK, () => `${identifier(serviceSchema)}.`) : text;
}

/** Never one of PostgreSQL's words: `service` and what begins with it is none, and everything else is quoted. */
const identifier = (name: string): string =>
  /^service(_[a-z0-9_]*)?$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
