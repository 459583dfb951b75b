/**
 * Prepares a database for the service. A primary is migrated. On a standby the service waits for the primary's
 * migration.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { storedSecret, tokenSecret } from './features/accounts/secrets.js';
import { hasUsers } from './features/accounts/first-admin.js';
import { OperatorError } from './kernel/problem.js';
import { isConnectionLoss } from './postgres/errors.js';
import { own } from './postgres/own-tables.js';
import { type MigrateOptions, migrate, findMissingMigrations, rejectWhileRestoring } from './postgres/migrate.js';
import { rejectUnsafeOwner } from './postgres/schemas.js';
import { isStandby } from './postgres/server.js';

export interface SetUpOptions extends MigrateOptions {
  /** The role of OBJECTS_OWNER. */
  objectsOwner: string | null;
  /** TOKEN_SECRET. Null uses the secret kept in the database. */
  tokenSecret: string | null;
  /** Runs work that needs a session, bypassing any pooler. */
  withSessions: (work: (sessions: pg.Pool) => Promise<void>) => Promise<void>;
  /** Called with a sentence that names the reason for the wait. */
  onWait: (sentence: string) => void;
  /** Aborts the wait for the primary. */
  signal: AbortSignal;
}

export interface SetUp {
  standby: boolean;
  /** Signs access tokens. */
  secret: string;
}

/** Milliseconds between two checks whether the primary has prepared the database. */
const LOOK_AGAIN = 500;

/**
 * Migrates a primary, or waits on a standby until its primary is migrated. A standby may be promoted during the wait.
 * @throws OperatorError as `migrate` does, and when the wait was aborted
 */
export async function setUp(options: SetUpOptions): Promise<SetUp> {
  let lastMessage: string | undefined;
  for (;;) {
    const outcome = await inspectSetUp(options).catch((error: unknown) => {
      // A service that waits for the primary's service also tolerates a lost connection to the primary.
      if (lastMessage === undefined || !isConnectionLoss(error)) throw error;
      return { missing: lastMessage };
    });
    if (!('missing' in outcome)) return outcome;
    if (outcome.missing !== lastMessage) options.onWait(outcome.missing);
    lastMessage = outcome.missing;
    await sleep(LOOK_AGAIN, undefined, { signal: options.signal }).catch(() => undefined);
    if (options.signal.aborted) throw new OperatorError(`The start was interrupted. ${lastMessage}`);
  }
}

async function inspectSetUp(options: SetUpOptions): Promise<SetUp | { missing: string }> {
  const { pool } = options;
  if (!(await isStandby(pool))) {
    await options.withSessions((sessions) => migrate({ ...options, pool: sessions }));
    await rejectWhileRestoring(pool);
    await requireAuthEpoch(pool, options.serviceSchema);
    await rejectUnsafeOwner(pool, options);
    return { standby: false, secret: await tokenSecret(pool, options.tokenSecret) };
  }
  const missing = await findMissingMigrations(options);
  if (missing !== null) return waitFor(missing);
  await rejectWhileRestoring(pool);
  await requireAuthEpoch(pool, options.serviceSchema);
  const secret = options.tokenSecret ?? (await storedSecret(pool));
  if (secret === null || !(await hasUsers(pool))) return waitFor('has no admin yet');
  return { standby: true, secret };
}

/**
 * Checks that the row exists, because every read queries it.
 * @throws OperatorError if the row was deleted
 */
async function requireAuthEpoch(pool: pg.Pool, serviceSchema: string): Promise<void> {
  const { rowCount } = await pool.query(`SELECT FROM ${own.authEpoch}`);
  if (rowCount === 1) return;
  const table = `${pg.escapeIdentifier(serviceSchema)}.service_auth_epoch`;
  throw new OperatorError(
    'The table "service_auth_epoch" has no row, so the service cannot tell when accounts change. ' +
      `Insert it again: INSERT INTO ${table} (epoch) VALUES ((random() * 1000000000)::bigint);`,
  );
}

const waitFor = (what: string): { missing: string } => ({
  missing: `The database is a standby and ${what}. Start this release of the service on its primary. This process waits for it.`,
});
