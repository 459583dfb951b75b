/** The progress of the index builder: its row in service_projections. */
import type { Queryable } from '../../postgres/pool.js';
import { sql, own } from '../ddl/sql.js';
import { INDEX_PROJECTION } from '../verify/pending-indexes.js';

/** The failure that stopped the builder, stored as displayed. */
export interface IndexFailure {
  /** The event whose index cannot be built. */
  position: number;
  collection: string;
  field: string;
  sqlstate: string | null;
  message: string;
  /** The number of attempts. */
  attempts: number;
}

const LOAD = sql`
WITH first AS (
  INSERT INTO ${own.projections} (name, kind) VALUES ($1, 'after-commit') ON CONFLICT (name) DO NOTHING
)
SELECT position FROM ${own.projections} WHERE name = $1`;

/** Everything up to this position is done; 0 at first. */
export async function loadCheckpoint(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ position: number }>(LOAD, [INDEX_PROJECTION]);
  return Number(rows[0]?.position ?? 0);
}

/**
 * The log must still contain the previous and the new checkpoint, so that a truncation is not hidden. The log may
 * have been cut off since its end was read, and a position without a hash would cause another divergence.
 */
const ADVANCE = sql`
UPDATE ${own.projections} p SET position = target.position, hash = target.hash,
  status = 'running', last_error = NULL, updated_at = now()
FROM ${own.events} target
WHERE target.position = $3 AND p.name = $1 AND p.position = $2 AND (p.position = 0 OR p.hash IS NULL OR EXISTS (
  SELECT FROM ${own.events} e WHERE e.position = p.position AND e.hash = p.hash))`;

/** Compare and set: a process that lost its lock cannot overwrite the progress of another one. */
export async function advanceCheckpoint(db: Queryable, from: number, to: number): Promise<boolean> {
  if (from === to) return true;
  const { rowCount } = await db.query(ADVANCE, [INDEX_PROJECTION, from, to]);
  return rowCount === 1;
}

const FAIL = sql`
UPDATE ${own.projections} SET status = 'failed', last_error = $2, updated_at = now() WHERE name = $1`;

/** Valid until the checkpoint advances. */
export async function recordFailure(db: Queryable, failure: IndexFailure): Promise<void> {
  await db.query(FAIL, [INDEX_PROJECTION, JSON.stringify(failure)]);
}
