/** /metrics for Prometheus. It needs a token, because the numbers reveal usage. */
import { noQuery } from '../request/query.js';
import { textAnswer } from '../answer/answer.js';
import type { MetricsSource } from '../deps.js';
import { route, type Route } from '../route.js';

/** Also served while the database is unavailable. */
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
      // Metrics are needed most during such a failure.
      whileDatabaseIsAway: true,
      handle: async () => textAnswer(200, await metrics.text(), ['Content-Type', metrics.contentType]),
    }),
  ];
}
