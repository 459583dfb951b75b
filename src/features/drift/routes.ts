/** /schema/drift: compares the catalog with the log, lists repairs, and accepts drift into the log. */
import type pg from 'pg';
import { z } from 'zod';
import type { Point } from '../../log/fold.js';
import { findDrift } from './find.js';
import { acceptanceReport } from './accept.js';
import { changeWithReport, rehearsalQuery } from '../../http/change/change.js';
import { largeJsonAnswer } from '../../http/answer/answer.js';
import type { HttpDeps } from '../../http/deps.js';
import { noQuery } from '../../http/request/query.js';
import { acknowledge } from '../../http/openapi/answers/envelopes.js';
import { objectName } from '../../http/openapi/answers/schema.js';
import { acceptance, drift } from '../../http/openapi/answers/operating.js';
import { jsonBody, type Route, route, withoutParsing } from '../../http/route.js';

const acceptQuery = z.strictObject(rehearsalQuery);

const acceptBody = z.strictObject({
  acknowledge,
  collections: z.array(z.string()).min(1).optional(),
  fields: z
    .array(z.strictObject({ collection: z.string(), field: z.string() }))
    .min(1)
    .optional(),
  objects: z.array(objectName).min(1).optional(),
});

/** Reading drift holds the log's lock, so schema changes wait for it. */
export function driftRoutes(deps: HttpDeps): Route[] {
  const {
    pipeline,
    config: { schema, schemas, objects },
  } = deps;
  return [
    route({
      method: 'get',
      path: '/schema/drift',
      operationId: 'getDrift',
      summary: 'List drift between the database and the log, and how to resolve it',
      access: 'auditor',
      action: 'operate',
      query: noQuery,
      answers: { 200: drift },
      needsPrimary: true,
      async handle() {
        const look = async (client: pg.ClientBase, { state, head }: Point) => ({
          found: await findDrift(client, state, { schema, schemas, objects }),
          position: head.position,
        });
        const { found, position } = await pipeline.underLock(look, { readOnly: true });
        return { ...(await largeJsonAnswer({ position, ...found })), position };
      },
    }),
    route({
      method: 'post',
      path: '/schema/drift/accept',
      operationId: 'acceptDrift',
      summary: 'Accept drift: append events so that the log matches the database',
      access: 'admin',
      query: acceptQuery,
      body: withoutParsing(jsonBody(acceptBody, { example: { collections: ['customers'] } })),
      answers: { 200: acceptance },
      dryRunAnswer: acceptance,
      changes: true,
      errors: ['NOT_FOUND'],
      handle: (call) => changeWithReport(deps, call, { name: 'accept-drift', report: acceptanceReport }),
    }),
  ];
}
