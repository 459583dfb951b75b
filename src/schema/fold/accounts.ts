/** Folds accounts, the users with their API tokens and identities, from events. Pure. */
import {
  type AccountAccess,
  type AccountEventData,
  type IdentityAccess,
  type TokenAccess,
  USER,
} from '../model/service-events.js';
import type { LogEvent } from '../model/events.js';

interface Account extends AccountAccess {
  /** Keyed by token id. */
  tokens: Map<string, TokenAccess>;
  /** Identities of an OpenID provider, by id. */
  identities: Map<string, IdentityAccess>;
}

/** Keyed by user id. */
export type Accounts = Map<string, Account>;

export const isActiveAdmin = (account: Account | undefined): boolean =>
  account?.role === 'admin' && account.status === 'active';

/** Applies an event to `accounts` in place. Ignores other events, and events about users that do not exist. */
export function foldAccount(accounts: Accounts, event: LogEvent): void {
  const { subject } = event;
  if (subject?.kind !== USER) return;
  const account = accounts.get(subject.id);
  if (event.type === 'account.created') accounts.set(subject.id, newAccount(event.data));
  else if (event.type === 'account.deleted') accounts.delete(subject.id);
  else if (account !== undefined) changeAccount(account, event);
}

export const newAccount = (access: AccountAccess): Account => ({
  ...access,
  tokens: new Map(),
  identities: new Map(),
});

function changeAccount(account: Account, event: LogEvent): void {
  if (event.type === 'account.updated') {
    const { role, status, password_set_by: setBy } = event.data;
    Object.assign(account, {
      ...(role !== undefined && { role }),
      ...(status !== undefined && { status }),
      ...(setBy !== undefined && { password_set_by: setBy }),
    });
  } else if (event.type === 'token.created') {
    const { token, ...access } = event.data;
    account.tokens.set(token, access);
  } else if (event.type === 'token.revoked') account.tokens.delete(event.data.token);
  else if (event.type === 'identity.linked') {
    const { identity, ...access } = event.data;
    account.identities.set(identity, access);
  } else if (event.type === 'identity.unlinked') account.identities.delete(event.data.identity);
}

export const accountEvent = <T extends keyof AccountEventData>(
  type: T,
  user: string,
  data: AccountEventData[T],
): LogEvent =>
  ({ type, version: 1, collection: null, field: null, subject: { kind: USER, id: user }, data }) as LogEvent;
