/** Who makes a request, and what the roles allow. */

export const ROLES = ['admin', 'auditor', 'reader'] as const;
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
}

/** What a route asks of its caller, from least to most. */
export type Access = 'anyone' | 'reader' | 'auditor' | 'admin';

const RANK: Record<Access, number> = { anyone: 0, reader: 1, auditor: 2, admin: 3 };

/** Whether `role` is enough for `access`: each role may do what the ones below it may. */
export function allows(role: Role, access: Access): boolean {
  return RANK[role] >= RANK[access];
}
