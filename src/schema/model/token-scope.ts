/** Actions that the scope of an API token can allow. docs/security.md lists the requests of each. */
export const TOKEN_ACTIONS = ['read', 'propose', 'apply', 'history', 'operate'] as const;
export type TokenAction = (typeof TOKEN_ACTIONS)[number];

/**
 * The limits of an API token. An absent list does not limit the token. An interface would not be assignable to Json, so
 * this is a type.
 */
export type TokenScope = {
  /** The role of the user when the token was created. If the user later gets a higher role, the token does not. */
  role: string;
  actions?: string[];
  /** Names of collections, or patterns as in the policy: `shop_*`. */
  collections?: string[];
  /** Addresses and networks from which the token is accepted: `10.0.0.0/8`. */
  networks?: string[];
};

/** Returns the role that both roles allow. Used for a token whose user got another role after its creation. */
export function commonRole<R extends string>(one: R, other: R): R | 'reader' {
  if (one === other || other === 'admin') return one;
  return one === 'admin' ? other : 'reader';
}

/**
 * A rule by which ID tokens of an OpenID issuer are exchanged for API tokens of a user. The newest event
 * `trust.updated` contains all rules. An interface would not be assignable to Json, so this is a type.
 */
export type TrustRule = {
  name: string;
  /** The id of the user for whom the rule issues API tokens. */
  user: string;
  /** The id of the user who set the rule. */
  set_by: string;
  /** Must equal the claim `iss` exactly. */
  issuer: string;
  audience: string;
  /** Required values by claim, or patterns as in the policy. Always contains `sub`. */
  claims: Record<string, string>;
  scope: TokenScope;
  /** Lifetime in minutes of the API tokens that the rule issues. */
  minutes: number;
};

/** The subject of events about trust rules. There is one list of rules. */
export const TRUST_SUBJECT = { kind: 'trust', id: 'rules' } as const;

/** The credential with which the actor was signed in. */
export interface UsedCredential {
  credential: 'password' | 'token' | 'identity';
  /** The id of the API token or of the identity. */
  token?: string;
}

/** The credential with which a plan was proposed. */
export interface ProposingCredential extends UsedCredential {
  /** The id of another user who issued the credential. Absent if there is none. */
  issued_by?: string;
}
