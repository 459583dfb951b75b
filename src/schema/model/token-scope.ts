/** Actions that the scope of an API token can allow. docs/security.md lists the requests of each. */
export const TOKEN_ACTIONS = ['read', 'propose', 'apply', 'history', 'operate'] as const;
export type TokenAction = (typeof TOKEN_ACTIONS)[number];

/** The limits of an API token. An absent list does not limit the token. A type, so that it is JSON. */
export type TokenScope = {
  /** The role of the user when the token was created. A higher role that the user gets later does not widen it. */
  role: string;
  actions?: string[];
  /** Names of collections, or patterns as in the policy: `shop_*`. */
  collections?: string[];
  /** Addresses and networks from which the token is accepted: `10.0.0.0/8`. */
  networks?: string[];
};

/**
 * Exchanges ID tokens of an OpenID issuer for API tokens of a user. The newest event `trust.updated` contains all rules.
 * A type, so that it is JSON.
 */
export type TrustRule = {
  name: string;
  /** The id of the user whose tokens it issues. */
  user: string;
  /** The id of the user who set it. */
  set_by: string;
  /** Compared exactly with the claim `iss`. */
  issuer: string;
  audience: string;
  /** Required values by claim, or patterns as in the policy. Always contains `sub`. */
  claims: Record<string, string>;
  scope: TokenScope;
  /** Lifetime of its API tokens. */
  minutes: number;
};

/** The subject of events about trust rules. There is one list of rules. */
export const TRUST_SUBJECT = { kind: 'trust', id: 'rules' } as const;
