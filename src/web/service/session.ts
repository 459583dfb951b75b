/*
 * The session. The access token exists only in the memory of this tab; the refresh token is in a cookie hidden from
 * scripts. A token entered by hand is also in memory and ends with the page.
 */
import { useSyncExternalStore } from 'react';
import { ServiceError, send } from './send.js';
import { type Grant, type SignInOutcome, type User, type Capability, hasAbility, type Role } from './types.js';

export type Session =
  | { status: 'starting' }
  | { status: 'out' }
  /** `expired`: the page stays, and requests wait until the same user has signed in again. */
  | { status: 'in'; user: User; by: 'cookie' | 'token' }
  | { status: 'expired'; user: User; by: 'cookie' | 'token' };

interface Access {
  token: string;
  /** Milliseconds since 1970. */
  until: number;
}

/** Records that the cookie may exist; otherwise every first visit would log an error in the console. */
const HINT = 'dps.session';
/** Milliseconds before the expiry of a token at which it is renewed. */
const AHEAD = 30_000;
const LOCK = 'dps-session';

let session: Session = { status: 'starting' };
let access: Access | null = null;
/** Aborts the requests of the session when it ends. */
let life = new AbortController();
let waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
const listeners = new Set<() => void>();
/** Functions that delete the data of a user. */
const forgetting = new Set<() => void>();
const tabs = new BroadcastChannel(LOCK);

/** The same object until something changes. */
export const currentSession = (): Session => session;

/** Aborts on logout in any tab; the next session has a new signal. */
export const sessionSignal = (): AbortSignal => life.signal;

/**
 * @param listener called after every change without arguments
 * @returns a function that unsubscribes
 */
export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the id of the user who is signed in or whose session has expired. Empty without a session. */
export const currentUserId = (): string => ('user' in session ? session.user.id : '');

/** `forget` is called on every change to the user, before anything renders for the next one. */
export const onUserChange = (forget: () => void): void => void forgetting.add(forget);

function setSession(next: Session): void {
  const before = currentUserId();
  session = next;
  if (before !== currentUserId()) for (const forgetTheirs of forgetting) forgetTheirs();
  for (const listener of listeners) listener();
}

tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
  if (data === 'signed-in') return void continueSession();
  if (data !== 'signed-out' || session.status === 'out' || !('by' in session) || session.by === 'token') return;
  clearAccess();
};

function clearAccess(): void {
  access = null;
  life.abort();
  life = new AbortController();
  for (const { reject } of waiting) reject(new Error('signed out'));
  waiting = [];
  setSession({ status: 'out' });
}

/** The result of a sign-in with the OpenID provider; null if there was none since the page was loaded. */
let outcome: SignInOutcome | null = null;
export const signInOutcome = (): SignInOutcome | null => outcome;

/** Reads the outcome from `?sign_in=…`, with which the provider's redirect ends. A reload must not show it again. */
function takeOutcome(): void {
  const url = new URL(location.href);
  const result = url.searchParams.get('sign_in') as SignInOutcome | null;
  if (result === null) return;
  outcome = result;
  url.searchParams.delete('sign_in');
  history.replaceState(history.state, '', url);
  if (result !== 'done') return;
  localStorage.setItem(HINT, '1');
  tabs.postMessage('signed-in');
}

/** Continues after another tab has signed in while this tab waits. */
async function continueSession(): Promise<void> {
  if (session.status !== 'expired' || session.by === 'token') return;
  try {
    await renew();
    await completeSignIn('cookie');
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

/** Resumes the cookie's session, if any. */
export async function resume(): Promise<void> {
  takeOutcome();
  if (localStorage.getItem(HINT) === null) return setSession({ status: 'out' });
  try {
    await renew();
    setSession({ status: 'in', user: await readUser(), by: 'cookie' });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    localStorage.removeItem(HINT);
    setSession({ status: 'out' });
  }
}

/** The pending logout. Its response deletes the cookie, even that of a later session. */
let leaving: Promise<unknown> = Promise.resolve();
/** Milliseconds to wait for the response of a logout. */
const LEAVING = 5_000;

/**
 * Signs in. This also resumes an expired session and the requests that wait for it.
 * @param operation `linkIdentity` links the identity of this browser to the account
 * @throws ServiceError for a wrong password
 */
export async function signIn(
  email: string,
  password: string,
  operation: 'login' | 'linkIdentity' = 'login',
): Promise<void> {
  await leaving;
  const grant = await send(operation, { body: { email, password, mode: 'cookie' } });
  localStorage.setItem(HINT, '1');
  storeGrant(grant.data);
  await completeSignIn('cookie');
}

/**
 * Signs in with a token. The session ends with the page, because no cookie is set.
 * @throws ServiceError for an invalid token, which changes nothing
 */
export async function signInWithToken(token: string): Promise<void> {
  const before = access;
  access = { token, until: Infinity };
  try {
    await completeSignIn('token');
  } catch (error) {
    access = before;
    throw error;
  }
}

/**
 * Signs out in all tabs at once. A token that was entered by hand is removed only in this tab. Resolves when the
 * service has ended the session, or after 5 s. Never throws.
 */
export async function signOut(): Promise<void> {
  const hasCookie = 'by' in session && session.by === 'cookie';
  // First in all tabs, so that none sends requests in an ended session.
  if (hasCookie) {
    localStorage.removeItem(HINT);
    tabs.postMessage('signed-out');
  }
  clearAccess();
  // The session ends here in any case. On an unreachable service it expires.
  if (!hasCookie) return;
  const ended = send('logout', { body: {} }).catch(() => undefined);
  leaving = Promise.race([ended, new Promise((resolve) => setTimeout(resolve, LEAVING))]);
  await leaving;
}

async function completeSignIn(by: 'cookie' | 'token'): Promise<void> {
  const user = await readUser();
  const isAnother = !['', user.id].includes(currentUserId());
  setSession({ status: 'in', user, by });
  const held = waiting;
  waiting = [];
  for (const { resolve, reject } of held) {
    if (isAnother) reject(new Error('another user signed in'));
    else resolve();
  }
}

function storeGrant({ access_token, expires }: Grant): void {
  access = { token: access_token, until: Date.now() + expires };
}

const readUser = async (): Promise<User> => (await send('getMe', {}, access?.token)).data;

/** Runs `work` in one tab at a time, so that each tab uses the cookie that the previous one received. */
const runInTurn = (work: () => Promise<void>): Promise<void> =>
  'locks' in navigator ? navigator.locks.request(LOCK, work) : work();

const ANOTHER = new ServiceError(
  new Response(null, { status: 401 }),
  JSON.stringify({ errors: [{ message: 'Another user signed in.', extensions: { code: 'UNAUTHENTICATED' } }] }),
);

let renewing: Promise<void> | null = null;

function renew(): Promise<void> {
  renewing ??= runInTurn(async () => {
    const { data: grant } = await send('refresh', { body: {} });
    // The cookie belongs to the last login in any tab.
    if (!['', partsOf(grant.access_token).sub].includes(currentUserId())) throw ANOTHER;
    storeGrant(grant);
  }).finally(() => {
    renewing = null;
  });
  return renewing;
}

/** Returns the access token. Renews it in time, or waits for a login. */
export async function accessToken(): Promise<string> {
  if (session.status === 'out') throw new Error('signed out');
  if (access !== null && access.until - AHEAD < Date.now()) await renewOrWait();
  return access?.token ?? '';
}

/** Called after a 401. Resolves when a retry is useful. */
export async function renewOrWait(): Promise<void> {
  if ('by' in session && session.by === 'cookie' && session.status === 'in') {
    try {
      return await renew();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
  }
  if (!('user' in session)) throw new Error('signed out');
  setSession({ ...session, status: 'expired' });
  await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
}

/** The session id in the access token; null for a token entered by hand. */
export const ownSessionId = (): string | null => partsOf(access?.token ?? '').sid ?? null;

/** Returns the claims of an access token. Empty for a token that was entered by hand. */
function partsOf(token: string): { sub?: string; sid?: string } {
  const [, payload = ''] = token.split('.');
  try {
    const { sub, sid } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as Record<string, unknown>;
    return { ...(typeof sub === 'string' && { sub }), ...(typeof sid === 'string' && { sid }) };
  } catch {
    return {};
  }
}

/** Renders again on every change. */
export const useSession = (): Session => useSyncExternalStore(subscribeSession, currentSession);

/** Returns the role of the user. Without a user, the lowest role. */
export function useRole(): Role {
  const session = useSession();
  return 'user' in session ? session.user.role : 'reader';
}

/** True if the signed-in user has the ability, even with an expired session. */
export const useMay = (ability: Capability): boolean => hasAbility(useRole(), ability);

/** True if the user may update, rebase and withdraw a request. Authors may only do so with their own. */
export function useMayRevise({ author }: { author: { id: string } }): boolean {
  const session = useSession();
  if (!('user' in session)) return false;
  const { id, role } = session.user;
  return hasAbility(role, 'carryOut') || (hasAbility(role, 'propose') && author.id === id);
}
