/** POST /schema/adopt: turns existing tables into collections. */
import { z } from 'zod';
import { adoptionReport } from './read.js';
import { changeWithReport, rehearsalQuery } from '../../http/change/change.js';
import type { HttpDeps } from '../../http/deps.js';
import { acknowledge } from '../../http/openapi/answers/envelopes.js';
import { objectName } from '../../http/openapi/answers/schema.js';
import { adoption } from '../../http/openapi/answers/operating.js';
import { jsonBody, type Route, route, withoutParsing } from '../../http/route.js';

const query = z.strictObject(rehearsalQuery);

const body = z.union([
  z.strictObject({ tables: z.array(z.string()).min(1), objects: z.array(objectName).min(1).optional(), acknowledge }),
  z.strictObject({ objects: z.array(objectName).min(1), acknowledge }),
  z.strictObject({ all: z.literal(true), acknowledge }),
]);

/** Available to admins. A dry run stores nothing. */
export function adoptRoutes(deps: HttpDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/schema/adopt',
      operationId: 'adoptTables',
      summary: 'Adopt existing tables without changing them',
      access: 'admin',
      query,
      body: withoutParsing(jsonBody(body, { example: { tables: ['customers', 'orders'] } })),
      answers: { 200: adoption },
      dryRunAnswer: adoption,
      changes: true,
      errors: ['NOT_FOUND'],
      handle: (call) => changeWithReport(deps, call, { name: 'adopt-tables', report: adoptionReport }),
    }),
  ];
}
