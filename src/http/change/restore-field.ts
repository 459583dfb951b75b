/** Restores a field from the trash and reports what could not be restored. */
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
import { type Answer, jsonAnswer, unwrap } from '../answer/answer.js';
import { type ChangeDeps, asks, change, isRehearsal } from './change.js';
import type { Call } from '../route.js';

/** Responds with the field and a warning for each part that was not restored, or with the plan for `dry_run`. */
export async function restoreField(
  deps: ChangeDeps,
  call: Call<unknown>,
  { entry, request }: { entry: TrashEntry; request: RestoreRequest },
): Promise<Answer> {
  const { pool, history, config } = deps;
  const options = { pool, at: history.at, schema: config.schema };
  const nulls: Problem[] = [];
  // A dry run goes on, so that the plan is complete; a plan that runs nothing reads no rows.
  const onNulls = asks(call, 'explain') ? null : (problem: Problem): void => void nulls.push(problem);
  const rehearsing = isRehearsal(call) ? { onNulls } : {};
  const { prepare, command } = noted(await restoringField({ ...options, ...rehearsing }, entry, request));
  return change(deps, call, {
    name: 'restore-field',
    command: prepare,
    beside: async (run) => {
      const restored = await restoredIn(run.before, command());
      const further = [...(await history.returns(run)), ...leftWarnings(restored)];
      // PostgreSQL rejects those rows too, but cannot say how to go on.
      const [refusal] = nulls;
      return { further, own: { optional: restored.keys }, ...(refusal && { refusal }) };
    },
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

/** Records the command once it is prepared, before the response is rendered. */
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
