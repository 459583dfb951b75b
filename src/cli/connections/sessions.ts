/* Stores the sessions of "dps login" by the address of the service, in a file that only its owner can read. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Grant } from '../../features/accounts/sessions.js';
import { OperatorError } from '../../kernel/problem.js';
import type { Invocation } from '../command.js';

interface StoredSession {
  access_token: string;
  /** Milliseconds since 1970. */
  expires_at: number;
  refresh_token: string;
}

type Sessions = Record<string, StoredSession>;

/** Milliseconds before the expiry of an access token at which the token is replaced. */
const AHEAD = 30_000;

/** Returns the path of the file. Undefined without a home directory. */
function fileOf({ environment }: Pick<Invocation, 'environment'>): string | undefined {
  const { XDG_CONFIG_HOME: configured, HOME: home } = environment;
  const folder = configured || (home ? join(home, '.config') : undefined);
  return folder === undefined ? undefined : join(folder, 'dps', 'sessions.json');
}

async function readSessions(file: string): Promise<Sessions> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Sessions;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new OperatorError(`The file ${file} cannot be read. Delete it, and run "dps login" again.`, { cause });
  }
}

/** Writes the file atomically, so that readers see either the old file or the new one. */
async function writeSessions(file: string, sessions: Sessions): Promise<void> {
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, `${JSON.stringify(sessions, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

/** Milliseconds after which a lock belongs to a process that was killed. */
const STALE_LOCK = 20_000;

/** Runs `work` while no other command does. A refresh token works only once, so concurrent commands must take turns. */
async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    try {
      await mkdir(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const age = Date.now() - ((await stat(lock).catch(() => null))?.mtimeMs ?? Date.now());
      if (age > STALE_LOCK) await rm(lock, { recursive: true, force: true });
      else await sleep(50);
    }
  }
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** Stores the session. Null removes it. @param base the address of the service */
export async function storeSession(invocation: Invocation, base: string, grant: Grant | null): Promise<void> {
  const file = fileOf(invocation);
  if (file === undefined) throw new OperatorError('The session cannot be stored. Set HOME or XDG_CONFIG_HOME.');
  await withLock(file, async () => replaceSession(file, base, grant));
}

async function replaceSession(file: string, base: string, grant: Grant | null): Promise<void> {
  const { [base]: _, ...others } = await readSessions(file);
  await writeSessions(file, grant === null ? others : { ...others, [base]: toStored(grant) });
}

const toStored = ({ access_token, expires, refresh_token }: Grant): StoredSession => ({
  access_token,
  expires_at: Date.now() + expires,
  refresh_token,
});

/** Returns the refresh token of the stored session. Undefined without a session. */
export async function readStoredRefreshToken(invocation: Invocation, base: string): Promise<string | undefined> {
  const file = fileOf(invocation);
  return file === undefined ? undefined : (await readSessions(file))[base]?.refresh_token;
}

/**
 * Returns the access token of the stored session, and refreshes it if it expires soon. Undefined without a session.
 * @throws OperatorError if the session has ended
 */
export async function readStoredToken(invocation: Invocation, base: string): Promise<string | undefined> {
  const file = fileOf(invocation);
  if (file === undefined) return undefined;
  const usable = async (): Promise<string | StoredSession | undefined> => {
    const { [base]: session } = await readSessions(file);
    return session !== undefined && session.expires_at - AHEAD > Date.now() ? session.access_token : session;
  };
  const first = await usable();
  if (typeof first !== 'object') return first;
  return withLock(file, async () => {
    // Another command may have refreshed the session in the meantime.
    const session = await usable();
    if (typeof session !== 'object') return session;
    const grant = await refresh(base, session.refresh_token);
    await replaceSession(file, base, grant);
    if (grant === null) throw new OperatorError('Your session has ended. Run "dps login" again, or use DPS_TOKEN.');
    return grant.access_token;
  });
}

/** Refreshes a session. Null if the session has ended. */
async function refresh(base: string, token: string): Promise<Grant | null> {
  const response = await fetch(new URL('auth/refresh', base), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refresh_token: token }),
  }).catch((cause: unknown) => {
    throw new OperatorError(`No service responds at ${new URL(base).origin}.`, { cause });
  });
  if (response.status === 401) return null;
  if (!response.ok) throw new OperatorError(`The session cannot be refreshed (status ${response.status}).`);
  return ((await response.json()) as { data: Grant }).data;
}
