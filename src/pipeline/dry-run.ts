/** A command without its effect: the same transaction up to the DDL, rolled back. */
import { runYielding } from '../kernel/event-loop.js';
import type { Problem } from '../kernel/problem.js';
import type { Warning } from '../kernel/warning.js';
import { asSent } from '../postgres/client.js';
import { planBatch } from '../projector/ddl/plan.js';
import type { Statement } from '../projector/ddl/statement.js';
import type { Point } from '../log/fold.js';
import type { State } from '../schema/model/state.js';
import type { LogEvent } from '../schema/model/events.js';
import { type Attempt, projectionOf } from './attempt.js';
import { begin } from './begin.js';
import { decideEvents } from './decide.js';
import { rollback } from './finish.js';
import { isStorable } from './idempotency.js';
import { runStatements } from './run-ddl.js';
import type { DryRun } from './types.js';

/** The same up to the DDL; everything is rolled back. */
export async function attemptDryRun({ options, job, ...at }: Attempt): Promise<DryRun> {
  const { client } = at;
  const { point } = await begin(client, options, at);
  const decided = await decideEvents(client, { job, state: point.state, options, waits: at });
  if (decided.kind === 'refused') return rollback(client, decided);
  const { events, warnings } = decided;
  const { statements, after } = await runYielding(planBatch(point.state, events, options.place.schema));
  const batch = { before: point.state, after, events, statements, keeps: false, waits: at };
  const problems = await runStatements(client, projectionOf(options, batch));
  const shown = statements.map((statement) => ({ ...statement, sql: asSent(client, statement.sql) }));
  return rollback(client, planned({ point, after, events, statements: shown, problems, warnings }));
}

interface PlannedBatch {
  point: Point;
  after: State;
  events: LogEvent[];
  statements: Statement[];
  problems: Problem[] | null;
  warnings: Warning[];
}

/** What PostgreSQL says of the statements belongs into the plan; what it says of the moment refuses the dry run. */
function planned({ point, after, events, statements, problems, warnings }: PlannedBatch): DryRun {
  const refusal = problems?.[0];
  if (problems !== null && !isStorable({ kind: 'refused', problems })) return { kind: 'refused', problems };
  const plan = { events, statements, before: point.state, after, warnings };
  return { kind: 'planned', accepted: refusal === undefined, ...(refusal && { refusal }), ...plan };
}
