/** A command without its effect: the same transaction up to the DDL, rolled back. */
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import { asSent } from '../../postgres/client.js';
import type { Statement } from '../../projector/ddl/statement.js';
import type { Point } from '../../log/fold.js';
import type { State } from '../../schema/model/state.js';
import type { LogEvent } from '../../schema/model/events.js';
import { type Attempt, projectionOf } from './attempt.js';
import { begin } from './begin.js';
import { decideBatch } from './decide.js';
import { rollback } from './finish.js';
import { isStorable } from './idempotency.js';
import { runStatements } from './run-ddl.js';
import type { DryRun } from '../types.js';

/** The same up to the DDL; everything is rolled back. */
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
  if (preparation?.kind === 'not possible')
    return rollback(client, { kind: 'refused', problems: preparation.problems });
  const batch = { before: point.state, after, events, statements, keeps: false, waits: at };
  // What is to be prepared would take long, and lock for as long.
  const isPrepared = preparation?.kind === 'steps';
  const run = () => runStatements(client, projectionOf(options, batch));
  const problems = isPrepared || plansOnly ? null : await run();
  const shown = statements.map((statement) => ({ ...statement, sql: asSent(client, statement.sql) }));
  const plan = planned({ point, after, events, statements: shown, problems, warnings, plansOnly });
  return rollback(client, isPrepared && plan.kind === 'planned' ? { ...plan, preparation } : plan);
}

interface PlannedBatch {
  point: Point;
  after: State;
  events: LogEvent[];
  statements: Statement[];
  problems: Problem[] | null;
  plansOnly: boolean;
  warnings: Warning[];
}

/** What PostgreSQL says of the statements belongs into the plan; what it says of the moment refuses the dry run. */
function planned({ point, problems, plansOnly, ...batch }: PlannedBatch): DryRun {
  const refusal = problems?.[0];
  if (problems !== null && !isStorable({ kind: 'refused', problems })) return { kind: 'refused', problems };
  const accepted = plansOnly ? null : refusal === undefined;
  return { kind: 'planned', accepted, ...(refusal && { refusal }), before: point.state, ...batch };
}
