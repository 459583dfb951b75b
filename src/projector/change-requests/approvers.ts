/** Checks which approvers may still approve. */
import { isUuid } from '../../kernel/uuid.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';

/** The users among the ids who are active admins now. */
export async function activeAdmins(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  // Actors without an account have no UUID and cannot approve.
  const asked = ids.filter(isUuid);
  if (asked.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM ${own.users} WHERE id = ANY ($1::uuid[]) AND role = 'admin' AND status = 'active'`,
    [asked],
  );
  return new Set(rows.map(({ id }) => id));
}
