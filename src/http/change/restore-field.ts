/** Restoring a field from the trash: what came back, and what didn't. */
import { runYielding } from '../../kernel/event-loop.js';
import type { Problem } from '../../kernel/problem.js';
import type { Warning } from '../../kernel/warning.js';
import { restoringField } from '../../pipeline/prepare/restore-field.js';
import type { Prepare } from '../../pipeline/types.js';
import type { TrashEntry } from '../../projector/trash/list.js';
import { emptiedBy } from '../../reads/history/not-restored.js';
import type { RestoreRequest } from '../../schema/operations/restore-collection.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { findingOf } from '../../schema/findings/index.js';
import type { CollectionNode, State } from '../../schema/model/state.js';
import { fieldDocumentOf } from '../../schema/snapshot/documents.js';
import { type FieldRestoration, fieldRestoration } from '../../schema/transition/restore-field.js';
import { type Answer, jsonAnswer, refusal, unwrap } from '../answer/answer.js';
import { change, dryRun } from './change.js';
import { planAnswer } from './plan-answer.js';
import type { HttpDeps } from '../deps.js';
import type { Call } from '../route.js';

export type RestoreDeps = Pick<HttpDeps, 'pipeline' | 'changes' | 'pool' | 'history' | 'config'>;
export type RestoreCall = Call<{ dry_run: boolean }>;

/** The field as it is now, with a warning for each thing that stayed away; a plan where `dry_run` is asked for. */
export async function restoreField(
  deps: RestoreDeps,
  call: RestoreCall,
  { entry, request }: { entry: TrashEntry; request: RestoreRequest },
): Promise<Answer> {
  const { pool, history, config } = deps;
  const options = { pool, at: history.at, schema: config.schema };
  if (call.query.dry_run)
    return restorePlan(deps, call, (onNulls) => restoringField({ ...options, onNulls }, entry, request));
  const { prepare, command } = noted(await restoringField(options, entry, request));
  return change(deps, call, {
    name: 'restore-field',
    command: prepare,
    render: async ({ before, state, events, position }) => {
      const restored = await restoredIn(before, command());
      const node = state.collections.get(restored.collection) as CollectionNode;
      const field = node.fields.get(restored.field);
      const data = field === undefined ? null : fieldDocumentOf(state, node, field);
      const warnings = [...emptiedBy(events), ...leftWarnings(restored)].map(findingOf);
      return { ...jsonAnswer(200, { data, ...(warnings.length > 0 && { warnings }) }), position };
    },
  });
}

type Preparing = (onNulls: (problem: Problem) => void) => Promise<Prepare<CommandOf<'restore-field'>>>;

async function restorePlan(deps: RestoreDeps, call: RestoreCall, preparing: Preparing): Promise<Answer> {
  const nulls: Problem[] = [];
  const { prepare, command } = noted(await preparing((problem) => nulls.push(problem)));
  const run = await dryRun(deps.pipeline, call, { name: 'restore-field', command: prepare });
  if (run.kind === 'refused') return refusal(run.problems);
  const returns = await deps.history.returns(run);
  const restored = await restoredIn(run.before, command());
  const [refused = run.refusal] = nulls;
  // PostgreSQL refuses those rows too, but can't say how to go on.
  const told = run.accepted === false && refused !== undefined ? { ...run, refusal: refused } : run;
  return planAnswer(deps, told, {
    further: [...returns, ...leftWarnings(restored)],
    own: { optional: restored.keys },
  });
}

/** A command that is known once it was prepared, which is before anything is said of it. */
export function noted<C>(prepare: Prepare<C>): { prepare: Prepare<C>; command(): C } {
  let last: { command: C } | undefined;
  return {
    prepare: async (client, state) => {
      last = { command: await prepare(client, state) };
      return last.command;
    },
    command() {
      if (last === undefined) throw new Error('restore: asked for a command that was not made');
      return last.command;
    },
  };
}

const restoredIn = async (before: State, command: CommandOf<'restore-field'>): Promise<FieldRestoration> =>
  unwrap(await runYielding(fieldRestoration(before, command)));

const leftWarnings = ({ left, collection, field }: FieldRestoration): Warning[] =>
  left.map((what) => ({ code: 'NOT_RESTORED', collection, field, message: `not restored: ${what}` }));
