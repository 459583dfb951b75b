/** Makes the server's files once: `initdb` in a draft folder, renamed when complete. */
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
  /** Where the finished files go. */
  home: string;
  /** The name in the data directory that leads to `home`; usually `home` itself. */
  link: string;
  password: string;
  /** false: a test server, whose files may be lost in a power cut. */
  durable: boolean;
}

/** Text sorts by code point on every machine; `lower()` and the like know all of Unicode. */
const LOCALE = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];

/**
 * Leaves nothing half done in `home`: it is there whole, or as it was before. Drafts of earlier tries go.
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

/** What a start that was killed has left. The data directory is locked, so no other process is at work on one. */
async function removeDrafts(home: string): Promise<void> {
  const names = await readdir(dirname(home));
  const drafts = names.filter((name) => name.startsWith(basename(home) + DRAFT));
  for (const name of drafts) await rm(join(dirname(home), name), { recursive: true, force: true, maxRetries: 10 });
}

/** The last line that initdb wrote is the one that says why. */
function reason(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const lines = (stderr ?? '').split('\n').filter((line) => line.includes('error:') || line.includes('FATAL:'));
  return (lines.at(-1) ?? message).replace(/\.$/, '');
}
