/**
 * Names of what is made in the database for a change request. They tell whose it is, so that verification can pass over it
 * while the request lives, and clean-up finds it whatever was lost meanwhile.
 */
import { hash } from 'node:crypto';

/** As a regular expression of both JavaScript and PostgreSQL. At most 59 bytes, so PostgreSQL cuts nothing off. */
export const PREPARED_NAME = '^dps_online_[0-9a-f]{32}_[0-9a-f]{8}(_[a-z]{1,6})?$';

const PREPARED = new RegExp(PREPARED_NAME);

/** @param id uuid of the change request @param key names the thing within the request */
export const preparedName = (id: string, key: string): string => `${beginning(id)}${hash('sha256', key).slice(0, 8)}`;

const beginning = (id: string): string => `dps_online_${id.replaceAll('-', '').toLowerCase()}_`;

/** The names of one request, as a regular expression of PostgreSQL. */
export const preparedNamesOf = (id: string): string => `^${beginning(id)}[0-9a-f]{8}(_[a-z]{1,6})?$`;

/** The uuid of the request that a name tells of; null: it isn't one of these names. */
export function requestOf(name: string): string | null {
  if (!PREPARED.test(name)) return null;
  const hex = name.slice('dps_online_'.length, 'dps_online_'.length + 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
