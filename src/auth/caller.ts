/** Who makes a request, and what the roles allow. */

/** `author`: proposes changes, and makes none. */
export const ROLES = ['admin', 'auditor', 'author', 'reader'] as const;
export type Role = (typeof ROLES)[number];

export const USER_STATUSES = ['active', 'suspended'] as const;
export type UserStatus = (typeof USER_STATUSES)[number];

/** A user whose token was accepted. */
export interface Caller {
  /** uuid of the user. */
  readonly id: string;
  /** The actor's name in the log. */
  readonly name: string;
  readonly role: Role;
  readonly credential: Credential;
}

/** The credential that a caller signed in with. */
export interface Credential {
  readonly kind: 'password' | 'token';
  /** The id of the other user who issued the token or set the password; null: no other user did. */
  readonly issuedBy: string | null;
}

/**
 * Who issues a credential that the caller creates for a user. A caller whose own credential was issued by somebody else
 * passes that on; nobody gets rid of an issuer by creating another token with the issued one.
 * @returns null: the user, or whoever runs the service
 */
export function issuerOf({ id, credential }: Caller, user: string): string | null {
  const issuer = credential.issuedBy ?? id;
  return issuer === user.toLowerCase() ? null : issuer;
}

/** What a route asks of its caller, in words for people. */
export type Access = 'anyone' | 'reader' | 'author' | 'author or auditor' | 'auditor' | 'admin';

/** Authors and auditors are both more than readers, and neither is more than the other. */
const ALLOWED: Readonly<Record<Access, ReadonlySet<Role>>> = {
  anyone: new Set(ROLES),
  reader: new Set(ROLES),
  author: new Set(['admin', 'author']),
  'author or auditor': new Set(['admin', 'auditor', 'author']),
  auditor: new Set(['admin', 'auditor']),
  admin: new Set(['admin']),
};

/** Whether `role` is enough for `access`. */
export const allows = (role: Role, access: Access): boolean => ALLOWED[access].has(role);
