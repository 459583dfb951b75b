import { Histogram, type Registry } from 'prom-client';
import type { Handled } from '../http/request-log.js';

/** Seconds: reads take well under a millisecond, applies of thousands of collections many seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Labelled by route template, because collection names would create one series each. */
export function createRequestMetrics(registry: Registry): (handled: Handled) => void {
  const seconds = new Histogram({
    name: 'dps_http_request_duration_seconds',
    help: 'Time from the request to its answer, by method, route template and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ method, route, status, started }) =>
    seconds.observe({ method: methodOf(method), route, status }, (performance.now() - started) / 1000);
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT', 'SEARCH']);

/** Clients may send any method, which must not create series. */
function methodOf(method: string): string {
  return METHODS.has(method) ? method : 'other';
}
