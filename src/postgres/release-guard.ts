/** Prevents a process with fewer migrations than its database from writing, because it might damage newer data. */
import { readdirSync } from 'node:fs';
import { own } from './own-tables.js';
import { OLDER_RELEASE } from './errors.js';

/** Two levels above both src/postgres and dist/postgres. */
export const MIGRATIONS = new URL('../../db/', import.meta.url);

export const MIGRATION_FILE = /^\d{4}_\w+\.sql$/;

/** The newest migration of this release. */
const NEWEST_MIGRATION = Math.max(
  0,
  ...readdirSync(MIGRATIONS).flatMap((name) => (MIGRATION_FILE.test(name) ? Number(name.slice(0, 4)) : [])),
);

/**
 * Makes the transaction of an older release fail by an impossible cast. It is sent with the first statements of every
 * write and costs no round trip. A PL/pgSQL block would be compiled each time. `environmentProblem` converts the error.
 */
export const REFUSE_OLDER_RELEASE = {
  text: `SELECT CASE WHEN pg_catalog.max(number) > ${NEWEST_MIGRATION} THEN ('${OLDER_RELEASE} ' || pg_catalog.max(number)::text)::int END
           FROM ${own.migrations}`,
};
