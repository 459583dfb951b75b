/** How far the builder of indexes has come: its row in service_projections. */
import type { Queryable } from '../../postgres/pool.js';
import { sql, own } from '../ddl/sql.js';
import { INDEX_PROJECTION } from '../verify/pending-indexes.js';

/** What stopped it. Kept as it is shown. */
export interface IndexFailure {
  /** The event whose index can't be built. */
  position: number;
  collection: string;
  field: string;
  sqlstate: string | null;
  message: string;
  /** How often it was tried. */
  attempts: number;
}

const LOAD = sql`
WITH first AS (
  INSERT INTO ${own.projections} (name, kind) VALUES ($1, 'after-commit') ON CONFLICT (name) DO NOTHING
)
SELECT position FROM ${own.projections} WHERE name = $1`;

/** The position up to which everything is done; 0 at first. */
export async function loadCheckpoint(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ position: number }>(LOAD, [INDEX_PROJECTION]);
  return Number(rows[0]?.position ?? 0);
}

/**
 * What the checkpoint has seen must still be in the log, so that nothing hides that it isn't; and so must what it goes
 * to: the log may have been cut off since its end was read, and a place without a hash would be another divergence.
 */
const ADVANCE = sql`
UPDATE ${own.projections} p SET position = target.position, hash = target.hash,
  status = 'running', last_error = NULL, updated_at = now()
FROM ${own.events} target
WHERE target.position = $3 AND p.name = $1 AND p.position = $2 AND (p.position = 0 OR p.hash IS NULL OR EXISTS (
  SELECT FROM ${own.events} e WHERE e.position = p.position AND e.hash = p.hash))`;

/** Compare and set: a process that lost its lock can't put another one's progress back. */
export async function advanceCheckpoint(db: Queryable, from: number, to: number): Promise<boolean> {
  if (from === to) return true;
  const { rowCount } = await db.query(ADVANCE, [INDEX_PROJECTION, from, to]);
  return rowCount === 1;
}

const FAIL = sql`
UPDATE ${own.projections} SET status = 'failed', last_error = $2, updated_at = now() WHERE name = $1`;

/** Stays until the checkpoint is advanced. */
export async function recordFailure(db: Queryable, failure: IndexFailure): Promise<void> {
  await db.query(FAIL, [INDEX_PROJECTION, JSON.stringify(failure)]);
}
