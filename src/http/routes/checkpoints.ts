/** /history/checkpoint: what the log is now, signed, for auditors; and the keys that sign. */
import { noQuery } from '../request/query.js';
import { jsonAnswer, textAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { type Route, route } from '../route.js';

/** A checkpoint is signed for each auditor who asks; admins replace the key. */
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
