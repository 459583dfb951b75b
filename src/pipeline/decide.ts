/** From a command to its events, judged against the state at the head of the log. */
import type pg from 'pg';
import { runYielding } from '../kernel/event-loop.js';
import type { Problem } from '../kernel/problem.js';
import type { LogEvent } from '../schema/model/events.js';
import type { State } from '../schema/model/state.js';
import { snapshotHash } from '../schema/snapshot/snapshot.js';
import type { Job, PipelineOptions, Refusal } from './types.js';

export type Decided = { kind: 'decided'; events: LogEvent[] } | Refusal;

export async function decideEvents(
  client: pg.ClientBase,
  { job, state, release }: { job: Job; state: State; release: PipelineOptions['release'] },
): Promise<Decided> {
  const { decide, request } = await preparedJob(client, job, state);
  const { ifMatch } = request;
  if (ifMatch !== undefined && ifMatch !== (await runYielding(snapshotHash(state, release)))) {
    return { kind: 'refused', problems: [preconditionFailed()] };
  }
  const result = await runYielding(decide(state));
  return result.ok ? { kind: 'decided', events: result.value } : { kind: 'refused', problems: result.problems };
}

/** A job whose command is known only now: what it says is read under the lock. */
async function preparedJob(client: pg.ClientBase, job: Job, state: State): Promise<Job> {
  return job.prepare === undefined ? job : { ...job, decide: await job.prepare(client, state) };
}

function preconditionFailed(): Problem {
  const message = 'The schema is not the one that If-Match names: read it again and decide again.';
  return { code: 'PRECONDITION_FAILED', message };
}
