/* Restores from the trash and reports what could not be restored. */
import { runYielding } from '../../kernel/event-loop.js';
import type { Warning } from '../../kernel/warning.js';
import { createCollectionRestore, findEntry, createFieldRestore } from './restore.js';
import type { TrashEntry } from './rows.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { readRestoreRequest, type RestoreRequest } from '../../schema/operations/trash.js';
import { findingOf } from '../../schema/findings/index.js';
import { KINDS, type ObjectKind, isObjectKind } from '../../schema/model/objects.js';
import type { State, CollectionNode } from '../../schema/model/state.js';
import { type NotRestored, type Restoration, planRestoration } from '../../schema/transition/restore-collection.js';
import { type Answer, jsonBytesAnswer, unwrap, jsonAnswer } from '../../http/answer/answer.js';
import { type ChangeDeps, runChange, isRequested, isRehearsal } from '../../http/change/change.js';
import type { CollectionTexts } from '../../http/documents/texts.js';
import { warnAboutEmptied, warnUnmatched } from '../../reads/history/returns.js';
import type { Call } from '../../http/route.js';
import { fieldDocumentOf } from '../../schema/snapshot/documents.js';
import { type FieldRestoration, fieldRestoration } from '../../schema/transition/restore-field.js';

/* Restores a field from the trash and reports what could not be restored. */

/** Responds with the field and a warning for each part that was not restored, or with the plan for `dry_run`. */
async function restoreField(
  deps: ChangeDeps,
  call: Call<unknown>,
  { entry, request }: { entry: TrashEntry; request: RestoreRequest },
): Promise<Answer> {
  const { pool, history, config } = deps;
  // A dry run continues so that the plan is complete, but reports such rows. A plan that runs nothing does not read
  // rows.
  const nulls = isRequested(call, 'explain') ? 'ignore' : isRehearsal(call) ? 'report' : 'reject';
  const options = { pool, at: history.at, schema: config.schema, nulls } as const;
  return runChange(deps, call, {
    name: 'restore-field',
    command: await createFieldRestore(options, entry, request),
    beside: async (run) => {
      const restored = await restoredIn(run.before, run.command);
      // PostgreSQL would also reject these rows, but its message could not contain the solution.
      const { nulls: refusal } = run.command;
      return { further: leftWarnings(restored), optional: restored.keys, ...(refusal && { refusal }) };
    },
    render: async ({ command, before, state, events, position, unmatched = [] }) => {
      const restored = await restoredIn(before, command);
      const node = state.collections.get(restored.collection) as CollectionNode;
      const field = node.fields.get(restored.field);
      const data = field === undefined ? null : fieldDocumentOf(state, node, field);
      const without = unmatched.map(warnUnmatched);
      const warnings = [...warnAboutEmptied(events), ...without, ...leftWarnings(restored)].map(findingOf);
      return { ...jsonAnswer(200, { data, ...(warnings.length > 0 && { warnings }) }), position };
    },
  });
}

const restoredIn = async (before: State, command: CommandOf<'restore-field'>): Promise<FieldRestoration> =>
  unwrap(await runYielding(fieldRestoration(before, command)));

const leftWarnings = ({ left, collection, field }: FieldRestoration): Warning[] =>
  left.map((reason) => ({ code: 'NOT_RESTORED', collection, field, message: `not restored: ${reason}` }));

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
  return runChange(deps, call, {
    name: 'restore-collection',
    command: await createCollectionRestore(options, entry, request),
    beside: async (run) => {
      const restored = await restorationIn(run.before, run.command);
      return { further: warnAboutOmissions(restored, run.command, entry), optional: restored.keys };
    },
    render: async ({ command, before, state, events, position: head }) => {
      const { as, name } = command;
      const restored = await restorationIn(before, command);
      const warnings = [...warnAboutEmptied(events), ...warnAboutOmissions(restored, command, entry)].map(findingOf);
      const text = deps.texts.findText(state, as ?? name) ?? 'null';
      const warningsMember = warnings.length === 0 ? '' : `,"warnings":${JSON.stringify(warnings)}`;
      return { ...jsonBytesAnswer(200, Buffer.from(`{"data":${text}${warningsMember}}`)), position: head };
    },
  });
}

const restorationIn = async (before: State, command: CommandOf<'restore-collection'>): Promise<Restoration> =>
  unwrap(await runYielding(planRestoration(before, command)));

function warnAboutOmissions(
  restored: Restoration,
  command: CommandOf<'restore-collection'>,
  entry: TrashEntry,
): Warning[] {
  const collection = command.as ?? command.name;
  const byHand = [
    ...entry.publications.map(
      (name) => `publication ${JSON.stringify(name)}: add the table with ALTER PUBLICATION … ADD TABLE`,
    ),
    ...entry.foreign_keys.map(
      ({ name, definition }) => `foreign key ${JSON.stringify(name)}, created outside the service: ${definition}`,
    ),
  ];
  return [
    ...restored.left.map(leftWarning),
    ...byHand.map((reason) => ({ code: 'NOT_RESTORED', collection, message: `not restored: ${reason}` })),
  ];
}

const LABELS: Readonly<Record<Exclude<NotRestored['kind'], ObjectKind>, string>> = {
  relation: 'relation',
  alias: 'alias field',
  member: 'an allowed collection of the relation',
  group: 'group membership',
  constraint: 'foreign key',
  'foreign key': 'foreign key of the relation',
};

function leftWarning({ kind, collection, field, reason }: NotRestored): Warning {
  const label = isObjectKind(kind) ? KINDS[kind].label : LABELS[kind];
  const what = `${label} of ${collection}${field === undefined ? '' : `.${field}`}`;
  return {
    code: 'NOT_RESTORED',
    collection,
    ...(field !== undefined && { field }),
    message: `not restored: ${what}: ${reason}`,
  };
}
