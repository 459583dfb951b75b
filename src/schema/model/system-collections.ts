/** The service's own collections, as far as the domain must know them. */
import type { ColumnSchema } from './model.js';

/** In front of each of the names below; alone it means nothing: `service_orders` is anybody's. */
export const SYSTEM_PREFIX = 'service_';

/** What the service has, and what it or its peer may come to have. */
const NAMES =
  'access activity approvals auth_epoch changes checkpoints collections comments dashboards divergences documents events ' +
  'extensions fields files flows folders folds followers idempotency keys migrations notifications operations panels ' +
  'permissions policies policy preparations presets projections relations revisions roles sessions settings shares ' +
  'tokens translations trash users versions webhooks';

const SYSTEM_COLLECTIONS: ReadonlySet<string> = new Set(NAMES.split(' ').map((name) => SYSTEM_PREFIX + name));

/** Whether the name is the service's own, and no collection of anybody else's. */
export const isSystemCollection = (name: string): boolean => SYSTEM_COLLECTIONS.has(name);

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
