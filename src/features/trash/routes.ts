/** Routes of /trash. Auditors may list deleted objects. Admins may restore and purge them. */
import { z } from 'zod';
import { countTrash, findInTrash, notInTrash, readTrash } from './rows.js';
import { takeAcknowledgements, runChange, rehearsalQuery } from '../../http/change/change.js';
import { jsonAnswer, noContent, largeJsonAnswer } from '../../http/answer/answer.js';
import type { HttpDeps } from '../../http/deps.js';
import { RejectedError, invalidQuery } from '../../http/errors.js';
import { createCollectionTexts } from '../../http/documents/texts.js';
import { readCounts, count, metaMembers, pageLimit, noQuery } from '../../http/request/query.js';
import { createPurgeCommand } from './purger.js';
import { restore } from './routes-restore.js';
import { isPosition } from '../../kernel/position.js';
import { acknowledge, data, page } from '../../http/openapi/answers/envelopes.js';
import { restored, trashEntry } from './routes-answers.js';
import { type Call, jsonBody, type Route, route, withoutParsing } from '../../http/route.js';

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
        'Names of objects that are not restored: foreign keys and ids of privileges. For a field also its NOT NULL, unique, index and checks',
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
      summary: 'Retrieve a deleted object of the trash',
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
        'Before the retention period is over, the policy judges it like a deletion with `purge`: by `LOSES_DATA` and `DATA_NOT_KEPT`, under all names of the collection.',
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
    throw invalidQuery('position', 'An object of the trash is identified by the position of its deletion, an integer.');
  return Number(position);
}
