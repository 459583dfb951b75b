/*
 * Online preparations: the slow parts of a change run before it and outside its transaction, while applications use
 * the table. The change itself is then one short transaction. `types.ts` is the interface for others.
 */
import {
  cleanUp,
  preparedName,
  type ColumnCopy,
  PREPARATION_SCHEMA,
  copyTable,
  createCopy,
  createTriggers,
  dropNotes,
  dropTriggers,
  lostTable,
  notedTable,
  triggerNames,
} from './copy.js';
import { fillRows } from './fill.js';
import { type CopyPace, copyValues, readCopying, waitForStandbys } from './run-copy.js';
import { planPreparation } from './plan.js';
import {
  type EngineStep,
  readStep,
  type PreparedStep,
  type NotNullBy,
  qualifyInPreparedSchema,
  preparedTable,
} from './steps.js';
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
import { addRowCount } from '../refusals/offending-rows.js';
import { integer, join, literal, sql, ident, type Sql } from '../ddl/sql.js';
import { type LockWaits, runUnderStrongLocks } from './strong-locks.js';
import type { LockedTable } from '../ddl/step.js';

/* Reads the progress of a step on another connection. */

interface Building {
  phase: string;
  blocks_done: string;
  blocks_total: string;
  tuples_done: string;
  tuples_total: string;
}

/** Measured start and end of each phase of CREATE INDEX CONCURRENTLY, as fractions of the whole build. */
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

/**
 * Selects the sessions that this one waits for: lock holders or, for CREATE INDEX CONCURRENTLY, running transactions.
 */
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
async function findWriters(db: Queryable, { schema, table }: { schema: string; table: string }): Promise<Holder[]> {
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

/** Milliseconds that counting rows may take. An error without the count is better than a late one. */
const COUNTING = 10_000;

/**
 * invalid_schema_name: the cleanup of another request has just dropped the empty schema for copies. The step is
 * retried.
 */
const ROOM_IS_GONE = '3F000';

/**
 * Returns the error to throw for a failed step: a PreparationRefused if the failure is final, otherwise the error
 * itself, so that the step is retried later.
 */
export async function createStepFailure(
  context: StepContext,
  step: PreparationStep,
  engineStep: EngineStep,
  error: unknown,
): Promise<unknown> {
  const state = sqlState(error);
  if (state === undefined || state === ROOM_IS_GONE || environmentProblem(error) !== undefined) return error;
  const problem = problemOf(context, step, engineStep, error);
  return new PreparationRefused([await addCount(context, engineStep, problem)], error);
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
  return replaceTemporaryName(problem, step, preparedName(id, prepared.key));
}

/** Replaces the temporary name, which no client knows. Describes a check that replaces NOT NULL as NOT NULL. */
function replaceTemporaryName(problem: Problem, { prepared, notNullBy }: EngineStep, ours: string): Problem {
  const { what, table } = prepared;
  const { reason, sqlstate } = problem.details as { reason: string; sqlstate: string };
  if (what.kind === 'not null') {
    if (notNullBy !== 'check' || sqlstate !== '23514') return problem;
    const nullsMessage = `column "${what.column}" of relation "${table}" contains null values`;
    return replaceReason(problem, reason, nullsMessage, '23502');
  }
  return 'name' in what ? replaceReason(problem, reason, reason.replaceAll(ours, what.name), sqlstate) : problem;
}

function replaceReason(problem: Problem, from: string, to: string, sqlstate: string): Problem {
  const details = { ...problem.details, reason: to, sqlstate };
  return { ...problem, message: problem.message.replace(from, () => to), details };
}

/** Counts the violating rows while no lock is held. */
async function addCount({ session }: StepContext, { offending }: EngineStep, problem: Problem): Promise<Problem> {
  if (offending === null || !String(problem.details?.['sqlstate']).startsWith('23')) return problem;
  try {
    await session.query(
      `BEGIN READ ONLY; SET LOCAL statement_timeout = ${COUNTING}; SET LOCAL lock_timeout = ${COUNTING}`,
    );
    const { rows } = await session.query<{ count: number }>(offending.question);
    return addRowCount(problem, offending, Number(rows[0]?.count ?? 0));
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
  pace?: Partial<CopyPace>;
  /** Maximum size in bytes of tables for which nothing is prepared, because they are read quickly. */
  smallTable?: number;
}

/** Default of `smallTable`. Reading and indexing such a table takes about 20 ms. */
const SMALL_TABLE = 8 * 1024 ** 2;

/** Default of `CopyPace.maxLag` in milliseconds. */
const MAX_LAG = 10_000;

/**
 * Creates the engine. It has no state of its own: everything that it needs is stored in the steps and in the database.
 */
export function createPreparationEngine(options: EngineOptions): PreparationEngine {
  const { lockWait, smallTable = SMALL_TABLE } = options;
  const pace: CopyPace = { rate: null, maxLag: MAX_LAG, ...options.pace };
  const waits = { strong: lockWait };
  const run: Readonly<Record<EngineStep['kind'], Run>> = {
    add: (context, own) => addConstraint(context, own, waits),
    validate: (context, own) => validateConstraint(context, own, waits),
    index: (context, own) => buildIndex(context, own, pace),
    note: (context, own) => noteWrites(context, own, waits),
    copy: (context, own, { rows: total }) => copyValues(context, own, { pace, total }),
    fill: (context, own, { rows: total }) => fillRows(context, own, { pace, total, lockWait }),
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
        throw await createStepFailure(context, step, own, error);
      }
    },
    observeStep: (db, pid, step) => observeStep(db, pid, step.collection),
    writersOf: findWriters,
    preparedStatements,
    cleanUp: (context) => cleanUp(context, waits),
  };
}

/* Runs the steps of a preparation: constraints, indexes, and the triggers that record writes. */

/* NOT NULL, checks and foreign keys: added NOT VALID under a short lock, then validated without blocking others. */

/** Adds the constraint for new rows without checking existing ones. */
async function addConstraint(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  if ((await findConstraint(context, step)) !== null) return;
  const { schema, id } = context;
  const { prepared, notNullBy } = step;
  const definition = notValidDefinition(prepared, notNullBy);
  if (definition === null) return;
  const table = preparedTable(prepared, schema);
  const name = ident(preparedName(id, prepared.key));
  await runUnderStrongLocks(context, locksOf(prepared), waits, {
    under: [sql`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition} NOT VALID`],
  });
}

/** Reads the whole table under a lock that blocks only other DDL and VACUUM. */
async function validateConstraint(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  // The constraint is added again if someone dropped it by hand in the meantime.
  await addConstraint(context, step, waits);
  if ((await findConstraint(context, step)) === true) return;
  const { session, schema, id } = context;
  const { prepared } = step;
  const name = ident(preparedName(id, prepared.key));
  await session.query(sql`ALTER TABLE ${preparedTable(prepared, schema)} VALIDATE CONSTRAINT ${name}`);
}

function notValidDefinition({ what }: PreparedStep, notNullBy: NotNullBy): Sql | null {
  if (what.kind === 'constraint') return what.definition;
  if (what.kind !== 'not null') return null;
  const column = ident(what.column);
  // A NOT NULL column may hold a composite value with a null attribute, which IS NOT NULL would reject. PostgreSQL
  // proves NOT NULL from either form.
  return notNullBy === 'constraint' ? sql`NOT NULL ${column}` : sql`CHECK (${column} IS DISTINCT FROM NULL)`;
}

function locksOf({ table, at, what }: PreparedStep): LockedTable[] {
  const own = { table, ...(at !== undefined && { at }) };
  if (what.kind !== 'constraint' || what.references === null) return [{ ...own, lock: 'ACCESS EXCLUSIVE' }];
  const lock = 'SHARE ROW EXCLUSIVE';
  if (what.references === table) return [{ ...own, lock }];
  const other = { table: what.references, ...(what.referencesAt !== undefined && { at: what.referencesAt }) };
  return [own, other].map((each) => ({ ...each, lock }) as const).sort((a, b) => (a.table < b.table ? -1 : 1));
}

async function findConstraint({ session, schema, id }: StepContext, { prepared }: EngineStep): Promise<boolean | null> {
  const constraint = sql`
    SELECT convalidated AS valid FROM pg_catalog.pg_constraint
    WHERE conrelid = pg_catalog.to_regclass(${literal(preparedTable(prepared, schema))})::oid
      AND conname = ${literal(preparedName(id, prepared.key))}`;
  const { rows } = await session.query<{ valid: boolean }>(constraint);
  return rows[0]?.valid ?? null;
}

/* Builds indexes, including those of keys, concurrently under a temporary name. */

/**
 * Keeps a valid index and drops an invalid one, which a failed build left behind. Builds without parallel workers,
 * which would take CPU time from applications. A build cannot pause, so standbys catch up before it begins.
 */
async function buildIndex(context: StepContext, { prepared }: EngineStep, pace: CopyPace): Promise<void> {
  const { what, key } = prepared;
  if (what.kind !== 'index' && what.kind !== 'key') return;
  const { session, schema, id, signal } = context;
  const name = preparedName(id, key);
  const valid = await findIndex(context, prepared, name);
  if (valid === true) return;
  if (valid === false)
    await session.query(sql`DROP INDEX CONCURRENTLY IF EXISTS ${qualifyInPreparedSchema(prepared, schema, name)}`);
  await waitForStandbys(session, context, pace);
  await session.query('SET max_parallel_maintenance_workers = 0');
  signal.throwIfAborted();
  const kind = what.kind === 'key' || what.unique ? sql`UNIQUE INDEX` : sql`INDEX`;
  const on = preparedTable(prepared, schema);
  await session.query(sql`CREATE ${kind} CONCURRENTLY ${ident(name)} ON ${on} ${what.definition}`);
}

async function findIndex(
  { session, schema }: StepContext,
  prepared: PreparedStep,
  name: string,
): Promise<boolean | null> {
  const index = sql`
    SELECT i.indisvalid AND i.indisready AND i.indislive AS valid
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    WHERE i.indrelid = pg_catalog.to_regclass(${literal(preparedTable(prepared, schema))})::oid AND c.relname = ${literal(name)}`;
  const { rows } = await session.query<{ valid: boolean }>(index);
  return rows[0]?.valid ?? null;
}

/* Starts a copy: creates its tables, and the triggers that record writes. */

/** Creates the empty copy and the triggers that record all later writes. If either is missing, it starts over. */
async function noteWrites(context: StepContext, step: EngineStep, waits: LockWaits): Promise<void> {
  const copying = readCopying(context, step);
  if (await isWhole(context, copying)) return;
  const { table, at } = step.prepared;
  const own = { table, ...(at !== undefined && { at }) };
  const locks = [{ ...own, lock: 'SHARE ROW EXCLUSIVE' }] as const;
  // Old triggers are dropped first, under a separate lock, so that the objects they use can be recreated.
  if (await hasTriggers(context, copying))
    await runUnderStrongLocks(context, [{ ...own, lock: 'ACCESS EXCLUSIVE' }], waits, { under: dropTriggers(copying) });
  await ensureRoom(context);
  const before = [...dropNotes(copying), sql`DROP TABLE IF EXISTS ${copyTable(copying)}`, ...createCopy(copying)];
  await runUnderStrongLocks(context, locks, waits, { before, under: createTriggers(copying) });
}

/**
 * True if the triggers exist and are enabled. All objects are created in one transaction. If the triggers exist, so
 * does the rest, unless someone dropped or disabled something by hand.
 */
async function isWhole({ session }: StepContext, copying: ColumnCopy): Promise<boolean> {
  const names = triggerNames(copying);
  const tables = [copyTable, notedTable, lostTable].map(
    (of) => sql`pg_catalog.to_regclass(${literal(of(copying))}) IS NOT NULL`,
  );
  const { rows } = await session.query<{ whole: boolean }>(sql`
    SELECT ${join(tables, sql` AND `)} AND (
      SELECT count(*) = ${integer(String(names.length))} FROM pg_catalog.pg_trigger
       WHERE tgrelid = pg_catalog.to_regclass(${literal(copying.table)})::oid AND tgenabled = 'A' AND tgname IN (${join(names.map(literal), sql`, `)})
    ) AS whole`);
  return rows[0]?.whole === true;
}

async function hasTriggers({ session }: StepContext, copying: ColumnCopy): Promise<boolean> {
  const names = join(triggerNames(copying).map(literal), sql`, `);
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_trigger WHERE tgrelid = pg_catalog.to_regclass(${literal(copying.table)})::oid AND tgname IN (${names})`,
  );
  return rowCount !== 0;
}

/**
 * Creates the schema for copies if it is missing. IF NOT EXISTS alone would require the CREATE privilege even if the
 * schema exists.
 */
async function ensureRoom({ session }: StepContext): Promise<void> {
  const { rowCount } = await session.query(
    sql`SELECT FROM pg_catalog.pg_namespace WHERE oid = pg_catalog.to_regnamespace(${literal(PREPARATION_SCHEMA)})::oid`,
  );
  if (rowCount === 0) await session.query(sql`CREATE SCHEMA IF NOT EXISTS ${PREPARATION_SCHEMA}`);
}
