/* Checks of the database server and of the schemas. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { createClient, toDirectOptions, type Queryable } from '../postgres/pool.js';
import { type Check, finding, type DoctorContext, type Finding } from './check.js';
import { locksPerTransaction, readLockSettings } from '../projector/refusals/ddl-failure.js';
import { own } from '../postgres/own-tables.js';
import { type Schemas, findMissingPrivilege, findOwnerProblem, lostSchema, schemasExist } from '../postgres/schemas.js';
import { containsService, listMigrations, isRestoring } from '../postgres/migrate.js';
import { isStartupRefused, isThroughPooler, createUnexpectedPoolerError } from '../postgres/open-database.js';

/* Checks the server: its version, capacity and settings. */

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
  name: 'database version, encoding and write access',
  decisive: true,
  async run({ pool }) {
    const { rows } = await pool.query<Server>(SERVER);
    const { number, version, encoding, standby, read_only } = rows[0] as Server;
    const findings: Finding[] = [];
    if (number < OLDEST) findings.push(finding('DATABASE_UNSUPPORTED', `The server runs PostgreSQL ${version}.`));
    if (encoding !== 'UTF8')
      findings.push(finding('DATABASE_UNSUPPORTED', `The database has the encoding ${encoding}.`));
    // A standby is read-only by design.
    if (read_only && !standby) findings.push(finding('DATABASE_READ_ONLY', 'Transactions are read-only by default.'));
    return findings;
  },
};

/**
 * The lock table entries of a server with PostgreSQL's default settings. They suffice for some thousand tables in one
 * batch.
 */
const FACTORY_SLOTS = 6_400;

const OBJECTS = `
  SELECT count(*)::int AS objects FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE n.nspname = ANY ($1) AND c.relkind IN ('r', 'p', 'i', 'I', 'S')`;

export const locks: Check = {
  name: 'lock slots',
  async run({ pool, config: { schema, schemas = [schema] } }) {
    const settings = await readLockSettings(pool);
    const { rows } = await pool.query<{ objects: number }>(OBJECTS, [schemas]);
    return lockFindings(settings, rows[0]?.objects ?? 0);
  },
};

/** @param objects tables, indexes and sequences of the managed schemas, all of which a batch or a pg_dump may lock */
export function lockFindings(settings: Awaited<ReturnType<typeof readLockSettings>>, objects: number): Finding[] {
  const { max_locks_per_transaction: present, max_connections, max_prepared_transactions } = settings;
  const slots = present * (max_connections + max_prepared_transactions);
  const needed = Math.max(FACTORY_SLOTS, objects);
  if (slots >= needed) return [];
  const setting = Math.max(present + 1, locksPerTransaction(needed, settings));
  const message =
    `There are ${slots} lock slots. A large batch, or a pg_dump of the ${objects} tables, indexes and sequences, ` +
    `may need ${needed} (max_locks_per_transaction ${setting}, now ${present}).`;
  return [finding('LOCK_SLOTS_LOW', message)];
}

/** Connections that the service opens in addition to the pool: for the listener, reads and the index builder. */
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
    const message = `The server allows ${admitted} connections, but this service may use ${needed} (DB_POOL ${config.poolSize}).`;
    return [finding('CONNECTIONS_LOW', message)];
  },
};

const TIMEOUTS = `
  SELECT name, setting::int AS milliseconds FROM pg_settings
   WHERE name IN ('statement_timeout', 'transaction_timeout') AND setting::int BETWEEN 1 AND $1 ORDER BY name`;

/**
 * Statement timeouts up to this many milliseconds are reported, because verifying or folding a long log may take
 * longer.
 */
const SHORT = 60_000;

export const timeouts: Check = {
  name: 'statement timeout',
  async run({ pool }) {
    const { rows } = await pool.query<{ name: string; milliseconds: number }>(TIMEOUTS, [SHORT]);
    return rows.map(({ name, milliseconds }) =>
      finding('STATEMENT_TIMEOUT', `The server cancels statements after ${milliseconds} ms (${name}).`),
    );
  },
};

const STATISTICS = `
  SELECT pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') AS shown, current_user::text AS user`;

/** Lock holders and standbys are visible only as far as the account's privileges allow. */
export const statistics: Check = {
  name: 'statistics of other roles',
  async run({ pool }) {
    const { rows } = await pool.query<{ shown: boolean; user: string }>(STATISTICS);
    const { shown, user } = rows[0] as { shown: boolean; user: string };
    if (shown) return [];
    const message = `The role ${JSON.stringify(user)} cannot see the sessions of other roles (pg_read_all_stats). The service does not know how long blocking transactions last, and does not wait for standbys. If there are standbys, it signs no checkpoints.`;
    return [finding('STATISTICS_HIDDEN', message)];
  },
};

/** Maximum difference between the clocks of the database server and this machine, in milliseconds. */
const CLOCKS_APART = 2_000;

export const clock: Check = {
  name: 'clock',
  async run({ pool, now }: DoctorContext) {
    const before = now();
    const { rows } = await pool.query<{ time: Date; last: Date | null }>(
      `SELECT clock_timestamp() AS time, (SELECT occurred_at FROM ${own.events} ORDER BY position DESC LIMIT 1) AS last`,
    );
    const after = now();
    const here = (before + after) / 2;
    const { time, last } = rows[0] as { time: Date; last: Date | null };
    const apart = Math.round(time.getTime() - here);
    const findings: Finding[] = [];
    // The server may have read its clock at any time in between, so a slow response shows no difference.
    if (Math.abs(apart) > CLOCKS_APART + (after - before) / 2) {
      const which = apart > 0 ? 'ahead of' : 'behind';
      const message = `The clock of the database server is ${Math.abs(apart)} ms ${which} the clock of this machine.`;
      findings.push(finding('CLOCK_DIFFERENCE', message));
    }
    if (last !== null && last.getTime() > here + CLOCKS_APART) {
      findings.push(
        finding('LOG_IN_FUTURE', `The newest event has the time ${last.toISOString()}, which is in the future.`),
      );
    }
    return findings;
  },
};

/**
 * If the proxy is not trusted, all of its clients count as one address. Failed logins of one client then slow down the
 * others.
 */
export const proxy: Check = {
  name: 'proxy is trusted',
  needsService: true,
  run({ untrustedProxy }) {
    const address = untrustedProxy?.() ?? null;
    if (address === null) return Promise.resolve([]);
    const message = `${address} forwards requests with X-Forwarded-For or Forwarded, and TRUST_PROXY does not cover it: all its clients count as one address.`;
    return Promise.resolve([finding('PROXY_UNTRUSTED', message)]);
  },
};

/* Checks privileges on the schemas, and whether our tables belong to this release. */

export const privileges: Check = {
  name: 'privileges on the schemas',
  async run({ pool, config: { schema, schemas = [schema], serviceSchema } }) {
    const missing: (string | null)[] = [];
    for (const each of schemas)
      missing.push(
        (await findLostSchemas(pool, { schema: each, serviceSchema })) ?? (await findMissingPrivilege(pool, each)),
      );
    missing.push(await findMissingPrivilege(pool, serviceSchema));
    return missing.flatMap((message) => (message === null ? [] : [finding('SCHEMA_NOT_WRITABLE', message)]));
  },
};

/** Names a schema that was lost after the first start, which means data loss. Null if there is none. */
async function findLostSchemas(db: Queryable, { schema, serviceSchema }: Schemas): Promise<string | null> {
  const { text, values } = schemasExist([schema]);
  const { rows } = await db.query<{ there: boolean }>(text, values);
  return rows[0]?.there !== true && (await containsService(db, serviceSchema)) ? lostSchema(schema) : null;
}

export const migrations: Check = {
  name: 'migrations',
  decisive: true,
  async run({ pool, config: { serviceSchema } }) {
    if (!(await containsService(pool, serviceSchema))) {
      return [finding('SERVICE_MISSING', `The schema "${serviceSchema}" does not contain a service.`)];
    }
    const { applied, newest } = await listMigrations(pool);
    if (applied < newest) {
      return [
        finding(
          'MIGRATIONS_PENDING',
          `The last applied migration is ${applied}, but this release has migrations up to ${newest}.`,
        ),
      ];
    }
    if (applied > newest) {
      return [
        finding(
          'MIGRATIONS_NEWER',
          `Migration ${applied} was applied, but this release only knows migrations up to ${newest}.`,
        ),
      ];
    }
    return [];
  },
};

export const restoring: Check = {
  name: 'no restore in progress',
  decisive: true,
  run: async ({ pool }) =>
    (await isRestoring(pool)) ? [finding('RESTORE_UNFINISHED', 'A restore into this database has not finished.')] : [],
};

/** Selects managed and service tables whose owner's privileges this account lacks. Only an owner may alter a table. */
const NOT_OWNED = `
  SELECT c.relname AS name, c.relowner::regrole::text AS owner, count(*) OVER ()::int AS count
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE (n.nspname = ANY ($1::text[]) OR n.nspname = $2) AND c.relkind IN ('r', 'p') AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')
     AND (n.nspname = $2 OR EXISTS (
           SELECT FROM ${own.collections} s WHERE coalesce(s.schema ->> 'name'::text, s.collection) = c.relname
              AND s.schema IS NOT NULL AND coalesce(s.schema ->> 'schema'::text, $3) = n.nspname))
   ORDER BY c.relname COLLATE "C" LIMIT 1`;

export const ownership: Check = {
  name: 'ownership of the tables',
  async run({ pool, config }) {
    const { schema, schemas = [schema], serviceSchema } = config;
    const problem = await findOwnerProblem(pool, config);
    if (problem !== null) return [finding('OBJECTS_OWNER_UNUSABLE', problem)];
    const places = [schemas, serviceSchema, schema];
    const { rows } = await pool.query<{ name: string; owner: string; count: number }>(NOT_OWNED, places);
    const [row] = rows;
    if (row === undefined) return [];
    const more = row.count > 1 ? ` and ${row.count - 1} more` : '';
    return [finding('TABLES_NOT_OWNED', `The table "${row.name}" belongs to ${row.owner}${more}.`)];
  },
};

/**
 * Functions of another user in the searched schemas can shadow PostgreSQL's own if they fit the arguments better.
 * They would run with this service's privileges. The query itself avoids such calls.
 */
const SHADOWING = `
  SELECT n.nspname::pg_catalog.text AS schema, s.kind, s.name::pg_catalog.text AS name, r.rolname::pg_catalog.text AS owner
    FROM (
      SELECT 'function' AS kind, p.pronamespace AS place, p.proname AS name, p.proowner AS owner, p.oid,
             'pg_catalog.pg_proc'::pg_catalog.regclass::pg_catalog.oid AS class
        FROM pg_catalog.pg_proc p
       WHERE EXISTS (SELECT FROM pg_catalog.pg_proc b JOIN pg_catalog.pg_namespace c ON c.oid = b.pronamespace
                      WHERE b.proname = p.proname AND c.nspname = 'pg_catalog')
      UNION ALL
      SELECT 'operator', o.oprnamespace, o.oprname, o.oprowner, o.oid, 'pg_catalog.pg_operator'::pg_catalog.regclass::pg_catalog.oid
        FROM pg_catalog.pg_operator o
       WHERE EXISTS (SELECT FROM pg_catalog.pg_operator b JOIN pg_catalog.pg_namespace c ON c.oid = b.oprnamespace
                      WHERE b.oprname = o.oprname AND c.nspname = 'pg_catalog')
    ) s
    JOIN pg_catalog.pg_namespace n ON n.oid = s.place
    JOIN pg_catalog.pg_roles r ON r.oid = s.owner
   WHERE (n.nspname = $1 OR n.nspname = 'public') AND NOT r.rolsuper AND r.rolname <> current_user
     AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
                      WHERE d.classid = s.class AND d.objid = s.oid AND d.deptype = 'e')
   ORDER BY n.nspname, s.kind, s.name, s.oid`;

export const shadowing: Check = {
  name: 'built-in names used by other objects',
  async run({ pool, config: { schema } }) {
    type Row = { schema: string; kind: string; name: string; owner: string };
    const { rows } = await pool.query<Row>(SHADOWING, [schema]);
    const [row] = rows;
    if (row === undefined) return [];
    const more = rows.length > 1 ? ` The same applies to ${rows.length - 1} more.` : '';
    const message = `The ${row.kind} "${row.name}" in "${row.schema}" belongs to ${row.owner} and has the name of a PostgreSQL object. PostgreSQL may call it instead, with the privileges of this service.${more}`;
    return [finding('NAMES_SHADOWED', message)];
  },
};

/* Checks whether DB_POOLER matches the server. */

export const pooler: Check = {
  name: 'pooler',
  async run({ config, addresses }) {
    const { databasePooler } = config;
    if (databasePooler === null || config.databaseUrl === null) return [];
    const client = createClient({ ...config, ...addresses, applicationName: 'dps doctor' });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const pooling = (await isThroughPooler(client)) ? 'transaction' : 'none';
      if (pooling === databasePooler) return [];
      const what = pooling === 'none' ? 'connects to the server directly' : 'connects through a pooler';
      return [finding('POOLER_UNEXPECTED', `DB_POOLER is ${databasePooler}, and DATABASE_URL ${what}.`)];
    } catch (error) {
      if (!isStartupRefused(error)) throw error;
      return [finding('POOLER_UNEXPECTED', createUnexpectedPoolerError(error).message)];
    } finally {
      await client.end().catch(() => undefined);
    }
  },
};

/* Checks whether a standby follows its primary. */

/* Checks that a notification sent on one connection arrives on another. */

/** Seconds that a standby may lag. */
const PATIENCE = 60;

const FOLLOWING = `
  SELECT pg_get_wal_replay_pause_state() <> 'not paused' AS paused,
         EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver) AS receiving`;

export const standby: Check = {
  name: 'standby follows its primary',
  async run({ pool, server }) {
    if (!server.standby) return [];
    const { rows } = await pool.query<{ paused: boolean; receiving: boolean }>(FOLLOWING);
    const { paused = false, receiving = true } = rows[0] ?? {};
    const age = `it may be ${Math.ceil(server.lag)} seconds behind`;
    if (paused) return [finding('REPLAY_PAUSED', `Replay on the standby is paused: ${age}.`)];
    if (!receiving) return [finding('STANDBY_BEHIND', `The standby has no connection to its primary: ${age}.`)];
    return server.lag > PATIENCE ? [finding('STANDBY_BEHIND', `The standby follows its primary, and ${age}.`)] : [];
  },
};

/** Milliseconds to wait for each connection and for the notification. */
const LISTEN_PATIENCE = 3_000;

export const listening: Check = {
  name: 'notifications',
  needsPrimary: true,
  async run({ config, addresses }) {
    const connection = { ...config, applicationName: 'dps doctor', connectTimeout: LISTEN_PATIENCE, ...addresses };
    const [listener, speaker] = [createClient(toDirectOptions(connection)), createClient(connection)];
    const clients = [listener, speaker];
    for (const client of clients) client.on('error', () => undefined);
    try {
      await Promise.all(clients.map((client) => client.connect()));
      if (await isHeard(speaker, listener)) return [];
      return [finding('LISTENER_DEAF', `A notification on DATABASE_URL did not arrive within ${LISTEN_PATIENCE} ms.`)];
    } finally {
      await Promise.all(clients.map((client) => client.end().catch(() => undefined)));
    }
  },
};

async function isHeard(speaker: pg.Client, listener: pg.Client): Promise<boolean> {
  const channel = `service_doctor_${randomUUID().replaceAll('-', '')}`;
  let timer: NodeJS.Timeout | undefined;
  const heard = new Promise<boolean>((resolve) => {
    listener.on('notification', () => resolve(true));
    timer = setTimeout(() => resolve(false), LISTEN_PATIENCE);
  });
  try {
    await listener.query(`LISTEN ${channel}`);
    await speaker.query('SELECT pg_catalog.pg_notify($1, $2)', [channel, '']);
    return await heard;
  } finally {
    clearTimeout(timer);
  }
}
