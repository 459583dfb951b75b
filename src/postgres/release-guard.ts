/** A process whose migrations are behind those of its database must not write: it doesn't know what it would break. */
import { readdirSync } from 'node:fs';
import { own } from './own-tables.js';
import { OLDER_RELEASE } from './errors.js';

/** Two levels up from src/postgres and from dist/postgres alike. */
export const MIGRATIONS = new URL('../../db/', import.meta.url);

export const MIGRATION_FILE = /^\d{4}_\w+\.sql$/;

/** The number of the newest migration that this release knows. */
const NEWEST_MIGRATION = Math.max(
  0,
  ...readdirSync(MIGRATIONS).flatMap((name) => (MIGRATION_FILE.test(name) ? Number(name.slice(0, 4)) : [])),
);

/**
 * Fails the transaction of an older release, by a cast that can't be made. It goes along with the first statements of
 * every write and costs no round trip; a block that raises an error would be compiled each time. `environmentProblem`
 * makes it an answer.
 */
export const REFUSE_OLDER_RELEASE = {
  text: `SELECT CASE WHEN pg_catalog.max(number) > ${NEWEST_MIGRATION} THEN ('${OLDER_RELEASE} ' || pg_catalog.max(number)::text)::int END
           FROM ${own.migrations}`,
};
