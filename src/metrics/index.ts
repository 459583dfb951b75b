/** What Prometheus is told. Names and units as in https://prometheus.io/docs/practices/naming/. */
import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Handled } from '../http/request-log.js';
import { type ChangeMetrics, createChangeMetrics } from './changes.js';
import { type CommandMetrics, createCommandMetrics } from './commands.js';
import { createRequestMetrics } from './requests.js';
import { type Sources, addGauges } from './gauges.js';

export interface Metrics {
  /** A request was answered. */
  request(handled: Handled): void;
  /** What was prepared for change requests. */
  changes: ChangeMetrics;
  /** Counts what goes through the pipeline. */
  commands: CommandMetrics;
  contentType: string;
  /** All metrics as they are now. */
  text(): Promise<string>;
  /** Adds what is read off the service at each scrape. */
  watch(sources: Sources): void;
}

/**
 * Of the process, however many services it starts and stops: what measures them (a timer, an observer of each garbage
 * collection) never ends.
 */
let ofProcess: Registry | undefined;

function processMetrics(): Registry {
  if (ofProcess === undefined) collectDefaultMetrics({ register: (ofProcess = new Registry()) });
  return ofProcess;
}

/** With a registry of its own for the service; what is measured of the process is shared by all that are made. */
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
