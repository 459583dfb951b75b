/** Valid and almost valid requests to every route of the OpenAPI document. */
import type { FuzzRequest } from '../request.js';
import { ACCOUNTS_AND_SERVER } from './accounts.js';
import { CHANGES } from './changes.js';
import { COLLECTIONS } from './collections.js';
import type { Context, Rules } from './context.js';
import { FIELDS_AND_RELATIONS } from './fields.js';
import { HISTORY_AND_PROJECTIONS } from './history.js';
import { POLICY } from './policy.js';
import { SCHEMA } from './schema.js';
import { TRASH } from './trash.js';

export const GRAMMAR: Rules = {
  ...COLLECTIONS,
  ...FIELDS_AND_RELATIONS,
  ...SCHEMA,
  ...CHANGES,
  ...POLICY,
  ...TRASH,
  ...HISTORY_AND_PROJECTIONS,
  ...ACCOUNTS_AND_SERVER,
};

const ROUTES = Object.keys(GRAMMAR);

/** Weights are tenths. Each rule occurs in proportion to its weight. */
const DRAWN = ROUTES.flatMap((route) => Array<string>(Math.round((GRAMMAR[route]?.weight ?? 0) * 10)).fill(route));

/** The next request. The weights decide its route. */
export function nextRequest(context: Context): FuzzRequest {
  return requestOf(context.random.pick(DRAWN), context);
}

function requestOf(route: string, context: Context): FuzzRequest {
  const request = GRAMMAR[route]?.make(context);
  if (request === undefined) throw new Error(`the grammar has no ${route}`);
  return { caller: 'admin', query: [], headers: {}, ...request, route, method: route.split(' ')[0] as string };
}
