/**
 * Payloads of events about users and their API tokens. The subject is the user: `{ kind: 'user', id: uuid }`. They
 * contain ids, roles and times, and never names, e-mail addresses or secrets, because the log keeps everything.
 */

export const USER = 'user';

/** Payload per type, newest version. */
export interface AccountEventData {
  'account.created': AccountAccess;
  /** Contains only changed members, and neither the e-mail address nor the name. */
  'account.updated': Partial<AccountAccess> & {
    email?: 'changed';
    name?: 'changed';
    password?: 'set' | 'removed';
  };
  /** Deletes all API tokens and sessions of the user. */
  'account.deleted': Record<string, never>;
  'token.created': { token: string } & TokenAccess;
  'token.revoked': { token: string };
}

/** The properties that decide what a user may do. */
export interface AccountAccess {
  role: string;
  status: string;
  /** The other user who set the password. Null if no other user did. */
  password_set_by: string | null;
}

/** The properties that decide how long an API token is accepted, and for what. */
export interface TokenAccess {
  /** The other user who issued it. Null if no other user did. */
  issued_by: string | null;
  /** ISO 8601, UTC. Null if it never expires. */
  expires_at: string | null;
}
