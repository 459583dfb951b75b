/** Routes of /trash. Auditors may list deleted objects. Admins may restore and purge them. */
import { z } from 'zod';
import {
  jsonAnswer,
  noContent,
  largeJsonAnswer,
  type Answer,
  jsonBytesAnswer,
  unwrap,
} from '../../http/answer/answer.js';
import {
  takeAcknowledgements,
  runChange,
  rehearsalQuery,
  type ChangeDeps,
  isRequested,
  isRehearsal,
} from '../../http/change/change.js';
import type { HttpDeps } from '../../http/deps.js';
import { createCollectionTexts, type CollectionTexts } from '../../http/documents/texts.js';
import { RejectedError, invalidQuery } from '../../http/errors.js';
import { acknowledge, data, page } from '../../http/openapi/answers/envelopes.js';
import { readCounts, count, metaMembers, pageLimit, noQuery } from '../../http/request/query.js';
import { type Call, jsonBody, type Route, route, withoutParsing } from '../../http/route.js';
import { runYielding } from '../../kernel/event-loop.js';
import { isPosition } from '../../kernel/text.js';
import type { Warning } from '../../kernel/problem.js';
import { warnAboutEmptied, warnUnmatched } from '../../reads/history/difference.js';
import { findingOf } from '../../schema/findings/finding.js';
import { KINDS, type ObjectKind, isObjectKind } from '../../schema/model/objects.js';
import type { State, CollectionNode } from '../../schema/model/state.js';
import type { CommandOf } from '../../schema/operations/index.js';
import { readRestoreRequest, type RestoreRequest } from '../../schema/operations/trash.js';
import { fieldDocumentOf } from '../../schema/snapshot/documents.js';
import { type NotRestored, type Restoration, planRestoration } from '../../schema/transition/restore-collection.js';
import { type FieldRestoration, fieldRestoration } from '../../schema/transition/restore-field.js';
import { createPurgeCommand } from './purger.js';
import { createCollectionRestore, findEntry, createFieldRestore } from './restore.js';
import { restored, trashEntry } from './routes-answers.js';
import { countTrash, findInTrash, notInTrash, readTrash, type TrashEntry } from './rows.js';

const PATH = '/trash';
const ONE = '/trash/:position';

const listQuery = z.strictObject({
  offset: count.default(0).describe('Number of items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});
const changeQuery = z.strictObject(rehearsalQuery);

const restoreRequest = z
  .strictObject({
    acknowledge,
    as: z.string().optional().describe('A new name'),
    without: z
      .array(z.string())
      .optional()
      .describe(
        'Names of objects that are not restored: foreign keys and ids of privileges. For a field, also its NOT NULL and unique constraints, its index and its checks',
      ),
  })
  .meta({ id: 'RestoreRequest' });

/** The position of the deletion identifies an entry. */
export function trashRoutes(deps: HttpDeps): Route[] {
  const { pool } = deps;
  const texts = createCollectionTexts(deps.config, deps.systemCollections);
  return [
    route({
      method: 'get',
      path: PATH,
      operationId: 'listTrash',
      summary: 'List deleted objects that can be restored, newest first',
      access: 'auditor',
      query: listQuery,
      answers: { 200: page(trashEntry) },
      async handle({ head, query: { offset, limit, meta } }) {
        const entries = await readTrash(pool, { offset, limit });
        const count = () => countTrash(pool);
        const counts = await readCounts(meta, { total_count: count, filter_count: count });
        return { ...(await largeJsonAnswer({ data: entries, ...counts })), position: head };
      },
    }),
    route({
      method: 'get',
      path: ONE,
      operationId: 'getTrash',
      summary: 'Retrieve a deleted object from the trash',
      access: 'auditor',
      query: noQuery,
      answers: { 200: data(trashEntry) },
      async handle(call) {
        const position = positionOf(call);
        const entry = await findInTrash(pool, position);
        if (entry === undefined) throw new RejectedError([await notInTrash(pool, position)]);
        return { ...jsonAnswer(200, { data: entry }), position: call.head };
      },
    }),
    route({
      method: 'post',
      path: `${ONE}/restore`,
      operationId: 'restoreTrash',
      summary: 'Restore a deleted object with its rows',
      description:
        'Its relations, alias fields and memberships are restored too if possible. Warnings name the others.',
      access: 'admin',
      query: changeQuery,
      body: withoutParsing(jsonBody(restoreRequest, { optional: true })),
      answers: { 200: restored },
      changes: true,
      handle: (call) => restore({ ...deps, texts }, takeAcknowledgements(call), positionOf(call)),
    }),
    route({
      method: 'delete',
      path: ONE,
      operationId: 'purgeTrash',
      summary: 'Purge a deleted object permanently',
      access: 'admin',
      query: changeQuery,
      description:
        'Before the retention period is over, the policy treats it like a deletion with `purge`: by `LOSES_DATA` and `DATA_NOT_KEPT`, under all names of the collection.',
      answers: { 204: null },
      changes: true,
      handle: async (call) =>
        runChange(deps, call, {
          name: 'purge-trash',
          command: await createPurgeCommand(
            { pool, collectionsAt: deps.history.collectionsAt },
            { position: positionOf(call), expired: false },
          ),
          render: ({ position }) => noContent(position),
        }),
    }),
  ];
}

/** Returns the position of the deletion from the path. */
function positionOf({ params: { position = '' } }: Call<unknown>): number {
  if (!isPosition(position))
    throw invalidQuery('position', 'An object in the trash is identified by the position of its deletion, an integer.');
  return Number(position);
}

/* Restores from the trash and reports what could not be restored. */

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
async function restore(deps: Deps, call: Call<unknown>, position: number): Promise<Answer> {
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
