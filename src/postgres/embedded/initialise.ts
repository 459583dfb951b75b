/** Creates the server's files once: `initdb` in a draft folder, renamed when complete. */
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { randomBytes } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.js';
import type { Account } from './system-user.js';
import { program } from './binaries.js';
import { moveIntoPlace } from './place.js';

const run = promisify(execFile);

/** The owner of everything in the embedded server. */
export const SUPERUSER = 'postgres';

const DRAFT = '.draft-';

export interface NewCluster {
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

/** Text sorts by code point on every machine, and `lower()` and similar functions support all of Unicode. */
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
    throw new OperatorError(`The embedded PostgreSQL could not be set up in ${home}: ${reason(cause)}.`, { cause });
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

/** The last line of initdb's output contains the reason. */
function reason(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const lines = (stderr ?? '').split('\n').filter((line) => line.includes('error:') || line.includes('FATAL:'));
  return (lines.at(-1) ?? message).replace(/\.$/, '');
}
