/* Payloads of events about the service itself: its accounts, webhooks, environments and scheduled comparisons. */
import type { TokenScope } from './token-scope.js';

/** Newest versions. */
export interface ServiceEventData
  extends AccountEventData, WebhookEventData, EnvironmentEventData, ComparisonEventData {}

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
  'identity.linked': { identity: string } & IdentityAccess;
  'identity.unlinked': { identity: string };
}

/** The properties that decide what a user may do. */
export interface AccountAccess {
  role: string;
  status: string;
  /** The id of another user who set the password. Null if no other user did. */
  password_set_by: string | null;
}

/** The properties that decide how long an API token is accepted, and for what. */
export interface TokenAccess {
  /** The id of another user who issued the token. Null if no other user did. */
  issued_by: string | null;
  /** ISO 8601, UTC. Null if it never expires. */
  expires_at: string | null;
  /** Absent if the token may do everything that its user may do. */
  scope?: TokenScope;
  /** The name of the trust rule under which it was exchanged. After its expiry, the row is deleted without an event. */
  rule?: string;
}

/** An identity of an OpenID provider with which the user can sign in. The log does not contain its subject. */
export interface IdentityAccess {
  /** The address of the provider. */
  issuer: string;
  /** The id of another user who had set the password with which the identity was linked. Null if there is none. */
  issued_by: string | null;
}

/**
 * Payloads of events about webhooks. The subject is the webhook: `{ kind: 'webhook', id: uuid }`. They never contain
 * the secret or the whole address, because the path of an address can be a secret.
 */

export const WEBHOOK = 'webhook';

interface WebhookEventData {
  'webhook.created': WebhookSettings;
  /** Contains only changed members. `replayed_from`: the position from which events are delivered again. */
  'webhook.updated': Partial<WebhookSettings> & { secret?: 'rotated'; replayed_from?: number };
  'webhook.enabled': Record<string, never>;
  'webhook.disabled': { because: WebhookDisabledBecause };
  'webhook.deleted': Record<string, never>;
}

export interface WebhookSettings {
  name: string;
  /** The origin of the address: `https://hooks.example.com`. */
  origin: string;
  format: string;
  types: string[];
  /** Null if events are not filtered by collection. */
  collections: string[] | null;
}

/**
 * `gone`: the receiver answered 410. `failing`: it failed for three days. `copied`: the database is a copy of the one
 * in which the webhook was enabled.
 */
export type WebhookDisabledBecause = 'requested' | 'gone' | 'failing' | 'copied';

/**
 * Payloads of events about environments, which are other instances of the service. The subject is the environment:
 * `{ kind: 'environment', id: uuid }`. They never contain the token or the whole address.
 */

export const ENVIRONMENT = 'environment';

interface EnvironmentEventData {
  'environment.created': EnvironmentSettings;
  /**
   * Contains only changed members. `base`: the position at which both schemas were equal. Null if unknown. The service
   * itself updates the base without an event.
   */
  'environment.updated': Partial<EnvironmentSettings> & { token?: 'replaced'; base?: number | null };
  'environment.deleted': Record<string, never>;
}

interface EnvironmentSettings {
  name: string;
  /** The origin of the address: `https://staging.example.com`. */
  origin: string;
}

/**
 * Payloads of events about the comparisons that the setting VERIFY_EVERY schedules. The subject is
 * `{ kind: 'comparison', id: 'drift' | 'verification' }`. An event is appended only if the result changes.
 */

export const COMPARISON = 'comparison';

interface ComparisonEventData {
  'drift.found': FoundDrift;
  'drift.resolved': Record<string, never>;
  'verification.failed': FailedVerification;
  'verification.passed': Record<string, never>;
}

export interface FoundDrift {
  differences: number;
  /** Names of the tables that differ, ordered. Contains at most 100 names. */
  tables: string[];
  /** Other objects that differ, ordered. Contains at most 100. Absent if there are none. */
  objects?: { kind: string; id: string }[];
}

/** The number of faults by what is faulty, for example `hash_chain` or `metadata`. */
interface FailedVerification {
  faults: Record<string, number>;
}
