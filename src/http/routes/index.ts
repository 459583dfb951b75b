import type { HttpDeps } from '../deps.js';
import type { Route } from '../route.js';
import { agentRoutes } from '../../features/agents/routes.js';
import { adoptRoutes } from '../../features/adopt/routes.js';
import { authRoutes } from '../../features/accounts/routes-login.js';
import { changesRoutes } from '../../features/change-requests/routes.js';
import { collectionRoutes } from './collections.js';
import { driftRoutes } from '../../features/drift/routes.js';
import { fieldRoutes } from './fields.js';
import { historyRoutes } from './history.js';
import { mergeRoutes } from './merge.js';
import { metricsRoutes, serverRoutes } from './server.js';
import { objectRoutes } from './objects.js';
import { deviceRoutes } from '../../features/accounts/routes-device.js';
import { oidcRoutes } from '../../features/accounts/routes-oidc.js';
import { policyRoutes } from './policy.js';
import { proposalRoutes } from '../../features/change-requests/routes-proposals.js';
import { projectionRoutes } from '../../features/projections/routes.js';
import { relationRoutes } from './relations.js';
import { schemaRoutes, typesRoutes } from './schema.js';
import { openApiRoutes } from './openapi.js';
import { sessionRoutes } from '../../features/accounts/routes-login.js';
import { trashRoutes } from '../../features/trash/routes.js';
import { trustRoutes } from '../../features/accounts/routes-trust.js';
import { userRoutes } from '../../features/accounts/routes.js';
import { webhookRoutes } from '../../features/webhooks/routes.js';

/** Returns the routes in matching order. The routes of the OpenAPI document come last and describe all others. */
export function createRoutes(deps: HttpDeps): Route[] {
  const described = [
    ...collectionRoutes(deps),
    ...fieldRoutes(deps),
    ...relationRoutes(deps),
    ...(deps.config.objects ? objectRoutes(deps) : []),
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
    ...oidcRoutes(deps),
    ...deviceRoutes(deps),
    ...trustRoutes(deps),
    ...userRoutes(deps),
    ...sessionRoutes(deps),
    ...webhookRoutes(deps),
    ...agentRoutes(deps),
    ...serverRoutes(deps),
    ...historyRoutes(deps),
    ...projectionRoutes(deps),
    ...metricsRoutes(deps),
  ];
  return [...described, ...openApiRoutes(described, deps.config.release)];
}
