import { z } from 'zod';
import { jsonAnswer, noContent, unwrap } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { largeJsonAnswer } from '../answer/json-text.js';
import { countsIn, count, metaMembers, pageLimit, noQuery } from '../request/query.js';
import { route, type Route } from '../route.js';

const listQuery = z.strictObject({
  user: z.string().optional().describe('Only those of this user, by id'),
  offset: count.default(0).describe('How many items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});

/** For admins. Ending a session also invalidates its access tokens. */
export function sessionRoutes({ auth: { liveSessions } }: HttpDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/sessions',
      access: 'admin',
      query: listQuery,
      async handle({ query: { user, offset, limit, meta } }) {
        const data = await liveSessions.list({ user, offset, limit });
        const counts = await countsIn(meta, {
          total_count: () => liveSessions.count(),
          filter_count: () => liveSessions.count(user),
        });
        return largeJsonAnswer({ data, ...counts });
      },
    }),
    route({
      method: 'delete',
      path: '/sessions/:id',
      access: 'admin',
      query: noQuery,
      heeds: [],
      async handle({ params: { id = '' } }) {
        unwrap(await liveSessions.end(id));
        return noContent();
      },
    }),
    route({
      method: 'delete',
      path: '/users/:id/sessions',
      access: 'admin',
      query: noQuery,
      heeds: [],
      async handle({ params: { id = '' } }) {
        return jsonAnswer(200, { data: { ended: unwrap(await liveSessions.endAll(id)) } });
      },
    }),
  ];
}
