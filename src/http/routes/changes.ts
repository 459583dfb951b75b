/** /changes: change requests (auditors read, admins withdraw). */
import { z } from 'zod';
import { WITHDRAW } from '../../pipeline/change-requests/index.js';
import { CHANGE_STATES } from '../../schema/change-requests/model.js';
import { type Answer, jsonAnswer } from '../answer.js';
import { changeBody, recorded } from '../change.js';
import type { HttpDeps } from '../deps.js';
import { refused } from '../errors.js';
import { largeJsonAnswer } from '../json-text.js';
import { count, metaMembers, pageLimit } from '../query.js';
import { type Call, route, type Route } from '../route.js';

const noQuery = z.strictObject({});
const listQuery = z.strictObject({
  state: z.enum(CHANGE_STATES, { error: `must be one of ${CHANGE_STATES.join(', ')}.` }).optional(),
  collection: z.string().optional().describe('Only those that change this collection'),
  offset: count.default(0).describe('How many items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});

export function changesRoutes({ changes }: Pick<HttpDeps, 'changes'>): Route[] {
  /** @throws Refused NOT_FOUND */
  const shown = async (id: string): Promise<object> => {
    const found = UUID.test(id) ? await changes.retrieve(id) : undefined;
    if (found === undefined) throw refused('NOT_FOUND', `There is no change request ${JSON.stringify(id)}.`);
    return changeBody(found);
  };
  return [
    route({
      method: 'get',
      path: '/changes',
      access: 'auditor',
      query: listQuery,
      async handle({ query: { state, collection, offset, limit, meta } }) {
        const { changes: data, total, filtered } = await changes.list({ state, collection }, { offset, limit });
        const counts = { total_count: total, filter_count: filtered };
        const wanted = meta && Object.fromEntries(meta.map((member) => [member, counts[member]]));
        return largeJsonAnswer({ data, ...(wanted && { meta: wanted }) });
      },
    }),
    route({
      method: 'get',
      path: '/changes/:id',
      access: 'auditor',
      query: noQuery,
      handle: async (call) => largeJsonAnswer({ data: await shown(idOf(call)) }),
    }),
    route({
      method: 'post',
      path: '/changes/:id/withdraw',
      access: 'admin',
      query: noQuery,
      async handle(call): Promise<Answer> {
        const id = idOf(call);
        const before = await shown(id);
        return recorded(call, WITHDRAW, {
          run: (context) => changes.withdraw(id, context),
          render: ({ position, events }) => {
            const changed_at = events[0]?.occurred_at;
            const data = {
              ...before,
              state: 'withdrawn',
              changed_at,
              cleaning: true,
              holds: [],
              waiting_for: [],
              allowed: [],
            };
            return { ...jsonAnswer(200, { data }), position };
          },
        });
      },
    }),
  ];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const idOf = ({ params }: Call<unknown>): string => (params['id'] ?? '').toLowerCase();
