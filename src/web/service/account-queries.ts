/** Users and their tokens, for admins, and invitations by link. */
import { queryOptions } from '@tanstack/react-query';
import { pagedQuery, request } from './request.js';
import { send } from './send.js';
import { currentSession, signIn } from './session.js';
import type { LiveSession, NewScope, Role, User } from './types.js';

/** The key prefix of queries that an account change invalidates. */
export const ACCOUNTS = 'accounts';

const LISTED = 100;

export const usersQuery = () => pagedQuery<User>([ACCOUNTS, 'users'], 'listUsers', LISTED);

/**
 * All tokens of a user without their values.
 * @param user id
 */
export const tokensQuery = (user: string) =>
  queryOptions({
    queryKey: [ACCOUNTS, 'tokens', user],
    queryFn: async ({ signal }) => (await request('listTokens', { params: { id: user }, signal })).data,
  });

/**
 * The OpenID provider identities that can sign in as a user.
 * @param user id
 */
export const identitiesQuery = (user: string) =>
  queryOptions({
    queryKey: [ACCOUNTS, 'identities', user],
    queryFn: async ({ signal }) => (await request('listIdentities', { params: { id: user }, signal })).data,
  });

/** Unlinks an identity and ends its sessions. */
export const unlinkIdentity = (user: string, id: string) =>
  request('unlinkIdentity', { params: { id: user, identity: id } });

export interface UserInput {
  email: string;
  name: string;
  role: Role;
  status: User['status'];
  /** The new password. Empty leaves it unchanged. A new user then has no password, and only tokens work. */
  password: string;
  /** True if the password is that of an invitation link, which expires. */
  invitation?: boolean;
}

const bodyOf = ({ password, name, ...input }: UserInput) => ({
  ...input,
  ...(name !== '' && { name }),
  ...(password !== '' && { password }),
});

/** @throws ServiceError at the invalid member: `email`, `password` … */
export const createUser = async (user: UserInput) => (await request('createUser', { body: bodyOf(user) })).data;

/**
 * Changes a user. An empty name or password stays unchanged.
 * @throws ServiceError like `createUser`, and if no admin would remain
 */
export async function changeUser(id: string, user: UserInput): Promise<User> {
  const { data } = await request('updateUser', { params: { id }, body: bodyOf(user) });
  if (user.password !== '' && user.status === 'active') await signInAgain({ id, email: user.email }, user.password);
  return data;
}

/**
 * Changes the password of the signed-in user.
 * @throws ServiceError at `password` or `current_password`
 */
export async function setOwnPassword(
  user: Pick<User, 'id' | 'email'>,
  passwords: { password: string; current_password: string },
): Promise<void> {
  await request('changeOwnPassword', { body: passwords });
  await signInAgain(user, passwords.password);
}

/** A new password ends all sessions of the user. If it is the signed-in user, this tab begins another session. */
async function signInAgain({ id, email }: Pick<User, 'id' | 'email'>, password: string): Promise<void> {
  const session = currentSession();
  if ('user' in session && session.user.id === id && session.by === 'cookie') await signIn(email, password);
}

/**
 * Deletes a user with tokens and sessions. The log keeps the user's actions.
 * @throws ServiceError if no admin would remain
 */
export const removeUser = (id: string) => request('deleteUser', { params: { id } });

/**
 * Deletes a user and permanently erases the personal data of the user in the log.
 * @throws ServiceError if no admin would remain
 */
export const eraseUser = (id: string) => request('deleteUser', { params: { id }, query: { erase: true } });

/**
 * @param given.expires_at ISO 8601. Null if the token never expires
 * @returns the token with its value, which is shown only once
 */
export const createToken = async (
  user: string,
  token: { name: string; expires_at: string | null; scope: NewScope | null },
) => (await request('createToken', { params: { id: user }, body: token })).data;

/**
 * Revokes a token immediately.
 * @param id the id of the token
 */
export const removeToken = (user: string, id: string) => request('revokeToken', { params: { id: user, token: id } });

export const sessionsQuery = () => pagedQuery<LiveSession>([ACCOUNTS, 'sessions'], 'listSessions', LISTED);

/** Ends a session of any user, even the current one. */
export const endSession = (id: string) => request('endSession', { params: { id } });

export const endSessions = (user: string) => request('endSessions', { params: { id: user } });

/* Invitations by link. The link contains a password that the invited user must replace. It is in the fragment of the
   address, which browsers do not send to the service. */

export interface Invitation {
  email: string;
  password: string;
}

const MEMBER = '#invitation=';

export const invitationLink = ({ email, password }: Invitation): string =>
  `${location.origin}/app/${MEMBER}${encodeURIComponent(JSON.stringify([email, password]))}`;

/** Reads the invitation and removes it from the address. Null without a complete invitation. */
export function takeInvitation(): Invitation | null {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(MEMBER)) return null;
  history.replaceState(history.state, '', pathname + search);
  try {
    const [email, password] = JSON.parse(decodeURIComponent(hash.slice(MEMBER.length))) as unknown[];
    return typeof email === 'string' && typeof password === 'string' ? { email, password } : null;
  } catch {
    return null;
  }
}

/**
 * Signs the invited user in and replaces the password of the link. Afterwards the link is invalid.
 * @throws ServiceError with status 401 if the link is invalid, or at `password`
 */
export async function acceptInvitation({ email, password: current }: Invitation, password: string): Promise<void> {
  await signIn(email, current);
  const session = currentSession();
  if ('user' in session) await setOwnPassword(session.user, { password, current_password: current });
}

/** How users can sign in. */
export const readProviders = async () => (await send('listProviders', {})).data;
