/**
 * /changes/{id}/rebase and /revert: rebases a request onto the current schema, and creates one that reverts another.
 */
import { noQuery } from '../request/query.js';
import { randomUUID } from 'node:crypto';
import { runYielding } from '../../kernel/event-loop.js';
import type { Return } from '../../projector/trash/list.js';
import { readResolutions } from '../../schema/merge/model.js';
import { unwrap } from '../answer/answer.js';
import * as bodies from '../change-requests/bodies.js';
import { findChange, findOwnChange, acted, withReason } from '../change-requests.js';
import type { HttpDeps } from '../deps.js';
import { data } from '../openapi/answers/envelopes.js';
import { actedOn, reverting } from '../openapi/answers/changes.js';
import { documentBody, route, type Route, NO_ACKNOWLEDGE } from '../route.js';

/** For authors. Only admins may rebase another user's request. */
export function changeRebaseRoutes({ changes }: HttpDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/changes/:id/rebase',
      operationId: 'rebaseChange',
      summary: 'Merge what a change request asks for onto the schema as it is now',
      access: 'author',
      query: noQuery,
      body: documentBody(bodies.changeRebase, { optional: true }),
      headers: NO_ACKNOWLEDGE,
      answers: { 200: data(actedOn) },
      changes: true,
      errors: ['INVALID_STATE', 'PLAN_CHANGED', 'SCHEMA_CHANGED', 'MERGE_CONFLICT'],
      async handle(call) {
        const request = await findOwnChange(changes, call);
        const resolutions = unwrap(await runYielding(readResolutions(call.body.resolve)));
        const run = (context: Parameters<typeof changes.rebase>[2]) => changes.rebase(request.id, resolutions, context);
        return acted(call, 'rebase-change', { run }, { request });
      },
    }),
    route({
      method: 'post',
      path: '/changes/:id/revert',
      operationId: 'revertChange',
      summary: 'Open a change request that takes back what an applied one did',
      access: 'author',
      query: noQuery,
      body: documentBody(bodies.changeRevert, { optional: true }),
      headers: NO_ACKNOWLEDGE,
      answers: { 200: data(reverting), 201: data(reverting) },
      changes: true,
      errors: ['INVALID_STATE', 'PLAN_CHANGED', 'SCHEMA_CHANGED', 'MERGE_CONFLICT'],
      async handle(call) {
        const { id } = await findChange(changes, call);
        const { title, reason, online, resolve } = call.body;
        const resolutions = unwrap(await runYielding(readResolutions(resolve)));
        let returns: readonly Return[] = [];
        const how = {
          id,
          newId: randomUUID(),
          title,
          online,
          resolutions,
          onReturns: (found: typeof returns) => void (returns = found),
        };
        const run = (context: Parameters<typeof changes.revert>[1]) => changes.revert(how, withReason(context, reason));
        return acted(call, 'revert-change', { run }, { more: () => ({ returns }) });
      },
    }),
  ];
}
