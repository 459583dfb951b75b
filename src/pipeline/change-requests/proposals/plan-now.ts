/** Plans a proposal against the current schema, without a transaction and without running anything. */
import { runYielding } from '../../../kernel/event-loop.js';
import type { Problem } from '../../../kernel/problem.js';
import { type Statement } from '../../../projector/ddl/statement.js';
import { planBatch } from '../../../projector/ddl/plan.js';
import { planHash } from '../../../schema/change-requests/plan-hash.js';
import type { ChangeRequest } from '../../../schema/change-requests/model.js';
import { type SchemaDiff, diffStates } from '../../../schema/diff/diff.js';
import { collectionsChanged } from '../../../schema/fold/event-schemas.js';
import type { NewEvent } from '../../../schema/model/events.js';
import type { State } from '../../../schema/model/state.js';
import { type CommandOf, operations } from '../../../schema/operations/index.js';
import type { Ask } from '../../types.js';
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
      events: NewEvent[];
      statements: Statement[];
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
  const { command, purge, acknowledges } = askedFor.value;
  const decided = await runYielding(
    operations['apply-diff'].decide(state, await asked(reading, command as Apply | Ask<Apply>, state)),
  );
  if (!decided.ok) return { kind: 'conflicts', problems: decided.problems };
  const events = decided.value;
  const { statements, after } = await runYielding(planBatch(state, events, reading.schema));
  return {
    kind: 'planned',
    hash: await runYielding(planHash({ before: state, after, events, purge, acknowledge: acknowledges?.findings })),
    purge: purge === true,
    before: state,
    after,
    events,
    statements,
    diff: await runYielding(diffStates(state, after, collectionsChanged(events))),
  };
}

type Apply = CommandOf<'apply-diff'>;

const asked = async ({ pool }: Reading, command: Apply | Ask<Apply>, state: State): Promise<Apply> =>
  typeof command === 'function' ? command(pool, state) : command;
