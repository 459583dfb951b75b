/* OpenTelemetry traces. Without an endpoint, nothing is measured and the SDK is not loaded. */
import type { TraceOptions, Traces } from './open-telemetry.js';

const UNTRACED: Traces = {
  request: (_req, _route, work) => work(),
  traced: (pipeline) => pipeline,
  stop: () => Promise.resolve(),
};

/** Creates the traces. Measuring never fails and never waits for the collector. */
export async function startTraces(
  options: Omit<TraceOptions, 'endpoint'> & { endpoint: string | null },
): Promise<Traces> {
  const { endpoint } = options;
  if (endpoint === null) return UNTRACED;
  const { createTraces } = await import('./open-telemetry.js');
  return createTraces({ ...options, endpoint });
}
