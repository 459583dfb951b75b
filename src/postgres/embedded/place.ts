/**
 * Locates the server's programs and files. Usually they stay where they are. If root runs the server as another user,
 * that user may have no access to the checkout or the data directory (`chmod 700` on a parent). The programs are then
 * copied to /var/cache and the files are kept under /var/lib, with a symbolic link in the data directory.
 */
import { execFile } from 'node:child_process';
import { chmod, chown, cp, lstat, mkdir, mkdtemp, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Account } from './system-user.js';
import { type Binaries, program } from './binaries.js';

const run = promisify(execFile);

const CACHE = '/var/cache/data-platform-service';
const STATE = '/var/lib/data-platform-service';

/** True if the account may enter (a folder) or execute (a file) `path`. */
async function mayEnter(account: Account, path: string): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', 'test -x "$1"', 'sh', path], { ...account, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the folder with programs that `account` can run: `binaries.root` or a copy of it. */
export async function reachablePrograms(binaries: Binaries, account: Account | null): Promise<string> {
  if (!account || (await mayEnter(account, program(binaries.root, 'postgres')))) return binaries.root;
  const copy = join(CACHE, `postgresql-${binaries.version}-${process.arch}`);
  if (await mayEnter(account, program(copy, 'postgres'))) return copy;
  try {
    await mkdir(CACHE, { recursive: true, mode: 0o755 });
    const draft = await mkdtemp(`${copy}.`);
    await cp(binaries.root, draft, { recursive: true, verbatimSymlinks: true });
    await chmod(draft, 0o755);
    // The rename is atomic. If another service copies at the same time, the first one wins.
    await rename(draft, copy).catch(() => rm(draft, { recursive: true, force: true }));
    if (await mayEnter(account, program(copy, 'postgres'))) return copy;
  } catch (cause) {
    throw unreachable('the PostgreSQL programs', binaries.root, CACHE, cause);
  }
  throw unreachable('the PostgreSQL programs', binaries.root, CACHE, undefined);
}

function unreachable(what: string, path: string, other: string, cause: unknown): OperatorError {
  return new OperatorError(
    `PostgreSQL refuses to run as root, and its user can reach ${what} neither in ${path} nor in ${other}: ` +
      'start the service as an ordinary user, move the checkout to a directory that every user may enter, or set DATABASE_URL.',
    { cause },
  );
}

/**
 * Returns the folder for new server files: `link` itself, or a new folder that `account` can access and `link` will
 * point to. Existing files are never moved.
 */
export async function reachableHome(link: string, account: Account | null): Promise<string> {
  const parent = join(link, '..');
  if (!account || (await mayEnter(account, parent))) return link;
  try {
    await mkdir(STATE, { recursive: true, mode: 0o755 });
    const home = await mkdtemp(join(STATE, `${basename(parent)}-`));
    await chown(home, account.uid, account.gid);
    if (await mayEnter(account, home)) return join(home, 'postgres');
  } catch (cause) {
    throw unreachable('the data directory', parent, STATE, cause);
  }
  throw unreachable('the data directory', parent, STATE, undefined);
}

/** Returns the existing server folder behind `link`, or null. */
export async function existingHome(link: string): Promise<string | null> {
  const entry = await lstat(link).catch(() => null);
  if (!entry) return null;
  if (!entry.isSymbolicLink()) return link;
  const home = await readlink(link);
  if (await stat(home).catch(() => null)) return home;
  throw new OperatorError(
    `The data of the embedded PostgreSQL was kept in ${home}, to which ${link} points, and isn't there: ` +
      'bring it back, or remove the data directory to start afresh.',
  );
}

/** Moves the finished `draft` to `home` atomically. */
export async function moveIntoPlace(draft: string, home: string, link: string): Promise<void> {
  await rename(draft, home);
  if (home !== link) await symlink(home, link);
}
