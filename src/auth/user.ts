/** A user in API format, and its row. */
import type { Role, UserStatus } from './caller.js';

export interface User {
  id: string;
  email: string;
  /** The e-mail address if no name was given. */
  name: string;
  role: Role;
  status: UserStatus;
  /** ISO 8601, UTC. */
  created_at: string;
}

export interface UserRow extends Omit<User, 'created_at'> {
  created_at: Date;
}

export const USER_COLUMNS = 'id, email, name, role, status, created_at';

/** The time as ISO 8601, UTC. */
export function toUser(row: UserRow): User {
  const { id, email, name, role, status, created_at } = row;
  return { id, email, name, role, status, created_at: created_at.toISOString() };
}
