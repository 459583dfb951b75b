/** POST /schema/adopt: turns existing tables into collections. */
import { z } from 'zod';
import { adopting } from '../../pipeline/prepare/adopt.js';
import { takeAcknowledged, change, rehearse, commandOf, isRehearsal, rehearsalQuery } from '../change/change.js';
import { jsonAnswer } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { type Route, route } from '../route.js';

const query = z.strictObject(rehearsalQuery);

/** For admins. A dry run stores nothing. */
export function adoptRoutes(deps: HttpDeps): Route[] {
  const {
    config: { schema },
  } = deps;
  return [
    route({
      method: 'post',
      path: '/schema/adopt',
      access: 'admin',
      query,
      body: 'json',
      async handle(asked) {
        const call = takeAcknowledged(asked);
        const { request } = await commandOf('adopt-tables', { body: call.body });
        const work = adopting(request, schema);
        if (isRehearsal(call)) return rehearse(deps, call, { name: 'adopt-tables', ...work });
        return change(deps, call, {
          name: 'adopt-tables',
          command: work.command,
          render: ({ position }) => ({ ...jsonAnswer(200, work.report()), position }),
        });
      },
    }),
  ];
}
