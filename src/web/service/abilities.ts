/** Features by role. The service enforces permissions; a test keeps both consistent. */
import type { Role } from './types.js';

export const MAY = {
  /** Edit, review and propose drafts, and manage one's own change requests. */
  propose: ['admin', 'author'],
  /** Read change requests and past schemas. */
  readRequests: ['admin', 'auditor', 'author'],
  /** Apply, approve and reject. */
  carryOut: ['admin'],
  /** Read actors and times. */
  readHistory: ['admin', 'auditor'],
  /** Read database facts, drift, the trash, the policy and the service status. */
  readOperations: ['admin', 'auditor'],
  /** Manage users, adopt, repair. */
  administer: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

export type Ability = keyof typeof MAY;

/** Controls visibility only; the service enforces permissions. */
export const may = (role: Role, ability: Ability): boolean => (MAY[ability] as readonly Role[]).includes(role);
