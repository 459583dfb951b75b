/** Runs a command up to the DDL and rolls it back. */
import type pg from 'pg';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import { asSent } from '../../postgres/client.js';
import type { Statement } from '../../projector/ddl/statement.js';
import type { Point } from '../../log/fold.js';
import type { State } from '../../schema/model/state.js';
import type { LogEvent } from '../../schema/model/events.js';
import { type Attempt, projectionOf } from './attempt.js';
import { begin } from './begin.js';
import { type DecidedBatch, decideBatch } from './decide.js';
import { misacknowledged } from './enforce-policy.js';
import { rollback } from './finish.js';
import { isStorable } from './idempotency.js';
import { runStatements } from './run-ddl.js';
import type { Preparation } from '../../projector/online/types.js';
import type { DryRun, RequestContext } from '../types.js';

/** Runs the command up to the DDL and rolls everything back. */
export async function attemptDryRun({ options, job, ...at }: Attempt): Promise<DryRun> {
  const { client } = at;
  const plansOnly = job.request.plansOnly === true;
  const begun = await begin(client, options, { ...at, unlocked: plansOnly });
  const { point } = begun;
  const decided = await decideBatch(client, { options, job, begun, waits: at });
  if (decided.kind === 'refused') return rollback(client, decided);
  const { events, statements, after, warnings } = decided;
  const { schema } = options.place;
  const planning = { before: point, after, events, statements, schema, held: begun.held, policy: begun.policy };
  const preparation = await job.request.foresee?.(client, planning);
  const against = await objectionsTo(client, decided, { request: job.request, preparation });
  if (against.length > 0) return rollback(client, { kind: 'refused', problems: against });
  const batch = { before: point.state, after, events, statements, keeps: false, waits: at };
  // Steps to be prepared would run and hold locks for a long time, so they are not run.
  const isPrepared = preparation?.kind === 'steps';
  const run = () => runStatements(client, projectionOf(options, batch));
  const problems = isPrepared || plansOnly ? null : await run();
  const shown = statements.map((statement) => ({ ...statement, sql: asSent(client, statement.sql) }));
  const plan = planned({ point, after, events, statements: shown, problems, warnings, plansOnly });
  return rollback(client, isPrepared && plan.kind === 'planned' ? { ...plan, preparation } : plan);
}

/**
 * Returns the problems of preparation and of acknowledgements that match no finding. The policy does not reject dry
 * runs.
 */
async function objectionsTo(
  client: pg.ClientBase,
  { judging: { planned }, warnings }: DecidedBatch,
  { request, preparation }: { request: RequestContext; preparation: Preparation | undefined },
): Promise<Problem[]> {
  if (preparation?.kind === 'not possible') return [...preparation.problems];
  const { acknowledges, plansOnly, foresee } = request;
  const prepared = preparation?.kind === 'steps' ? preparation.warnings : [];
  return misacknowledged(client, {
    planned,
    acknowledges,
    warnings: [...warnings, ...prepared],
    online: foresee !== undefined,
    plansOnly: plansOnly === true,
  });
}

interface TriedBatch {
  point: Point;
  after: State;
  events: LogEvent[];
  statements: Statement[];
  problems: Problem[] | null;
  plansOnly: boolean;
  warnings: Warning[];
}

/**
 * PostgreSQL errors about the statements are part of the plan. Errors about temporary conditions reject the dry run.
 */
function planned({ point, problems, plansOnly, ...batch }: TriedBatch): DryRun {
  const refusal = problems?.[0];
  if (problems !== null && !isStorable({ kind: 'refused', problems })) return { kind: 'refused', problems };
  const accepted = plansOnly ? null : refusal === undefined;
  return { kind: 'planned', accepted, ...(refusal && { refusal }), before: point.state, ...batch };
}
