/** Restores from the trash and reports what could not be restored. */
import { runYielding } from '../../kernel/event-loop.js';
import type { Warning } from '../../kernel/warning.js';
import { restoringCollection } from '../../pipeline/prepare/restore-collection.js';
import { findEntry } from '../../pipeline/prepare/restore-entry.js';
import type { TrashEntry } from '../../projector/trash/list.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { readRestoreRequest } from '../../schema/operations/restore-collection.js';
import { findingOf } from '../../schema/findings/index.js';
import type { State } from '../../schema/model/state.js';
import type { LeftOut } from '../../schema/transition/restore-context.js';
import { type Restoration, restoration } from '../../schema/transition/restore-collection.js';
import { type Answer, jsonBytesAnswer, unwrap } from '../answer/answer.js';
import { type ChangeDeps, change } from './change.js';
import type { CollectionTexts } from '../documents/collection-texts.js';
import { emptiedBy } from '../../reads/history/not-restored.js';
import { noted, restoreField } from './restore-field.js';
import type { Call } from '../route.js';

type Deps = ChangeDeps & { texts: CollectionTexts };

/**
 * Responds with the restored collection or field, or with the plan for `dry_run`. Warnings list the parts that were
 * not restored.
 */
export async function restore(deps: Deps, call: Call<unknown>, position: number): Promise<Answer> {
  const options = { pool: deps.pool, at: deps.history.at };
  const entry = await findEntry(options, position);
  const request = unwrap(readRestoreRequest(call.body, entry.kind));
  if (entry.kind === 'field') return restoreField(deps, call, { entry, request });
  const { prepare, command } = noted(await restoringCollection(options, entry, request));
  return change(deps, call, {
    name: 'restore-collection',
    command: prepare,
    beside: async (run) => {
      const restored = await restoredIn(run.before, command());
      const further = [...(await deps.history.returns(run)), ...leftBehind(restored, command(), entry)];
      return { further, own: { optional: restored.keys } };
    },
    render: async ({ before, state, events, position: head }) => {
      const { as, name } = command();
      const restored = await restoredIn(before, command());
      const warnings = [...emptiedBy(events), ...leftBehind(restored, command(), entry)].map(findingOf);
      const text = deps.texts.one(state, as ?? name) ?? 'null';
      const told = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
      return { ...jsonBytesAnswer(200, Buffer.from(`{"data":${text}${told}}`)), position: head };
    },
  });
}

const restoredIn = async (before: State, command: CommandOf<'restore-collection'>): Promise<Restoration> =>
  unwrap(await runYielding(restoration(before, command)));

function leftBehind(restored: Restoration, command: CommandOf<'restore-collection'>, entry: TrashEntry): Warning[] {
  const collection = command.as ?? command.name;
  const byHand = [
    ...entry.publications.map(
      (name) => `the publication ${JSON.stringify(name)}: ALTER PUBLICATION … ADD TABLE takes it in again`,
    ),
    ...entry.foreign_keys.map(
      ({ name, definition }) => `the foreign key ${JSON.stringify(name)}, made by hand: ${definition}`,
    ),
  ];
  return [
    ...restored.left.map(leftWarning),
    ...byHand.map((what) => ({ code: 'NOT_RESTORED', collection, message: `not restored: ${what}` })),
  ];
}

const KINDS: Readonly<Record<LeftOut['kind'], string>> = {
  relation: 'the relation',
  alias: 'the alias field',
  member: 'a place among those that the relation may point at',
  group: 'the place in a group',
  constraint: 'the foreign key',
  'foreign key': 'the foreign key of the relation',
};

function leftWarning({ kind, collection, field, reason }: LeftOut): Warning {
  const what = `${KINDS[kind]} of ${collection}${field === undefined ? '' : `.${field}`}`;
  return {
    code: 'NOT_RESTORED',
    collection,
    ...(field !== undefined && { field }),
    message: `not restored: ${what}: ${reason}`,
  };
}
