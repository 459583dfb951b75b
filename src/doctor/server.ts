/** Checks the server: its version, capacity and settings. */
import { locksPerTransaction, readLockSettings } from '../projector/refusals/too-few-locks.js';
import type { Check, DoctorContext } from './check.js';
import { own } from '../postgres/own-tables.js';
import { type Finding, finding } from './finding.js';

interface Server {
  number: number;
  version: string;
  encoding: string;
  standby: boolean;
  read_only: boolean;
}

const SERVER = `
  SELECT pg_catalog.current_setting('server_version_num')::int AS number, pg_catalog.current_setting('server_version') AS version,
         pg_catalog.current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS standby,
         pg_catalog.current_setting('default_transaction_read_only') = 'on' AS read_only`;

const OLDEST = 140_000;

export const database: Check = {
  name: 'database version, encoding, writable',
  decisive: true,
  async run({ pool }) {
    const { rows } = await pool.query<Server>(SERVER);
    const { number, version, encoding, standby, read_only } = rows[0] as Server;
    const found: Finding[] = [];
    if (number < OLDEST) found.push(finding('DATABASE_UNSUPPORTED', `The server is PostgreSQL ${version}.`));
    if (encoding !== 'UTF8') found.push(finding('DATABASE_UNSUPPORTED', `The database has the encoding ${encoding}.`));
    // A standby is read-only by design.
    if (read_only && !standby) found.push(finding('DATABASE_READ_ONLY', 'Transactions are read-only by default here.'));
    return found;
  },
};

/** The capacity with PostgreSQL's default settings: some thousand tables in one batch. */
const FACTORY_SLOTS = 6_400;

const OBJECTS = `
  SELECT count(*)::int AS objects FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'i', 'I', 'S')`;

export const locks: Check = {
  name: 'lock slots',
  async run({ pool, config }) {
    const settings = await readLockSettings(pool);
    const { rows } = await pool.query<{ objects: number }>(OBJECTS, [config.schema]);
    return lockFindings(settings, rows[0]?.objects ?? 0);
  },
};

/** @param objects tables, indexes and sequences of the schema, all of which a batch or a pg_dump may lock */
export function lockFindings(settings: Awaited<ReturnType<typeof readLockSettings>>, objects: number): Finding[] {
  const { max_locks_per_transaction: present, max_connections, max_prepared_transactions } = settings;
  const slots = present * (max_connections + max_prepared_transactions);
  const needed = Math.max(FACTORY_SLOTS, objects);
  if (slots >= needed) return [];
  const setting = Math.max(present + 1, locksPerTransaction(needed, settings));
  const message =
    `There are ${slots} lock slots; a large batch, or a pg_dump, of the ${objects} tables, indexes and sequences ` +
    `may need ${needed} (max_locks_per_transaction ${setting}, now ${present}).`;
  return [finding('LOCK_SLOTS_LOW', message)];
}

/** Connections beside the pool: listener, reads, index builder. */
const BESIDE_THE_POOL = 3;

const CONNECTIONS = `
  SELECT pg_catalog.current_setting('max_connections')::int - pg_catalog.current_setting('superuser_reserved_connections')::int AS connections`;

export const connections: Check = {
  name: 'connections',
  async run({ pool, config }) {
    const { rows } = await pool.query<{ connections: number }>(CONNECTIONS);
    const admitted = rows[0]?.connections ?? 0;
    const needed = config.poolSize + BESIDE_THE_POOL;
    if (admitted >= needed) return [];
    const message = `The server admits ${admitted} connections; this service may use ${needed} (DB_POOL ${config.poolSize}).`;
    return [finding('CONNECTIONS_LOW', message)];
  },
};

const TIMEOUTS = `
  SELECT name, setting::int AS milliseconds FROM pg_settings
   WHERE name IN ('statement_timeout', 'transaction_timeout') AND setting::int BETWEEN 1 AND $1 ORDER BY name`;

/** Milliseconds that a verification or a fold of a long log may take. */
const SHORT = 60_000;

export const timeouts: Check = {
  name: 'statement timeout',
  async run({ pool }) {
    const { rows } = await pool.query<{ name: string; milliseconds: number }>(TIMEOUTS, [SHORT]);
    return rows.map(({ name, milliseconds }) =>
      finding('STATEMENT_TIMEOUT', `The server ends what takes longer than ${milliseconds} ms (${name}).`),
    );
  },
};

const STATISTICS = `
  SELECT pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') AS shown, current_user::text AS user`;

/** Lock holders and standbys are visible only as far as the account's privileges allow. */
export const statistics: Check = {
  name: 'statistics of other users',
  async run({ pool }) {
    const { rows } = await pool.query<{ shown: boolean; user: string }>(STATISTICS);
    const { shown, user } = rows[0] as { shown: boolean; user: string };
    if (shown) return [];
    const message = `The user ${JSON.stringify(user)} does not see what other users' sessions do (pg_read_all_stats): how long a transaction that is in the way has lasted is not known, standbys are not waited for, and where there are some no checkpoint is signed.`;
    return [finding('STATISTICS_HIDDEN', message)];
  },
};

/** Milliseconds. */
const CLOCKS_APART = 2_000;

export const clock: Check = {
  name: 'clock',
  async run({ pool, now }: DoctorContext) {
    const before = now();
    const { rows } = await pool.query<{ time: Date; last: Date | null }>(
      `SELECT clock_timestamp() AS time, (SELECT occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1) AS last`,
    );
    const here = (before + now()) / 2;
    const { time, last } = rows[0] as { time: Date; last: Date | null };
    const apart = Math.round(time.getTime() - here);
    const found: Finding[] = [];
    if (Math.abs(apart) > CLOCKS_APART) {
      const which = apart > 0 ? 'ahead of' : 'behind';
      const message = `The database server's clock is ${Math.abs(apart)} ms ${which} the one of this machine.`;
      found.push(finding('CLOCK_DIFFERENCE', message));
    }
    if (last !== null && last.getTime() > here + CLOCKS_APART) {
      found.push(finding('LOG_IN_FUTURE', `The newest event is of ${last.toISOString()}, which is still to come.`));
    }
    return found;
  },
};
