/** /history/checkpoint: the signed state of the log for auditors, and the signing keys. */
import { z } from 'zod';
import { noQuery } from '../request/query.js';
import { jsonAnswer, textAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { data } from '../openapi/answers/envelopes.js';
import { checkpointKey } from '../openapi/answers/history.js';
import { type Route, route } from '../route.js';

/** Each request by an auditor signs a checkpoint. Admins rotate the key. */
export function checkpointRoutes({ checkpoints }: Pick<HttpDeps, 'checkpoints'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/history/checkpoint',
      operationId: 'getCheckpoint',
      summary: 'Position, hash, time and origin of the log, signed: a signed note, to be kept elsewhere',
      access: 'auditor',
      query: noQuery,
      answers: { 200: ['text/plain'] },
      errors: ['NOT_FOUND', 'LOG_DIVERGED'],
      async handle() {
        const { note, position } = await checkpoints.sign();
        return { ...textAnswer(200, note, ['Content-Type', 'text/plain; charset=utf-8']), position };
      },
    }),
    route({
      method: 'get',
      path: '/history/checkpoint/keys',
      operationId: 'listCheckpointKeys',
      summary: 'The public keys that checkpoints are and were signed with',
      access: 'auditor',
      query: noQuery,
      answers: { 200: data(z.array(checkpointKey)) },
      async handle() {
        return jsonAnswer(200, { data: await checkpoints.list() });
      },
    }),
    route({
      method: 'post',
      path: '/history/checkpoint/keys',
      operationId: 'rotateCheckpointKey',
      summary: 'Sign with a new key that is kept in the database; the public half of the one before stays',
      access: 'admin',
      query: noQuery,
      headers: [],
      answers: { 200: data(checkpointKey) },
      errors: ['IN_USE'],
      async handle() {
        return jsonAnswer(200, { data: await checkpoints.rotate() });
      },
    }),
  ];
}
