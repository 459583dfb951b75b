/* Initialises the embedded server, with its settings and the role of the service. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import pg from 'pg';
import { OperatorError } from '../../kernel/operator-error.js';
import { type Account, program, moveIntoPlace } from './programs.js';

/** Settings of the server's command line. A new release can therefore change them at the next start. */

/**
 * Locks per transaction. Creating a collection of nine fields with a foreign key, a unique field and an index takes
 * seven (table, key, two indexes, sequence, TOAST table and its index). So a batch of 10,000 collections fits, even
 * with twice the indexes. The lock table uses 40 MB, and 40 MB more when full.
 */
const LOCKS = 200_000;

/**
 * Processes other than connections for which PostgreSQL reserves locks: autovacuum 16 + 1, workers 8, and a few more.
 */
const AUXILIARY_PROCESSES = 25;

/** @param connections maximum number of clients */
export function serverSettings(connections: number): Record<string, string | number> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: connections,
    max_locks_per_transaction: Math.ceil(LOCKS / (connections + AUXILIARY_PROCESSES)),
    shared_buffers: '128MB',
    // There are no replicas, so WAL is only needed for crash recovery.
    wal_level: 'replica',
    max_wal_senders: 0,
    max_wal_size: '1GB',
    checkpoint_timeout: '15min',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    password_encryption: 'scram-sha-256',
    // One file per weekday, overwritten after a week.
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgresql-%a.log',
    log_rotation_age: '1d',
    log_rotation_size: 0,
    log_truncate_on_rotation: 'on',
    // Statements are not logged because they contain user data. The service's own log records its actions.
    log_min_error_statement: 'panic',
  };
}

/** Settings of test servers, which need not survive a power failure. */
export const THROWAWAY_SETTINGS: Readonly<Record<string, string | number>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
};

/* Creates the server's files once: `initdb` writes them to a draft folder, which is renamed when it is complete. */

const run = promisify(execFile);

/** The owner of everything in the embedded server. */
const SUPERUSER = 'postgres';

const DRAFT = '.draft-';

interface NewCluster {
  programs: string;
  account: Account | null;
  /** The folder of the finished files. */
  home: string;
  /** The name in the data directory that links to `home`. Usually `home` itself. */
  link: string;
  password: string;
  /** False for a test server, which may lose its files at a power failure. */
  durable: boolean;
}

/** Sorts text by code point on every machine. `lower()` and similar functions support all of Unicode. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/**
 * Either creates `home` completely or leaves it unchanged. Removes drafts of earlier attempts.
 * @throws OperatorError
 */
export async function initialise(cluster: NewCluster): Promise<void> {
  const { account, home } = cluster;
  const draft = `${home}${DRAFT}${randomBytes(4).toString('hex')}`;
  const passwordFile = `${draft}.password`;
  try {
    await mkdir(dirname(home), { recursive: true });
    await removeDrafts(home);
    await mkdir(draft, { mode: 0o700 });
    await writeFile(passwordFile, cluster.password, { mode: 0o600 });
    if (account) await Promise.all([draft, passwordFile].map((path) => chown(path, account.uid, account.gid)));
    await chmod(draft, 0o700);
    const flags = ['--auth=scram-sha-256', `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`, ...LOCALE];
    if (!cluster.durable) flags.push('--no-sync');
    const environment = { PATH: process.env['PATH'], LC_ALL: 'C' };
    await run(program(cluster.programs, 'initdb'), ['--pgdata', draft, ...flags], {
      ...account,
      cwd: '/',
      env: environment,
    });
    await moveIntoPlace(draft, home, cluster.link);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    throw new OperatorError(`The embedded PostgreSQL in ${home} could not be initialized: ${reason(cause)}.`, {
      cause,
    });
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** Removes what a killed start left behind. The data directory is locked, so no other process uses a draft. */
async function removeDrafts(home: string): Promise<void> {
  const names = await readdir(dirname(home));
  const drafts = names.filter((name) => name.startsWith(basename(home) + DRAFT));
  for (const name of drafts) await rm(join(dirname(home), name), { recursive: true, force: true, maxRetries: 10 });
}

/** Returns the last line of the output of initdb, which contains the reason. */
function reason(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const lines = (stderr ?? '').split('\n').filter((line) => line.includes('error:') || line.includes('FATAL:'));
  return (lines.at(-1) ?? message).replace(/\.$/, '');
}

/*
 * The role of the service in its embedded server. It owns its database but is not a superuser, so SQL that evades every
 * check can still not read files or run programs. It can create trusted extensions.
 */

/** Name of the role and of its database. */
const SERVICE_ACCOUNT = 'dps';

interface Addresses {
  /** The connection address for the role of the service. */
  service: string;
  /** The connection address for the superuser, in the same database. */
  superuser: string;
}

/** Creates the role and the database if they are missing, and returns their addresses. */
export async function ensureServiceAccount(
  port: number,
  passwords: { superuser: string; service: string },
): Promise<Addresses> {
  const superuser = (database: string) => addressOf({ user: SUPERUSER, password: passwords.superuser, port, database });
  const client = new pg.Client({ connectionString: superuser('postgres') });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await refuseEarlierLayout(client);
    await ensureRole(client, passwords.service);
    await ensureDatabase(client);
  } finally {
    await client.end();
  }
  const service = addressOf({ user: SERVICE_ACCOUNT, password: passwords.service, port, database: SERVICE_ACCOUNT });
  return { service, superuser: superuser(SERVICE_ACCOUNT) };
}

function addressOf(to: { user: string; password: string; port: number; database: string }): string {
  return `postgresql://${to.user}:${to.password}@127.0.0.1:${to.port}/${to.database}`;
}

/** Rejects data of a release before 0.1.0, which stored everything in the superuser's own database. */
async function refuseEarlierLayout(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query(`SELECT FROM pg_tables WHERE tablename = 'service_migrations'`);
  if (rowCount === 0) return;
  throw new OperatorError(
    'A development version that worked as a superuser wrote the data directory. Dump its database "postgres" with that version, and move the directory away to start with an empty database.',
  );
}

/** Sets the password from the file at each start, even if it was changed since the last start. */
async function ensureRole(client: pg.Client, password: string): Promise<void> {
  const name = client.escapeIdentifier(SERVICE_ACCOUNT);
  const roles = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [SERVICE_ACCOUNT]);
  if (roles.rowCount === 0) {
    await client.query(`CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS`);
  }
  await client.query(`GRANT pg_read_all_stats TO ${name}`);
  await client.query(`ALTER ROLE ${name} PASSWORD ${client.escapeLiteral(password)}`);
}

async function ensureDatabase(client: pg.Client): Promise<void> {
  const name = client.escapeIdentifier(SERVICE_ACCOUNT);
  const databases = await client.query('SELECT FROM pg_database WHERE datname = $1', [SERVICE_ACCOUNT]);
  if (databases.rowCount === 0) await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
}
