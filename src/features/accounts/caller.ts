import type { ProposingCredential, TokenScope } from '../../schema/model/token-scope.js';

/** `author` may propose changes but not apply them. */
export const ROLES = ['admin', 'auditor', 'author', 'reader'] as const;
export type Role = (typeof ROLES)[number];

export const USER_STATUSES = ['active', 'suspended'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** A user with a valid token. */
export interface Caller {
  readonly id: string;
  /** The name that the log records for the actor. With an API token of a trust rule, it names the pipeline. */
  readonly name: string;
  /** The role of the user, limited to the role in the scope of the token. */
  readonly role: Role;
  readonly credential: Credential;
}

/** The credential that the caller used. */
export interface Credential {
  readonly kind: 'password' | 'token' | 'identity';
  /** The id of another user who issued the token or set the password; null if there is none. */
  readonly issuedBy: string | null;
  /** The id of the API token, or of the identity. */
  readonly token?: string;
  /** The limits of the API token. */
  readonly scope?: TokenScope;
  /** The trust rule under which the API token was exchanged. */
  readonly rule?: string;
  /** Milliseconds since 1970. Absent if the API token never expires or no API token was used. */
  readonly expiresAt?: number;
}

/**
 * Returns the issuer of a credential that the caller creates for a user. If the caller's own credential was issued by
 * another user, that user is the issuer. Otherwise, the caller could hide the issuer by creating another token.
 * @returns null for the user or the operator
 */
export function issuerOf({ id, credential }: Caller, user: string): string | null {
  const issuer = credential.issuedBy ?? id;
  return issuer === user.toLowerCase() ? null : issuer;
}

/** The access that a route requires, for display. */
export type Access = 'anyone' | 'reader' | 'author' | 'author or auditor' | 'auditor' | 'admin';

/** The roles that each access includes. Authors and auditors both include readers, and neither includes the other. */
const ALLOWED: Readonly<Record<Access, ReadonlySet<Role>>> = {
  anyone: new Set(ROLES),
  reader: new Set(ROLES),
  author: new Set(['admin', 'author']),
  'author or auditor': new Set(['admin', 'auditor', 'author']),
  auditor: new Set(['admin', 'auditor']),
  admin: new Set(['admin']),
};

/** Checks whether `role` is sufficient for `access`. */
export const allows = (role: Role, access: Access): boolean => ALLOWED[access].has(role);

/** A pipeline may use the token of the admin who set its trust rule. That admin is the actor, and no other user. */
export const toProposingCredential = ({ id, credential: { kind, token, issuedBy } }: Caller): ProposingCredential => ({
  credential: kind,
  ...(token !== undefined && { token }),
  ...(issuedBy !== null && issuedBy !== id && { issued_by: issuedBy }),
});
