/** What is offered to whom. The service decides; a test holds what is hidden here to what it refuses. */
import type { Role } from './types.js';

export const MAY = {
  /** Edit a draft, review it, propose it, and go on with one's own change requests. */
  propose: ['admin', 'author'],
  /** Change requests, and the schema as it was. */
  readRequests: ['admin', 'auditor', 'author'],
  /** Apply; approve and reject what others propose. */
  carryOut: ['admin'],
  /** Who did what, and when. */
  readHistory: ['admin', 'auditor'],
  /** The database, drift, the trash, the policy, how the service is. */
  readOperations: ['admin', 'auditor'],
  /** Users, adopting, repairing. */
  administer: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

export type Ability = keyof typeof MAY;

/** Decides what is shown, and nothing else: the service refuses by itself. */
export const may = (role: Role, ability: Ability): boolean => (MAY[ability] as readonly Role[]).includes(role);
