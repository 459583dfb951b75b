/**
 * What events about users and their API tokens carry. The user is their subject: `{ kind: 'user', id: uuid }`. They hold
 * ids, roles and times, and never names, e-mail addresses or secrets, because the log keeps everything.
 */

/** Of the subjects of these events. */
export const USER = 'user';

/** Payload per type, newest version. */
export interface AccountEventData {
  'account.created': AccountAccess;
  /** Only the members that changed. The e-mail address and the name are not shown. */
  'account.updated': Partial<AccountAccess> & {
    email?: 'changed';
    name?: 'changed';
    password?: 'set' | 'removed';
  };
  /** With all API tokens and sessions of the user. */
  'account.deleted': Record<string, never>;
  'token.created': { token: string } & TokenAccess;
  'token.revoked': { token: string };
}

/** What decides what a user may do. */
export interface AccountAccess {
  role: string;
  status: string;
  /** The other user who set the password; null: no other user did. */
  password_set_by: string | null;
}

/** What decides how long an API token is accepted, and for what. */
export interface TokenAccess {
  /** The other user who issued it; null: no other user did. */
  issued_by: string | null;
  /** ISO 8601, UTC; null: never. */
  expires_at: string | null;
}
