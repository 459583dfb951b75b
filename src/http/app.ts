import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import { deviceRoutes } from '../features/accounts/routes-device.js';
import { authRoutes, sessionRoutes } from '../features/accounts/routes-login.js';
import { oidcRoutes } from '../features/accounts/routes-oidc.js';
import { trustRoutes } from '../features/accounts/routes-trust.js';
import { userRoutes } from '../features/accounts/routes.js';
import { adoptRoutes } from '../features/adopt/routes.js';
import { agentRoutes } from '../features/agents/routes.js';
import { proposalRoutes } from '../features/change-requests/routes-proposals.js';
import { changesRoutes } from '../features/change-requests/routes.js';
import { driftRoutes } from '../features/drift/routes.js';
import { environmentRoutes } from '../features/environments/routes.js';
import { projectionRoutes } from '../features/projections/routes.js';
import { trashRoutes } from '../features/trash/routes.js';
import { webhookRoutes } from '../features/webhooks/routes.js';
import { scheduler } from '../kernel/scheduler.js';
import { OBJECTS_OFF } from '../schema/operations/objects.js';
import { mountAdminApp } from './admin-app.js';
import { type Answer, refusalAnswer, failureAnswer } from './answer/answer.js';
import { respond } from './answer/stream.js';
import { createBodies } from './body/index.js';
import type { HttpDeps } from './deps.js';
import { readKnownSnapshot } from './documents/snapshot-pieces.js';
import { createQuotas } from './quotas.js';
import { type RequestLog, createOverloadLog, createProxyLog, createRequestLog } from './request-log.js';
import { crossOrigin, requestIdOf } from './request/headers.js';
import type { Method, Route } from './route.js';
import { collectionRoutes } from './routes/collections.js';
import { fieldRoutes } from './routes/fields.js';
import { historyRoutes } from './routes/history.js';
import { objectRoutes } from './routes/objects.js';
import { policyRoutes } from './routes/policy.js';
import { relationRoutes } from './routes/relations.js';
import { mergeRoutes, schemaRoutes, typesRoutes } from './routes/schema.js';
import { metricsRoutes, serverRoutes, openApiRoutes } from './routes/server.js';
import { serve, type ServeContext } from './serve.js';

/** Creates the application for the whole API. It does not listen on a port, and the caller manages its dependencies. */
export function createHttp(deps: HttpDeps): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').set('query parser', false);
  app.set('trust proxy', deps.config.trustProxy);
  const trust = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  const logProxy = createProxyLog(deps.logger, {
    isTrusted: (address) => trust(address, 0),
    onFound: deps.onUntrustedProxy,
  });
  app.use((req, _res, next) => {
    logProxy(req);
    next();
  });
  if (deps.config.corsOrigins.length > 0) app.use(crossOrigin(deps.config.corsOrigins));
  const serving: ServeContext = {
    deps,
    log: requestObserver(deps),
    bodies: createBodies(deps.config.maxBody, (json) =>
      readKnownSnapshot(json, deps.store.point().state, deps.config.release),
    ),
    quotas: createQuotas(deps.config.quotas),
    onOverload: createOverloadLog(deps.logger, scheduler.load),
  };
  const routes = createRoutes(deps);
  for (const path of new Set(routes.map((route) => route.path))) {
    mount(
      app,
      path,
      routes.filter((route) => route.path === path),
      serving,
    );
  }
  if (deps.config.app) mountAdminApp(app, serving.log);
  const everyMethod = allowHeader([...new Set(routes.map(({ method }) => method))]);
  app.use(
    mountFallback(
      '(none)',
      (req) => (isWholeServer(req) ? options(everyMethod) : unknownRoute(req, deps.config)),
      serving,
    ),
  );
  app.use((error: unknown, req: Request, res: Response, _next: NextFunction) => {
    const requestId = requestIdOf(req);
    respond(
      req,
      res,
      requestId,
      failureAnswer(error, requestId, { ...serving, ...deps, primaryUrl: deps.config.primaryUrl }),
    );
  });
  return app;
}

/** Counts every response and logs some. */
function requestObserver({ logger, config, metrics }: HttpDeps): RequestLog {
  const log = createRequestLog(logger, config.logReads);
  return (handled) => {
    metrics.request(handled);
    log(handled);
  };
}

/** Registers the routes of one path, and its response to other methods. */
function mount(app: Express, path: string, routes: readonly Route[], serving: ServeContext): void {
  for (const route of routes) app[route.method](path, serve(route, serving));
  const allow = allowHeader(routes.map(({ method }) => method));
  const otherMethod = (req: Request): Answer =>
    req.method === 'OPTIONS'
      ? options(allow)
      : refusalAnswer(
          [{ code: 'METHOD_NOT_ALLOWED', message: `Method ${req.method} is not allowed. Use ${allow}.` }],
          ['Allow', allow],
        );
  // `app.route().all` creates one handler, and `app.all` would create one per method.
  app.route(path).all(mountFallback(path, otherMethod, serving));
}

const options = (allow: string): Answer => ({ status: 204, headers: ['Allow', allow], body: null });

/** True for `OPTIONS *`, which concerns the server and no path. */
const isWholeServer = (req: Request): boolean => req.method === 'OPTIONS' && req.url === '*';

function allowHeader(methods: readonly Method[]): string {
  const names = methods.map((method) => method.toUpperCase());
  return [...names, ...(methods.includes('get') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
}

function unknownRoute({ path }: Request, { objects }: HttpDeps['config']): Answer {
  const message = !objects && /^\/objects(\/|$)/.test(path) ? OBJECTS_OFF : 'This path does not exist.';
  return refusalAnswer([{ code: 'ROUTE_NOT_FOUND', message }]);
}

/** Creates a handler for requests that match no route. */
function mountFallback(route: string, answerTo: (req: Request) => Answer, { log }: ServeContext) {
  return (req: Request, res: Response): void => {
    const started = performance.now();
    const requestId = requestIdOf(req);
    const answer = answerTo(req);
    respond(req, res, requestId, answer);
    log({ method: req.method, route, status: answer.status, started, requestId, position: undefined, caller: null });
  };
}

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
    ...environmentRoutes(deps),
    ...agentRoutes(deps),
    ...serverRoutes(deps),
    ...historyRoutes(deps),
    ...projectionRoutes(deps),
    ...metricsRoutes(deps),
  ];
  return [...described, ...openApiRoutes(described, deps.config.release)];
}
