/** /history/checkpoint: the signed state of the log for auditors, and the signing keys. */
import { noQuery } from '../request/query.js';
import { jsonAnswer, textAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { type Route, route } from '../route.js';

/** Each request by an auditor signs a checkpoint. Admins rotate the key. */
export function checkpointRoutes({ checkpoints }: Pick<HttpDeps, 'checkpoints'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/history/checkpoint',
      access: 'auditor',
      query: noQuery,
      async handle() {
        const { note, position } = await checkpoints.sign();
        return { ...textAnswer(200, note, ['Content-Type', 'text/plain; charset=utf-8']), position };
      },
    }),
    route({
      method: 'get',
      path: '/history/checkpoint/keys',
      access: 'auditor',
      query: noQuery,
      async handle() {
        return jsonAnswer(200, { data: await checkpoints.list() });
      },
    }),
    route({
      method: 'post',
      path: '/history/checkpoint/keys',
      access: 'admin',
      query: noQuery,
      heeds: [],
      async handle() {
        return jsonAnswer(200, { data: await checkpoints.rotate() });
      },
    }),
  ];
}
