/** Who of those that approved may still approve. */
import { isUuid } from '../../kernel/uuid.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';

/** Those of the ids that are users who are active and admins now. */
export async function activeAdmins(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  // Who acts without an account has no uuid, and can't approve.
  const asked = ids.filter(isUuid);
  if (asked.length === 0) return new Set();
  const { rows } = await db.query<{ id: string }>(
    `SELECT id FROM ${own.users} WHERE id = ANY ($1::uuid[]) AND role = 'admin' AND status = 'active'`,
    [asked],
  );
  return new Set(rows.map(({ id }) => id));
}
