/** The service's own collections, as far as the domain must know them. */
import type { ColumnSchema } from './model.js';

export const SYSTEM_PREFIX = 'service_';

export const isSystemCollection = (name: string): boolean => name.startsWith(SYSTEM_PREFIX);

/** The tables that the service has made itself: what else has such a name is not the service's. */
export const SYSTEM_TABLES: ReadonlySet<string> = new Set(
  (
    'service_events service_collections service_fields service_relations service_projections service_users ' +
    'service_tokens service_sessions service_settings service_auth_epoch service_idempotency service_folds ' +
    'service_migrations service_divergences'
  ).split(' '),
);

type KeyColumn = Pick<ColumnSchema, 'data_type' | 'max_length' | 'numeric_precision' | 'numeric_scale'> & {
  field: string;
};

/** System collections that a relation may point at, with their primary keys. */
export const REFERABLE_SYSTEM_COLLECTIONS: ReadonlyMap<string, KeyColumn> = new Map([
  ['service_users', { field: 'id', data_type: 'uuid', max_length: null, numeric_precision: null, numeric_scale: null }],
]);

/** What the peer calls the system collections that a relation may point at. */
const PEER_NAMES: ReadonlyMap<unknown, string> = new Map([['directus_users', 'service_users']]);

/** Our name of a collection that a client of the peer names, where no collection has the peer's name. */
export function collectionName<T>(name: T, exists: (collection: string) => boolean): T | string {
  const own = PEER_NAMES.get(name);
  return own === undefined || exists(name as string) ? name : own;
}
