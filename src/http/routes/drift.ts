/** GET /schema/drift: the catalog against the log, with what would end each difference. */
import type pg from 'pg';
import { z } from 'zod';
import type { Point } from '../../reads/fold-log.js';
import { findDrift } from '../../projector/drift/find.js';
import { jsonAnswer } from '../answer.js';
import type { HttpDeps } from '../deps.js';
import { type Route, route } from '../route.js';

const noQuery = z.strictObject({});

export function driftRoutes({ pipeline, config: { schema } }: HttpDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/schema/drift',
      access: 'auditor',
      query: noQuery,
      async handle() {
        const look = async (client: pg.ClientBase, { state, head }: Point) => ({
          drift: await findDrift(client, state, schema),
          position: head.position,
        });
        const { drift, position } = await pipeline.underLock(look, { readOnly: true });
        return { ...jsonAnswer(200, { position, ...drift }), position };
      },
    }),
  ];
}
