/** /projections: status (auditors), verification and rebuild (admins). */
import { z } from 'zod';
import { noQuery } from '../../http/request/query.js';
import { PROJECTION_NAMES } from '../../projector/replay.js';
import { type Projections, isProjectionName } from './index.js';
import { jsonAnswer, largeJsonAnswer } from '../../http/answer/answer.js';
import { refused } from '../../http/errors.js';
import { data } from '../../http/openapi/answers/envelopes.js';
import * as operating from '../../http/openapi/answers/operating.js';
import { route, type Route } from '../../http/route.js';

/** The response to a rebuild is sent when it is done. */
export function projectionRoutes({ projections }: { projections: Projections }): Route[] {
  return [
    route({
      method: 'get',
      path: '/projections',
      operationId: 'listProjections',
      summary: 'Retrieve the progress of each projection',
      access: 'auditor',
      action: 'operate',
      query: noQuery,
      answers: { 200: data(z.array(operating.projection)) },
      async handle() {
        const { head, projections: all } = await projections.list();
        return { ...jsonAnswer(200, { data: all }), position: head };
      },
    }),
    route({
      method: 'get',
      path: '/projections/verify',
      operationId: 'verifyProjections',
      summary: 'Compare the log, the metadata rows and the catalog',
      access: 'auditor',
      action: 'operate',
      query: noQuery,
      answers: { 200: data(operating.verification) },
      needsPrimary: true,
      async handle() {
        const verified = await projections.verify();
        return { ...(await largeJsonAnswer({ data: verified })), position: verified.position };
      },
    }),
    route({
      method: 'post',
      path: '/projections/:name/rebuild',
      operationId: 'rebuildProjection',
      summary: 'Rebuild a projection from the log',
      access: 'admin',
      action: 'operate',
      query: noQuery,
      headers: [],
      answers: { 200: data(operating.rebuilt) },
      errors: ['IN_USE', 'DATABASE_REFUSED'],
      async handle({ params: { name = '' } }) {
        if (!isProjectionName(name)) {
          throw refused(
            'NOT_FOUND',
            `Projection ${JSON.stringify(name)} does not exist. Use one of ${PROJECTION_NAMES.join(', ')}.`,
          );
        }
        const rebuilt = await projections.rebuild(name);
        return { ...jsonAnswer(200, { data: rebuilt }), position: rebuilt.position };
      },
    }),
  ];
}
