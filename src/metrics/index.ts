/** Prometheus metrics. Names and units follow https://prometheus.io/docs/practices/naming/. */
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Handled } from '../http/request-log.js';
import { type ChangeMetrics, createChangeMetrics } from './changes.js';
import { type CommandMetrics, createCommandMetrics } from './commands.js';
import { createRequestMetrics } from './requests.js';
import { type Sources, addGauges } from './gauges.js';

export interface Metrics {
  /** Counts a request that was answered. */
  request(handled: Handled): void;
  /** Metrics of preparations. */
  changes: ChangeMetrics;
  /** Metrics of pipeline commands. */
  commands: CommandMetrics;
  contentType: string;
  /** The current metrics as text. */
  text(): Promise<string>;
  /** Adds gauges that are read on each scrape. */
  watch(sources: Sources): void;
}

/** Shared by all services of the process, because the default collectors (a timer, a GC observer) never stop. */
let ofProcess: Registry | undefined;

function processMetrics(): Registry {
  if (ofProcess === undefined) collectDefaultMetrics({ register: (ofProcess = new Registry()) });
  return ofProcess;
}

/** Creates a registry for the service; process metrics are shared. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const ours = processMetrics();
  return {
    request: createRequestMetrics(registry),
    changes: createChangeMetrics(registry),
    commands: createCommandMetrics(registry),
    contentType: registry.contentType,
    text: async () => `${await ours.metrics()}\n${await registry.metrics()}`,
    watch: (sources) => addGauges(registry, sources),
  };
}
