/** /schema/drift: compares the catalog with the log, lists repairs, and accepts drift into the log. */
import type pg from 'pg';
import { z } from 'zod';
import type { Point } from '../../log/fold.js';
import { findDrift } from '../../projector/drift/find.js';
import { accepting } from '../../pipeline/prepare/accept-drift.js';
import { takeAcknowledged, change, rehearse, commandOf, isRehearsal, rehearsalQuery } from '../change/change.js';
import { jsonAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { noQuery } from '../request/query.js';
import { largeJsonAnswer } from '../answer/json-text.js';
import { type Route, route } from '../route.js';

const acceptQuery = z.strictObject(rehearsalQuery);

/** Reading drift holds the log's lock, so changes wait for it. */
export function driftRoutes(deps: HttpDeps): Route[] {
  const {
    pipeline,
    config: { schema },
  } = deps;
  return [
    route({
      method: 'get',
      path: '/schema/drift',
      access: 'auditor',
      query: noQuery,
      needsPrimary: true,
      async handle() {
        const look = async (client: pg.ClientBase, { state, head }: Point) => ({
          drift: await findDrift(client, state, schema),
          position: head.position,
        });
        const { drift, position } = await pipeline.underLock(look, { readOnly: true });
        return { ...(await largeJsonAnswer({ position, ...drift })), position };
      },
    }),
    route({
      method: 'post',
      path: '/schema/drift/accept',
      access: 'admin',
      query: acceptQuery,
      body: 'json',
      async handle(asked) {
        const call = takeAcknowledged(asked);
        const { request } = await commandOf('accept-drift', { body: call.body });
        const work = accepting(request, schema);
        if (isRehearsal(call)) return rehearse(deps, call, { name: 'accept-drift', ...work });
        return change(deps, call, {
          name: 'accept-drift',
          command: work.command,
          render: ({ position }) => ({ ...jsonAnswer(200, work.report()), position }),
        });
      },
    }),
  ];
}
