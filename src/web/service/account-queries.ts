/** Users and their tokens. For admins. */
import { queryOptions } from '@tanstack/react-query';
import { pagedQuery } from './paged.js';
import { request } from './request.js';
import { currentSession, signIn } from './session.js';
import type { LiveSession, NewToken, Role, Token, User } from './types.js';

/** Everything that a change of an account makes old begins with this. */
export const ACCOUNTS = 'accounts';

const LISTED = 100;

/** By e-mail address. */
export const usersQuery = () => pagedQuery<User>([ACCOUNTS, 'users'], '/users', LISTED);

/** All of the user's, without what they are sent as. @param user id */
export const tokensQuery = (user: string) =>
  queryOptions({
    queryKey: [ACCOUNTS, 'tokens', user],
    queryFn: async ({ signal }) => (await request<{ data: Token[] }>(`/users/${user}/tokens`, { signal })).data,
  });

export interface UserInput {
  email: string;
  name: string;
  role: Role;
  status: User['status'];
  /** Empty: as it was; of a new user: none, who then comes in by tokens alone. */
  password: string;
}

const bodyOf = ({ password, name, ...given }: UserInput) => ({
  ...given,
  ...(name !== '' && { name }),
  ...(password !== '' && { password }),
});

/** @throws RefusedError at the member that isn't taken: `email`, `password` … */
export const createUser = (user: UserInput) => request('/users', { method: 'POST', json: bodyOf(user) });

/** An empty name or password stays as it was. @throws RefusedError as `createUser`, and where no admin would be left */
export async function changeUser(id: string, user: UserInput): Promise<void> {
  await request(`/users/${id}`, { method: 'PATCH', json: bodyOf(user) });
  if (user.password !== '' && user.status === 'active') await signInAgain({ id, email: user.email }, user.password);
}

/** Sets the password of the signed-in user. @throws RefusedError at `password` */
export async function setOwnPassword(user: Pick<User, 'id' | 'email'>, password: string): Promise<void> {
  await request(`/users/${user.id}`, { method: 'PATCH', json: { password } });
  await signInAgain(user, password);
}

/** A new password ends all sessions of the user. If it is the signed-in user, this tab begins another session. */
async function signInAgain({ id, email }: Pick<User, 'id' | 'email'>, password: string): Promise<void> {
  const session = currentSession();
  if ('user' in session && session.user.id === id && session.by === 'password') await signIn(email, password);
}

/** With tokens and sessions. What the user did stays in the log. @throws RefusedError where no admin would be left */
export const removeUser = (id: string) => request(`/users/${id}`, { method: 'DELETE' });

/** @param given.expires_at ISO 8601; null: never. @returns it, with the only sight of the token itself */
export const createToken = async (user: string, given: { name: string; expires_at: string | null }) =>
  (await request<{ data: NewToken }>(`/users/${user}/tokens`, { method: 'POST', json: given })).data;

/** It is refused from then on. @param id of the token */
export const removeToken = (user: string, id: string) => request(`/users/${user}/tokens/${id}`, { method: 'DELETE' });

/** Those used last first. */
export const sessionsQuery = () => pagedQuery<LiveSession>([ACCOUNTS, 'sessions'], '/sessions', LISTED);

/** Of any user, also the one that asks. */
export const endSession = (id: string) => request(`/sessions/${id}`, { method: 'DELETE' });

/** All of one user's. @param user id */
export const endSessions = (user: string) => request(`/users/${user}/sessions`, { method: 'DELETE' });
