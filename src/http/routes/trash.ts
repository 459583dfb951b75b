/** /trash: deleted objects (auditors); restore and purge (admins). */
import { z } from 'zod';
import { purging } from '../../pipeline/prepare/purge.js';
import { countTrash, findInTrash, notInTrash, readTrash } from '../../projector/trash/list.js';
import { takeAcknowledged, change, rehearsalQuery } from '../change/change.js';
import { jsonAnswer, noContent } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { Refused, invalidQuery } from '../errors.js';
import { createCollectionTexts } from '../documents/collection-texts.js';
import { countsIn, count, metaMembers, pageLimit, noQuery } from '../request/query.js';
import { restore } from '../change/restore.js';
import { largeJsonAnswer } from '../answer/json-text.js';
import { isPosition } from '../../kernel/position.js';
import { type Call, type Route, route, NO_ACKNOWLEDGE } from '../route.js';

const PATH = '/trash';
const ONE = '/trash/:position';

const listQuery = z.strictObject({
  offset: count.default(0).describe('How many items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});
const changeQuery = z.strictObject(rehearsalQuery);

/** Entries are identified by the position of their deletion. */
export function trashRoutes(deps: HttpDeps): Route[] {
  const { pool } = deps;
  const texts = createCollectionTexts(deps.config, deps.systemCollections);
  return [
    route({
      method: 'get',
      path: PATH,
      access: 'auditor',
      query: listQuery,
      async handle({ head, query: { offset, limit, meta } }) {
        const data = await readTrash(pool, { offset, limit });
        const count = () => countTrash(pool);
        const counts = await countsIn(meta, { total_count: count, filter_count: count });
        return { ...(await largeJsonAnswer({ data, ...counts })), position: head };
      },
    }),
    route({
      method: 'get',
      path: ONE,
      access: 'auditor',
      query: noQuery,
      async handle(call) {
        const position = positionOf(call);
        const entry = await findInTrash(pool, position);
        if (entry === undefined) throw new Refused([await notInTrash(pool, position)]);
        return { ...jsonAnswer(200, { data: entry }), position: call.head };
      },
    }),
    route({
      method: 'post',
      path: `${ONE}/restore`,
      access: 'admin',
      query: changeQuery,
      body: 'json',
      optionalBody: true,
      handle: (call) => restore({ ...deps, texts }, takeAcknowledged(call), positionOf(call)),
    }),
    route({
      method: 'delete',
      path: ONE,
      access: 'admin',
      query: changeQuery,
      // The policy already judged the objects when they were deleted.
      heeds: NO_ACKNOWLEDGE,
      handle: (call) =>
        change(deps, call, {
          name: 'purge-trash',
          command: purging(positionOf(call)),
          render: ({ position }) => noContent(position),
        }),
    }),
  ];
}

/** The position of the deletion in the path. */
function positionOf({ params: { position = '' } }: Call<unknown>): number {
  if (!isPosition(position))
    throw invalidQuery('position', 'What is in the trash is named by the position of its deletion: a whole number.');
  return Number(position);
}
