/** Plans a proposal against the current schema, without a transaction and without running anything. */
import { runYielding } from '../../../kernel/event-loop.js';
import type { Problem } from '../../../kernel/problem.js';
import { type Statement } from '../../../projector/ddl/statement.js';
import { planBatch } from '../../../projector/ddl/plan.js';
import { planHash } from '../../../schema/change-requests/plan-hash.js';
import type { ChangeRequest } from '../../../schema/change-requests/model.js';
import { type SchemaDiff, diffStates } from '../../../schema/diff/diff.js';
import { collectionsChanged } from '../../../schema/fold/event-schemas.js';
import type { LogEvent } from '../../../schema/model/events.js';
import type { Policy } from '../../../schema/model/policy.js';
import type { State } from '../../../schema/model/state.js';
import { operations } from '../../../schema/operations/index.js';
import type { Operation } from '../../../schema/operations/operation.js';
import type { UpdatePolicy } from '../../../schema/operations/update-policy.js';
import { withHeirs } from '../../transaction/inherited-columns.js';
import { type Reading, commandOf } from '../command.js';

export type PlanNow =
  /** The proposal does not fit the current schema. */
  | { kind: 'conflicts'; problems: Problem[] }
  | {
      kind: 'planned';
      /** Differs from the hash of the request if the objects that it changes or deletes have changed. */
      hash: string;
      purge: boolean;
      before: State;
      after: State;
      events: LogEvent[];
      statements: Statement[];
      /** The policy in force, and the one that replaces it; null: it changes the schema. */
      policy: { from: Policy; to: Policy } | null;
      diff: SchemaDiff;
    };

/** @param schema of the tables */
export async function planNow(
  reading: Reading & { schema: string },
  request: ChangeRequest,
  state: State,
): Promise<PlanNow> {
  const askedFor = await commandOf(reading, request);
  if (!askedFor.ok) return { kind: 'conflicts', problems: askedFor.problems };
  const { name, command, purge, acknowledges } = askedFor.value;
  const { decide } = operations[name] as unknown as Operation<string, object, object, LogEvent>;
  const now: object = typeof command === 'function' ? await command(reading.pool, state) : command;
  const decided = await runYielding(decide(state, now));
  if (!decided.ok) return { kind: 'conflicts', problems: decided.problems };
  const { pool, schema } = reading;
  const { events, problems } = await withHeirs(pool, { state, events: decided.value, schema, purge: purge === true });
  if (problems.length > 0) return { kind: 'conflicts', problems: [...problems] };
  const policy = name === 'update-policy' ? (now as UpdatePolicy) : undefined;
  const { statements, after } = await runYielding(planBatch(state, events, schema));
  const plan = { before: state, after, events };
  return {
    ...plan,
    kind: 'planned',
    hash: await runYielding(planHash({ ...plan, policy: policy?.current, purge, acknowledge: acknowledges?.findings })),
    purge: purge === true,
    statements,
    policy: policy === undefined ? null : { from: policy.current as Policy, to: policy.policy },
    diff: await runYielding(diffStates(state, after, collectionsChanged(events))),
  };
}
