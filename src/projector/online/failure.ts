/** Decides whether PostgreSQL's rejection of a step is final or temporary. */
import { environmentProblem, driverError, sqlState } from '../../postgres/errors.js';
import type { Problem } from '../../kernel/problem.js';
import { ddlFailure } from '../refusals/ddl-failure.js';
import { withCount } from '../refusals/offending-rows.js';
import { preparedName } from './names.js';
import type { EngineStep } from './steps.js';
import { PreparationRefused, type PreparationStep, type StepContext } from './types.js';

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

/** Replaces the temporary name, which nobody knows. Describes a check that replaces NOT NULL as NOT NULL. */
function inLastNames(problem: Problem, { prepared, notNullBy }: EngineStep, ours: string): Problem {
  const { what, table } = prepared;
  const { reason, sqlstate } = problem.details as { reason: string; sqlstate: string };
  if (what.kind === 'not null') {
    if (notNullBy !== 'check' || sqlstate !== '23514') return problem;
    const said = `column "${what.column}" of relation "${table}" contains null values`;
    return replaced(problem, reason, said, '23502');
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
