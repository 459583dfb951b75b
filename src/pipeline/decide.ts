/** From a command to its events, judged against the state at the head of the log. */
import type pg from 'pg';
import { runYielding } from '../kernel/event-loop.js';
import type { Problem } from '../kernel/problem.js';
import type { Warning } from '../kernel/warning.js';
import type { LogEvent } from '../schema/model/events.js';
import type { State } from '../schema/model/state.js';
import { snapshotHash } from '../schema/snapshot/snapshot.js';
import { type Keeping, keepDeleted } from './keep-deleted.js';
import type { Job, PipelineOptions, Refusal } from './types.js';

/** `warnings`: what the events can't say of themselves. */
export type Decided = { kind: 'decided'; events: LogEvent[]; warnings: Warning[] } | Refusal;

export async function decideEvents(
  client: pg.ClientBase,
  { job, state, options, waits }: { job: Job; state: State; options: PipelineOptions; waits: Keeping['waits'] },
): Promise<Decided> {
  const { release } = options;
  const { decide, request } = await preparedJob(client, job, state);
  const { ifMatch } = request;
  if (ifMatch !== undefined && ifMatch !== (await runYielding(snapshotHash(state, release)))) {
    return { kind: 'refused', problems: [preconditionFailed()] };
  }
  const result = await runYielding(decide(state));
  if (!result.ok) return { kind: 'refused', problems: result.problems };
  const kept = await keepDeleted(client, { state, events: result.value, request, waits, options });
  return kept.kind === 'refused' ? kept : { ...kept, kind: 'decided' };
}

/** A job whose command is known only now: what it says is read under the lock. */
async function preparedJob(client: pg.ClientBase, job: Job, state: State): Promise<Job> {
  return job.prepare === undefined ? job : { ...job, decide: await job.prepare(client, state) };
}

function preconditionFailed(): Problem {
  const message = 'The schema is not the one that If-Match names: read it again and decide again.';
  return { code: 'PRECONDITION_FAILED', message };
}
