/** The collections of the service itself. */
import type { ColumnSchema } from './model.js';

/** The prefix of the names below. The prefix itself is not reserved, so users may create `service_orders`. */
export const SYSTEM_PREFIX = 'service_';

/** Names of existing collections of the service, and names that the service or Directus may add. */
const NAMES =
  'access activity approvals auth_epoch changes checkpoints collections comments dashboards divergences documents environments events ' +
  'exchanged_id_tokens extensions fields files flows folders folds followers former_users idempotency identities keys migrations notifications objects ' +
  'operations panels permissions policies policy preparations presets projections relations revisions roles sessions ' +
  'settings shares tokens translations trash users versions webhook_deliveries webhooks';

const SYSTEM_COLLECTIONS: ReadonlySet<string> = new Set(NAMES.split(' ').map((name) => SYSTEM_PREFIX + name));

/** True if the name belongs to the service. */
export const isSystemCollection = (name: string): boolean => SYSTEM_COLLECTIONS.has(name);

type KeyColumn = Pick<ColumnSchema, 'data_type' | 'max_length' | 'numeric_precision' | 'numeric_scale'> & {
  field: string;
};

/** System collections that a relation may reference, with their primary keys. */
export const REFERABLE_SYSTEM_COLLECTIONS: ReadonlyMap<string, KeyColumn> = new Map([
  ['service_users', { field: 'id', data_type: 'uuid', max_length: null, numeric_precision: null, numeric_scale: null }],
]);

/** Maps the names of these system collections in Directus to those of this service. */
const DIRECTUS_NAMES: ReadonlyMap<unknown, string> = new Map([['directus_users', 'service_users']]);

/**
 * Translates the name of a Directus system collection to that of this service, unless a collection has the Directus
 * name.
 */
export function collectionName<T>(name: T, exists: (collection: string) => boolean): T | string {
  const own = DIRECTUS_NAMES.get(name);
  return own === undefined || exists(name as string) ? name : own;
}
