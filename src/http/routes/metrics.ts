/** /metrics for Prometheus: with a token, because the numbers tell who does how much of what. */
import { noQuery } from '../request/query.js';
import { textAnswer } from '../answer/answer.js';
import type { MetricsSource } from '../deps.js';
import { route, type Route } from '../route.js';

/** Answered while the database is away too. */
export function metricsRoutes({ metrics }: { metrics: MetricsSource }): Route[] {
  return [
    route({
      method: 'get',
      path: '/metrics',
      access: 'auditor',
      query: noQuery,
      // What fails then is what they are read for.
      whileDatabaseIsAway: true,
      handle: async () => textAnswer(200, await metrics.text(), ['Content-Type', metrics.contentType]),
    }),
  ];
}
