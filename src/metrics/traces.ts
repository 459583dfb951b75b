/* OpenTelemetry traces. Without an endpoint, nothing is measured and the SDK is not loaded. */
import type { Collector, TraceOptions, Traces } from './open-telemetry.js';

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

/**
 * Sends an export without spans.
 * @throws with the reason if the collector does not accept it
 */
export async function testExport(collector: Collector): Promise<void> {
  const { testExport: send } = await import('./open-telemetry.js');
  await send(collector);
}
