/** Reads the progress of a step on another connection. */
import type { Queryable } from '../../postgres/pool.js';
import { HOLDERS, type Holder, conflictsOf, readHolders } from '../ddl/table-locks.js';
import type { StepProgress } from './types.js';

interface Building {
  phase: string;
  blocks_done: string;
  blocks_total: string;
  tuples_done: string;
  tuples_total: string;
}

/** The measured start and end of each phase of CREATE INDEX CONCURRENTLY, as parts of the whole. */
const PHASES: readonly [phase: string, from: number, to: number][] = [
  ['initializing', 0, 0],
  ['waiting for writers before build', 0, 0],
  ['building index: scanning table', 0, 0.35],
  ['building index: sorting live tuples', 0.35, 0.45],
  ['building index: loading tuples in tree', 0.45, 0.6],
  ['building index', 0, 0.6],
  ['waiting for writers before validation', 0.6, 0.6],
  ['index validation: scanning index', 0.6, 0.7],
  ['index validation: sorting tuples', 0.7, 0.75],
  ['index validation: scanning table', 0.75, 1],
  ['waiting for old snapshots', 1, 1],
];

const BUILDING = `
SELECT phase, blocks_done, blocks_total, tuples_done, tuples_total
FROM pg_catalog.pg_stat_progress_create_index WHERE pid = $1`;

/** Sessions that this one waits for: lock holders or, for CREATE INDEX CONCURRENTLY, running transactions. */
const BLOCKERS = `
SELECT DISTINCT ON (b.pid) nullif(b.pid, 0) AS pid, coalesce(v.virtualxid, b.pid::text) AS transaction,
       coalesce(a.application_name, '') AS application,
       extract(epoch FROM statement_timestamp() - a.xact_start)::float8 AS age, $2 AS table,
       EXISTS (SELECT FROM pg_catalog.pg_stat_progress_vacuum p WHERE p.pid = b.pid) AS maintenance
  FROM pg_catalog.unnest(pg_catalog.pg_blocking_pids($1)) AS b (pid)
  LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = b.pid
  LEFT JOIN pg_catalog.pg_locks v ON v.pid = b.pid AND v.locktype = 'virtualxid' AND v.granted
 ORDER BY b.pid LIMIT 20`;

export async function observeStep(db: Queryable, pid: number, table: string): Promise<Partial<StepProgress>> {
  const [building, blockers] = await Promise.all([
    db.query<Building>(BUILDING, [pid]),
    db.query<Holder>(BLOCKERS, [pid, table]),
  ]);
  const [row] = building.rows;
  const waiting = { waiting_for: blockers.rows };
  return row === undefined ? (blockers.rows.length > 0 ? waiting : {}) : { ...waiting, ...progressOf(row) };
}

/** @see PreparationEngine.writersOf */
export async function writersOf(
  db: Queryable,
  { schema, table }: { schema: string; table: string },
): Promise<Holder[]> {
  return readHolders((await db.query(HOLDERS, conflictsOf(schema, [{ table, lock: 'SHARE' }]))).rows);
}

function progressOf({ phase, ...counts }: Building): Pick<StepProgress, 'done' | 'phase'> {
  const [, from, to] = PHASES.find(([name]) => name === phase) ?? [phase, null, null];
  if (from === null || to === null) return { done: null, phase };
  const part = ratio(counts.blocks_done, counts.blocks_total) ?? ratio(counts.tuples_done, counts.tuples_total) ?? 0;
  return { done: from + (to - from) * part, phase };
}

const ratio = (done: string, total: string): number | null =>
  Number(total) > 0 ? Math.min(1, Number(done) / Number(total)) : null;
