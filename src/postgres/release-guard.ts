/** A process whose migrations are behind those of its database must not write: it doesn't know what it would break. */
import { readdirSync } from 'node:fs';
import { SQLSTATE_OLDER_RELEASE } from './errors.js';

/** Two levels up from src/postgres and from dist/postgres alike. */
export const MIGRATIONS = new URL('../../db/', import.meta.url);

export const MIGRATION_FILE = /^\d{4}_\w+\.sql$/;

/** The number of the newest migration that this release knows. */
export const NEWEST_MIGRATION = Math.max(
  0,
  ...readdirSync(MIGRATIONS).flatMap((name) => (MIGRATION_FILE.test(name) ? Number(name.slice(0, 4)) : [])),
);

/**
 * Fails the transaction of an older release. It goes along with the first statements of every write, and costs no round
 * trip; `environmentProblem` makes it an answer.
 */
export const REFUSE_OLDER_RELEASE = {
  text: `DO $$BEGIN IF EXISTS (SELECT FROM service_migrations WHERE number > ${NEWEST_MIGRATION}) THEN
    RAISE EXCEPTION USING ERRCODE = '${SQLSTATE_OLDER_RELEASE}', MESSAGE = 'This process is of an older release than the '
      'database, which a newer one has migrated; nothing was written. Start the newer release in its place.';
  END IF; END$$`,
};
