/**
 * Who is signed in. The access token is in this tab's memory alone; the refresh token is in a cookie that no script sees.
 * A token that was given by hand is in memory too: it ends with the page.
 */
import { RefusedError } from './errors.js';
import { send } from './send.js';
import type { Grant, User } from './types.js';

export type Session =
  | { status: 'starting' }
  | { status: 'out' }
  /** `expired`: what is on the screen stays, and what was asked waits until the same user is back. */
  | { status: 'in'; user: User; by: 'password' | 'token' }
  | { status: 'expired'; user: User; by: 'password' | 'token' };

interface Access {
  token: string;
  /** Milliseconds since 1970. */
  until: number;
}

/** Says that the browser may have the cookie; without it a first visit would be an error in the console. */
const HINT = 'dps.session';
/** A token is renewed this long before it ends. */
const AHEAD = 30_000;
const LOCK = 'dps-session';

let session: Session = { status: 'starting' };
let access: Access | null = null;
/** What is asked within a session ends with it. */
let life = new AbortController();
let waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
const listeners = new Set<() => void>();
/** What forgets what belongs to a user. */
const forgetting = new Set<() => void>();
const tabs = new BroadcastChannel(LOCK);

/** The same object until something changes. */
export const currentSession = (): Session => session;

/** Aborts when the user signs out, here or in another tab; who signs in then has another one. */
export const sessionSignal = (): AbortSignal => life.signal;

/**
 * @param listener called after every change, with nothing
 * @returns what ends it
 */
export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Of the user who is signed in, or whose session has expired; empty: nobody is. */
export const currentUserId = (): string => ('user' in session ? session.user.id : '');

/** `forget` is called whenever another user is here, or none: before anything is drawn for them. */
export const whenUserChanges = (forget: () => void): void => void forgetting.add(forget);

function become(next: Session): void {
  const before = currentUserId();
  session = next;
  if (before !== currentUserId()) for (const forgetTheirs of forgetting) forgetTheirs();
  for (const listener of listeners) listener();
}

tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (data !== 'signed-out' || session.status === 'out' || !('by' in session) || session.by === 'token') return;
  forget();
};

function forget(): void {
  access = null;
  life.abort();
  life = new AbortController();
  for (const { reject } of waiting) reject(new Error('signed out'));
  waiting = [];
  become({ status: 'out' });
}

/** Goes on with the session of the cookie, if there is one. */
export async function resume(): Promise<void> {
  if (localStorage.getItem(HINT) === null) return become({ status: 'out' });
  try {
    await renew();
    become({ status: 'in', user: await readUser(), by: 'password' });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    localStorage.removeItem(HINT);
    become({ status: 'out' });
  }
}

/** The end of the last session, which takes the cookie away: also that of a session that began meanwhile. */
let leaving: Promise<unknown> = Promise.resolve();
/** Milliseconds that its answer is waited for. */
const LEAVING = 5_000;

/**
 * Also goes on with a session that has expired: what waits for it is asked again.
 * @throws RefusedError for a wrong password
 */
export async function signIn(email: string, password: string): Promise<void> {
  await leaving;
  const grant = await send<{ data: Grant }>('/auth/login', {
    method: 'POST',
    json: { email, password, mode: 'cookie' },
  });
  localStorage.setItem(HINT, '1');
  keep(grant.data);
  await entered('password');
}

/** Ends with the page: no cookie is set. @throws RefusedError for a token that isn't valid, which changes nothing */
export async function signInWithToken(token: string): Promise<void> {
  const before = access;
  access = { token, until: Infinity };
  try {
    await entered('token');
  } catch (error) {
    access = before;
    throw error;
  }
}

/**
 * Here and in all tabs at once; a token by hand only here. Resolves when the service has ended it too, or 5 s later.
 * Throws nothing.
 */
export async function signOut(): Promise<void> {
  const hasCookie = 'by' in session && session.by === 'password';
  // First here and in the other tabs, so that none of them asks within a session that is over.
  if (hasCookie) {
    localStorage.removeItem(HINT);
    tabs.postMessage('signed-out');
  }
  forget();
  // The session ends here whatever the service says; one that can't be reached ends it by itself in time.
  if (!hasCookie) return;
  const ended = send('/auth/logout', { method: 'POST', json: {} }).catch(() => undefined);
  leaving = Promise.race([ended, new Promise((resolve) => setTimeout(resolve, LEAVING))]);
  await leaving;
}

async function entered(by: 'password' | 'token'): Promise<void> {
  const user = await readUser();
  const isAnother = !['', user.id].includes(currentUserId());
  become({ status: 'in', user, by });
  const held = waiting;
  waiting = [];
  for (const { resolve, reject } of held) {
    if (isAnother) reject(new Error('somebody else signed in'));
    else resolve();
  }
}

function keep({ access_token, expires }: Grant): void {
  access = { token: access_token, until: Date.now() + expires };
}

const readUser = async (): Promise<User> =>
  (await send<{ data: User }>('/users/me', { headers: { Authorization: `Bearer ${access?.token ?? ''}` } })).data;

/** Tabs take turns, so that each finds the cookie that the one before was given. */
const inTurn = (work: () => Promise<void>): Promise<void> =>
  'locks' in navigator ? navigator.locks.request(LOCK, work) : work();

const ANOTHER = new RefusedError(
  401,
  [{ message: 'Somebody else signed in.', extensions: { code: 'UNAUTHENTICATED' } }],
  null,
);

let renewing: Promise<void> | null = null;

function renew(): Promise<void> {
  renewing ??= inTurn(async () => {
    const { data: grant } = await send<{ data: Grant }>('/auth/refresh', { method: 'POST', json: {} });
    // The cookie is that of who signed in last, in whichever tab.
    if (!['', partsOf(grant.access_token).sub].includes(currentUserId())) throw ANOTHER;
    keep(grant);
  }).finally(() => {
    renewing = null;
  });
  return renewing;
}

/** The token to send now. Renews it in time; waits for the user where that fails. */
export async function accessToken(): Promise<string> {
  if (session.status === 'out') throw new Error('signed out');
  if (access !== null && access.until - AHEAD < Date.now()) await renewOrWait();
  return access?.token ?? '';
}

/** After a 401: resolves when asking again is worth it. */
export async function renewOrWait(): Promise<void> {
  if ('by' in session && session.by === 'password' && session.status === 'in') {
    try {
      return await renew();
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
    }
  }
  if (!('user' in session)) throw new Error('signed out');
  become({ ...session, status: 'expired' });
  await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
}

/** Of the session that this page has, as its access token says it; null where a token was given by hand. */
export const ownSessionId = (): string | null => partsOf(access?.token ?? '').sid ?? null;

/** What an access token says; nothing of one that was given by hand. */
function partsOf(token: string): { sub?: string; sid?: string } {
  const [, payload = ''] = token.split('.');
  try {
    const { sub, sid } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Record<string, unknown>;
    return { ...(typeof sub === 'string' && { sub }), ...(typeof sid === 'string' && { sid }) };
  } catch {
    return {};
  }
}
