/** Routes of /server for liveness, health and information. */
import { z } from 'zod';
import { bytes } from '../../kernel/bytes.js';
import { runYielding } from '../../kernel/event-loop.js';
import { scheduler, runShared } from '../../kernel/scheduler.js';
import { type Rendered, renderInChunks } from '../../reads/rendered-cache.js';
import { snapshotHash, VENDOR } from '../../schema/snapshot/snapshot.js';
import { jsonAnswer, textAnswer, largeJsonAnswer, JSON_TYPE } from '../answer/answer.js';
import { representationAnswer } from '../answer/representation.js';
import type { HttpDeps, LoadReport, MetricsSource } from '../deps.js';
import { data } from '../openapi/answers/envelopes.js';
import * as operating from '../openapi/answers/operating.js';
import { noQuery } from '../request/query.js';
import { type Documentation, route, type Route } from '../route.js';
import { LIVE, LIVE_PATH } from '../server.js';

/** Number of milliseconds after the last rejection in which the service counts as overloaded. */
const RECENT = 10_000;

function loadReport(): LoadReport {
  const { waiting, bytes, sinceRefusedMs } = scheduler.load();
  return { overloaded: sinceRefusedMs !== null && sinceRefusedMs < RECENT, waiting, answer_bytes: bytes };
}

/** The paths of the readiness report. Both return the same report. */
const READINESS: readonly (Pick<Documentation, 'operationId' | 'summary'> & { path: string })[] = [
  {
    path: '/server/ready',
    operationId: 'getReady',
    summary:
      'Check that the service is ready to serve requests, or reads on a standby. Responds with 503 if not. For readiness probes and load balancers',
  },
  { path: '/server/health', operationId: 'getHealth', summary: 'Same as /server/ready' },
];

/** Ping, live, ready and health need no token. The doctor is for auditors. */
export function serverRoutes({ health, doctor, store, config }: HttpDeps): Route[] {
  const { release, databaseVersion } = config;
  return [
    route({
      method: 'get',
      path: '/server/ping',
      operationId: 'ping',
      summary: 'Check that the service responds',
      access: 'anyone',
      query: noQuery,
      answers: { 200: ['text/plain'] },
      handle: () => textAnswer(200, 'pong', ['Content-Type', 'text/plain; charset=utf-8']),
    }),
    route({
      method: 'get',
      path: LIVE_PATH,
      operationId: 'getLive',
      summary:
        'Check that the process responds, even while it starts or its database is unavailable. For liveness probes',
      access: 'anyone',
      query: noQuery,
      answers: { 200: operating.live },
      handle: () => jsonAnswer(200, LIVE),
    }),
    ...READINESS.map((described) =>
      route({
        ...described,
        method: 'get',
        access: 'anyone',
        query: noQuery,
        answers: { 200: operating.health, 503: operating.health },
        async handle() {
          const checks = await health();
          const ok = Object.values(checks).every((check) => check.ok);
          const report = { status: ok ? 'ok' : 'error', checks, load: loadReport() };
          return jsonAnswer(ok ? 200 : 503, report, ok ? [] : ['Retry-After', '2']);
        },
      }),
    ),
    route({
      method: 'get',
      path: '/server/doctor',
      operationId: 'examine',
      summary:
        'Run the checks of `dps doctor`: settings, privileges, the log and the projections. Each finding says how to fix it',
      description: 'It reads the whole log and returns the same findings as the command. It changes nothing.',
      access: 'auditor',
      action: 'operate',
      query: noQuery,
      answers: { 200: data(operating.examination) },
      async handle() {
        const checks = await doctor();
        return largeJsonAnswer({ data: { ok: checks.every(({ result }) => result !== 'error'), checks } });
      },
    }),
    route({
      method: 'get',
      path: '/server/info',
      operationId: 'getInfo',
      summary: 'Retrieve the version of the service and the state of the schema',
      access: 'reader',
      query: noQuery,
      answers: { 200: data(operating.info) },
      async handle({ head }) {
        const state = await store.atHead(head);
        const { position } = state;
        const hash = await runYielding(snapshotHash(state, release));
        const info = {
          release,
          vendor: VENDOR,
          database_version: databaseVersion,
          position,
          hash,
          ...(config.objects && { objects: true as const }),
        };
        return { ...jsonAnswer(200, { data: info }), position };
      },
    }),
  ];
}

/* /metrics for Prometheus. It needs a token, because the numbers reveal usage. */

/** Metrics are also served while the database is unavailable. */
export function metricsRoutes({ metrics }: { metrics: MetricsSource }): Route[] {
  return [
    route({
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Retrieve metrics for Prometheus',
      access: 'auditor',
      action: 'operate',
      query: noQuery,
      answers: { 200: ['text/plain'] },
      // Operators need metrics most during such a failure.
      whileDatabaseIsAway: true,
      handle: async () => textAnswer(200, await metrics.text(), ['Content-Type', metrics.contentType]),
    }),
  ];
}

/* Routes of the API description, as a document for programs and as a page. */

/** The path of this service, and the path that Directus clients use. */
const DOCUMENTS: readonly (Pick<Documentation, 'operationId' | 'summary'> & { path: string })[] = [
  { path: '/server/openapi.json', operationId: 'getOpenApi', summary: 'Retrieve this document' },
  {
    path: '/server/specs/oas',
    operationId: 'readOpenApiSpec',
    summary: 'Retrieve this document at the path that Directus clients use',
  },
];

const HTML_TYPE = 'text/html; charset=utf-8';

/**
 * Returns the routes of the OpenAPI document. The document describes `routes` and these routes. It is built at the
 * first request, because most processes never serve it.
 */
export function openApiRoutes(routes: readonly Route[], release: string): Route[] {
  const own: Route[] = [
    ...DOCUMENTS.map((described) =>
      route({
        ...described,
        method: 'get',
        access: 'reader',
        query: noQuery,
        answers: { 200: z.looseObject({ openapi: z.string() }) },
        validated: true,
        handle: async ({ req }) => representationAnswer({ ...(await getRendered()).document, type: JSON_TYPE }, req),
      }),
    ),
    route({
      method: 'get',
      path: '/docs',
      operationId: 'getDocs',
      summary: 'Retrieve this document as a page',
      access: 'anyone',
      query: noQuery,
      answers: { 200: ['text/html'] },
      validated: true,
      async handle({ req }) {
        const { page, policy } = await getRendered();
        const headers = ['Content-Security-Policy', policy, 'Referrer-Policy', 'no-referrer'];
        return representationAnswer({ ...page, type: HTML_TYPE }, req, headers);
      },
    }),
  ];
  let making: Promise<RenderedApi> | undefined;
  const getRendered = (): Promise<RenderedApi> => (making ??= runShared(() => renderAll([...routes, ...own], release)));
  return own;
}

interface RenderedApi {
  document: Rendered;
  page: Rendered;
  policy: string;
}

async function renderAll(routes: readonly Route[], release: string): Promise<RenderedApi> {
  const { openApiDocument } = await import('../openapi/document.js');
  const { PAGE_POLICY: policy, pageOf } = await import('../openapi/page.js');
  const described = openApiDocument(routes, release);
  const rendered = (text: string) => runYielding(renderInChunks(bytes([text])));
  return { document: await rendered(JSON.stringify(described)), page: await rendered(pageOf(described)), policy };
}
