/**
 * /changes/{id}/rebase and /revert: rebases a request onto the current schema, and creates one that reverts another.
 */
import { noQuery } from '../request/query.js';
import { randomUUID } from 'node:crypto';
import { runYielding } from '../../kernel/event-loop.js';
import type { Return } from '../../projector/trash/returning.js';
import { readResolutions } from '../../schema/merge/resolutions.js';
import { unwrap } from '../answer/answer.js';
import { readShape } from '../body/shape.js';
import * as bodies from '../change-requests/bodies.js';
import { findChange, findOwnChange } from '../change-requests/find.js';
import type { HttpDeps } from '../deps.js';
import { acted, withReason } from '../change-requests/act.js';
import { route, type Route, NO_ACKNOWLEDGE } from '../route.js';

/** For authors. Only admins may rebase another user's request. */
export function changeRebaseRoutes({ changes }: HttpDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/changes/:id/rebase',
      heeds: NO_ACKNOWLEDGE,
      access: 'author',
      query: noQuery,
      body: 'document',
      optionalBody: true,
      async handle(call) {
        const request = await findOwnChange(changes, call);
        const { resolve } = readShape(bodies.changeRebase, call.body ?? {});
        const resolutions = unwrap(await runYielding(readResolutions(resolve)));
        const run = (context: Parameters<typeof changes.rebase>[2]) => changes.rebase(request.id, resolutions, context);
        return acted(call, 'rebase-change', { run }, { request });
      },
    }),
    route({
      method: 'post',
      path: '/changes/:id/revert',
      heeds: NO_ACKNOWLEDGE,
      access: 'author',
      query: noQuery,
      body: 'document',
      optionalBody: true,
      async handle(call) {
        const { id } = await findChange(changes, call);
        const { title, reason, online, resolve } = readShape(bodies.changeRevert, call.body ?? {});
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
