/** /server: liveness, health and information. */
import { noQuery } from '../request/query.js';
import { snapshotHash, VENDOR } from '../../schema/snapshot/snapshot.js';
import { jsonAnswer, textAnswer } from '../answer/answer.js';
import type { HttpDeps, LoadReport } from '../deps.js';
import { largeJsonAnswer } from '../answer/json-text.js';
import { LIVE, LIVE_PATH } from '../liveness.js';
import { openRoute, route, type Route } from '../route.js';
import { runYielding } from '../../kernel/event-loop.js';
import { scheduler } from '../../kernel/scheduler.js';

/** Milliseconds after the last rejection during which the service counts as overloaded. */
const RECENT = 10_000;

function loadReport(): LoadReport {
  const { waiting, bytes, sinceRefusedMs } = scheduler.load();
  return { overloaded: sinceRefusedMs !== null && sinceRefusedMs < RECENT, waiting, answer_bytes: bytes };
}

/** Ping, live, ready and health are public; the doctor is for auditors. */
export function serverRoutes({ health, doctor, store, config }: HttpDeps): Route[] {
  const { release, databaseVersion } = config;
  return [
    openRoute({
      method: 'get',
      path: '/server/ping',
      query: noQuery,
      handle: () => textAnswer(200, 'pong', ['Content-Type', 'text/plain; charset=utf-8']),
    }),
    openRoute({ method: 'get', path: LIVE_PATH, query: noQuery, handle: () => jsonAnswer(200, LIVE) }),
    ...['/server/ready', '/server/health'].map((path) =>
      openRoute({
        method: 'get',
        path,
        query: noQuery,
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
      access: 'auditor',
      query: noQuery,
      async handle() {
        const checks = await doctor();
        return largeJsonAnswer({ data: { ok: checks.every(({ result }) => result !== 'error'), checks } });
      },
    }),
    route({
      method: 'get',
      path: '/server/info',
      access: 'reader',
      query: noQuery,
      async handle({ head }) {
        const state = await store.atHead(head);
        const { position } = state;
        const hash = await runYielding(snapshotHash(state, release));
        const data = { release, vendor: VENDOR, database_version: databaseVersion, position, hash };
        return { ...jsonAnswer(200, { data }), position };
      },
    }),
  ];
}
