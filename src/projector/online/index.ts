/*
 * Online preparations: the slow parts of a change run before it and outside its transaction, while applications use
 * the table. The change itself is then one short transaction. `types.ts` is the interface for others.
 */
import { cleanUp, preparedName } from './copy.js';
import { type Pace, copyValues } from './run-copy.js';
import { planPreparation } from './plan.js';
import { addConstraint, validateConstraint, buildIndex, noteWrites } from './run-steps.js';
import { type EngineStep, readStep } from './steps.js';
import {
  type PreparationEngine,
  type PreparationStep,
  type StepContext,
  type StepProgress,
  PreparationRefused,
} from './types.js';
import { preparedStatements } from './short-transaction.js';
import type { Queryable } from '../../postgres/pool.js';
import { HOLDERS, type Holder, conflictsOf, readHolders } from '../ddl/table-locks.js';
import { environmentProblem, driverError, sqlState } from '../../postgres/errors.js';
import type { Problem } from '../../kernel/problem.js';
import { ddlFailure } from '../refusals/ddl-failure.js';
import { withCount } from '../refusals/offending-rows.js';

/* Reads the progress of a step on another connection. */

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
async function writersOf(db: Queryable, { schema, table }: { schema: string; table: string }): Promise<Holder[]> {
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

/* Decides whether PostgreSQL's rejection of a step is final or temporary. */

/** Milliseconds for counting rows. An error without the count is better than a late one. */
const COUNTING = 10_000;

/** invalid_schema_name: the cleanup of another request has just dropped the empty schema for copies. */
const ROOM_IS_GONE = '3F000';

/** Rethrows a temporary error, so that the step is retried later. */
export async function stepFailure(
  context: StepContext,
  step: PreparationStep,
  engineStep: EngineStep,
  error: unknown,
): Promise<unknown> {
  const state = sqlState(error);
  if (state === undefined || state === ROOM_IS_GONE || environmentProblem(error) !== undefined) return error;
  const problem = problemOf(context, step, engineStep, error);
  return new PreparationRefused([await counted(context, engineStep, problem)], error);
}

function problemOf({ id }: StepContext, { summary }: PreparationStep, step: EngineStep, error: unknown): Problem {
  const { source, prepared } = step;
  const failed = {
    source,
    summary,
    sql: '',
    object: { kind: 'table', name: prepared.table, table: null },
    drops: [],
    lock: 'none',
    locks: [],
    loses_data: false,
    rewrites_table: false,
    may_fail: true,
    lock_entries: 1,
  };
  const problem = ddlFailure(error, [failed as unknown as Parameters<typeof ddlFailure>[1][number]], 0);
  return inLastNames(problem, step, preparedName(id, prepared.key));
}

/** Replaces the temporary name, which no client knows. Describes a check that replaces NOT NULL as NOT NULL. */
function inLastNames(problem: Problem, { prepared, notNullBy }: EngineStep, ours: string): Problem {
  const { what, table } = prepared;
  const { reason, sqlstate } = problem.details as { reason: string; sqlstate: string };
  if (what.kind === 'not null') {
    if (notNullBy !== 'check' || sqlstate !== '23514') return problem;
    const nullsMessage = `column "${what.column}" of relation "${table}" contains null values`;
    return replaced(problem, reason, nullsMessage, '23502');
  }
  return 'name' in what ? replaced(problem, reason, reason.replaceAll(ours, what.name), sqlstate) : problem;
}

function replaced(problem: Problem, from: string, to: string, sqlstate: string): Problem {
  const details = { ...problem.details, reason: to, sqlstate };
  return { ...problem, message: problem.message.replace(from, () => to), details };
}

/** Counts the violating rows while no lock is held. */
async function counted({ session }: StepContext, { offending }: EngineStep, problem: Problem): Promise<Problem> {
  if (offending === null || !String(problem.details?.['sqlstate']).startsWith('23')) return problem;
  try {
    await session.query(
      `BEGIN READ ONLY; SET LOCAL statement_timeout = ${COUNTING}; SET LOCAL lock_timeout = ${COUNTING}`,
    );
    const { rows } = await session.query<{ count: number }>(offending.question);
    return withCount(problem, offending, Number(rows[0]?.count ?? 0));
  } catch (error) {
    // The failure is reported without the count.
    void driverError(error);
    return problem;
  } finally {
    await session.query('ROLLBACK').catch(() => undefined);
  }
}

export type * from './types.js';
export { PreparationRefused, PREPARATION_LOST } from './types.js';

type Run = (context: StepContext, own: EngineStep, step: PreparationStep) => Promise<void>;

interface EngineOptions {
  /** Milliseconds that one attempt waits for a strong lock. Other sessions queue behind it for that time. */
  lockWait: number;
  pace?: Partial<Pace>;
  /** Nothing is prepared for tables up to this size in bytes, because they are read quickly. */
  smallTable?: number;
}

/** Takes about 20 ms to read and index. */
const SMALL_TABLE = 8 * 1024 ** 2;

/** In milliseconds. */
const MAX_LAG = 10_000;

/** Stateless: everything it needs is stored in the steps and in the database. */
export function createPreparationEngine(options: EngineOptions): PreparationEngine {
  const { lockWait, smallTable = SMALL_TABLE } = options;
  const pace: Pace = { rate: null, maxLag: MAX_LAG, ...options.pace };
  const waits = { strong: lockWait };
  const run: Readonly<Record<EngineStep['kind'], Run>> = {
    add: (context, own) => addConstraint(context, own, waits),
    validate: (context, own) => validateConstraint(context, own, waits),
    index: (context, own) => buildIndex(context, own, pace),
    note: (context, own) => noteWrites(context, own, waits),
    copy: (context, own, { rows: total }) => copyValues(context, own, { pace, total }),
  };
  return {
    planPreparation: (client, change) => planPreparation(client, change, { smallTable }),
    async runStep(context, step) {
      const own = readStep(step);
      try {
        context.signal.throwIfAborted();
        await run[own.kind](context, own, step);
      } catch (error) {
        context.signal.throwIfAborted();
        throw await stepFailure(context, step, own, error);
      }
    },
    observeStep: (db, pid, step) => observeStep(db, pid, step.collection),
    writersOf,
    preparedStatements,
    cleanUp: (context) => cleanUp(context, waits),
  };
}
