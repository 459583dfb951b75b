/** Keys of advisory locks. */
import { createHash } from 'node:crypto';

/** The purpose of a lock. Each has its own key per database and schema. */
export type LockPurpose =
  'schemas' | 'migrations' | 'log' | 'concurrent-indexes' | 'rebuild-metadata' | 'checkpoints' | `change ${string}`;

/**
 * The key of a lock: 64 bits of a hash, so that services in other schemas and other programs do not use it by accident.
 * Decimal text, as bigint parameters are sent.
 */
export function advisoryKey(place: { database: string; schema: string }, purpose: LockPurpose): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([place.database, place.schema, purpose]))
    .digest();
  return hash.readBigInt64BE(0).toString();
}

/** The notification channel of the log of one schema. Channels belong to a database, so its name is not needed. */
export function logChannel(schema: string): string {
  return `service_events_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`;
}
