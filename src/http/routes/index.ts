import type { HttpDeps } from '../deps.js';
import type { Route } from '../route.js';
import { adoptRoutes } from './adopt.js';
import { authRoutes } from './auth.js';
import { changesRoutes } from './changes.js';
import { collectionRoutes } from './collections.js';
import { driftRoutes } from './drift.js';
import { fieldRoutes } from './fields.js';
import { historyRoutes } from './history.js';
import { mergeRoutes } from './merge.js';
import { metricsRoutes } from './metrics.js';
import { policyRoutes } from './policy.js';
import { proposalRoutes } from './proposals.js';
import { projectionRoutes } from './projections.js';
import { relationRoutes } from './relations.js';
import { schemaRoutes } from './schema.js';
import { openApiRoutes } from './openapi.js';
import { serverRoutes } from './server.js';
import { sessionRoutes } from './sessions.js';
import { trashRoutes } from './trash.js';
import { typesRoutes } from './types.js';
import { userRoutes } from './users.js';

/** In matching order. The OpenAPI document comes last and describes all the others. */
export function createRoutes(deps: HttpDeps): Route[] {
  const described = [
    ...collectionRoutes(deps),
    ...fieldRoutes(deps),
    ...relationRoutes(deps),
    ...schemaRoutes(deps),
    ...mergeRoutes(deps),
    ...typesRoutes(deps),
    ...changesRoutes(deps),
    ...proposalRoutes(deps),
    ...policyRoutes(deps),
    ...adoptRoutes(deps),
    ...driftRoutes(deps),
    ...trashRoutes(deps),
    ...authRoutes(deps),
    ...userRoutes(deps),
    ...sessionRoutes(deps),
    ...serverRoutes(deps),
    ...historyRoutes(deps),
    ...projectionRoutes(deps),
    ...metricsRoutes(deps),
  ];
  return [...described, ...openApiRoutes(described, deps.config.release)];
}
