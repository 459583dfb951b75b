/**
 * Names of objects created for a change request. They identify the request, so that verification can ignore them
 * while it is open, and cleanup finds them even if other data was lost.
 */
import { hash } from 'node:crypto';

/** A regular expression for JavaScript and PostgreSQL. At most 59 bytes, so PostgreSQL never truncates it. */
export const PREPARED_NAME = '^dps_online_[0-9a-f]{32}_[0-9a-f]{8}(_[a-z]{1,6})?$';

const PREPARED = new RegExp(PREPARED_NAME);

/**
 * @param id UUID of the change request
 * @param key identifies the object within the request
 */
export const preparedName = (id: string, key: string): string => `${beginning(id)}${hash('sha256', key).slice(0, 8)}`;

const beginning = (id: string): string => `dps_online_${id.replaceAll('-', '').toLowerCase()}_`;

/** The names of one request, as a PostgreSQL regular expression. */
export const preparedNamesOf = (id: string): string => `^${beginning(id)}[0-9a-f]{8}(_[a-z]{1,6})?$`;

/** The UUID of the request in a name; null for other names. */
export function requestOf(name: string): string | null {
  if (!PREPARED.test(name)) return null;
  const hex = name.slice('dps_online_'.length, 'dps_online_'.length + 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
