import { z } from 'zod';
import { jsonAnswer, noContent, unwrap, largeJsonAnswer } from '../../http/answer/answer.js';
import type { HttpDeps } from '../../http/deps.js';
import { countsIn, count, metaMembers, pageLimit, noQuery } from '../../http/request/query.js';
import { data, page } from '../../http/openapi/answers/envelopes.js';
import { session } from './routes-answers.js';
import { route, type Route } from '../../http/route.js';

const listQuery = z.strictObject({
  user: z.string().optional().describe('Only sessions of this user, by id'),
  offset: count.default(0).describe('Number of items to skip'),
  limit: pageLimit,
  meta: metaMembers.optional(),
});

/** For admins. Ending a session also invalidates its access tokens. */
export function sessionRoutes({ auth: { liveSessions } }: HttpDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/sessions',
      operationId: 'listSessions',
      summary: 'List active sessions, most recently used first',
      access: 'admin',
      query: listQuery,
      answers: { 200: page(session) },
      async handle({ query: { user, offset, limit, meta } }) {
        const sessions = await liveSessions.list({ user, offset, limit });
        const counts = await countsIn(meta, {
          total_count: () => liveSessions.count(),
          filter_count: () => liveSessions.count(user),
        });
        return largeJsonAnswer({ data: sessions, ...counts });
      },
    }),
    route({
      method: 'delete',
      path: '/sessions/:id',
      operationId: 'endSession',
      summary: 'End a session and revoke its access tokens',
      access: 'admin',
      query: noQuery,
      headers: [],
      answers: { 204: null },
      async handle({ params: { id = '' } }) {
        unwrap(await liveSessions.end(id));
        return noContent();
      },
    }),
    route({
      method: 'delete',
      path: '/users/:id/sessions',
      operationId: 'endSessions',
      summary: 'End all sessions of a user. API tokens stay valid',
      access: 'admin',
      query: noQuery,
      headers: [],
      answers: { 200: data(z.strictObject({ ended: z.int().min(0) })) },
      async handle({ params: { id = '' } }) {
        return jsonAnswer(200, { data: { ended: unwrap(await liveSessions.endAll(id)) } });
      },
    }),
  ];
}
