/* Prometheus metrics. Names and units follow https://prometheus.io/docs/practices/naming/. */
import { Registry, collectDefaultMetrics, Histogram, Counter } from 'prom-client';
import type { SignInKind } from '../http/deps.js';
import type { HandledRequest } from '../http/request-log.js';
import { type Sources, addGauges } from './gauges.js';
import type { ProblemCode } from '../kernel/problem.js';
import type { Apply, CommandName, Outcome, Pipeline, RequestContext } from '../pipeline/types.js';

interface ChangeMetrics {
  /**
   * Counts a finished preparation step.
   * @param kind `add`, `validate`, `index` …
   */
  step(kind: string, milliseconds: number): void;
}

/** The kinds of preparation steps. */
const KINDS = ['add', 'validate', 'index', 'note', 'copy'] as const;

const BUCKETS = [0.1, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

/**
 * Counts finished preparation steps by kind and measures their duration in seconds.
 * @throws if the registry already has such a metric
 */
function createChangeMetrics(registry: Registry): ChangeMetrics {
  const seconds = new Histogram({
    name: 'dps_change_step_duration_seconds',
    help: 'Duration of the steps that prepare an online change, including waits, by kind.',
    labelNames: ['kind'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  // Creating all series at the start makes graphs begin at zero.
  for (const kind of KINDS) seconds.zero({ kind });
  return { step: (kind, milliseconds) => seconds.observe({ kind }, milliseconds / 1000) };
}

interface CommandMetrics {
  /** Wraps a pipeline to count its commands. */
  counted(pipeline: Pipeline): Pipeline;
}

const COMMAND_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Codes that are caused by PostgreSQL or are temporary. With any other code, the command itself was rejected. */
const REFUSED = new Set<ProblemCode>([
  'DATABASE_REFUSED',
  'LOCK_TIMEOUT',
  'LOG_DIVERGED',
  'LOG_UNREADABLE',
  'READ_ONLY',
  'UNAVAILABLE',
]);

/**
 * Counts commands by outcome and code, counts their events, and measures their duration in seconds. Thrown errors count
 * as INTERNAL and are rethrown.
 */
function createCommandMetrics(registry: Registry): CommandMetrics {
  const total = new Counter({
    name: 'dps_commands_total',
    help:
      'Commands by outcome: accepted, unchanged (no changes), replayed (Idempotency-Key), ' +
      'rejected (by the service), refused (by PostgreSQL or temporarily), failed (a bug), and by error code.',
    labelNames: ['command', 'outcome', 'code'] as const,
    registers: [registry],
  });
  const events = new Counter({
    name: 'dps_events_appended_total',
    help: 'Events appended to the log by this process.',
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'dps_command_duration_seconds',
    help: 'Duration of commands in the write path, including waits for locks and other changes.',
    labelNames: ['command'] as const,
    buckets: COMMAND_BUCKETS,
    registers: [registry],
  });

  const count = (command: string, outcome: Outcome): void => {
    if (outcome.kind === 'done') events.inc(outcome.events.length);
    total.inc({ command, ...outcomeLabels(outcome) });
  };

  return {
    counted: (pipeline) => {
      const { apply } = pipeline as { apply: Apply };
      const counted: Apply = async (name, command, request) => {
        const label = commandLabel(name, request);
        const stop = seconds.startTimer({ command: label });
        try {
          const outcome = await apply(name, command, request);
          count(label, outcome);
          return outcome;
        } catch (error) {
          total.inc({ command: label, outcome: 'failed', code: 'INTERNAL' });
          throw error;
        } finally {
          stop();
        }
      };
      return { ...pipeline, apply: counted };
    },
  };
}

/** Commands that record events are named by their cause. */
export const commandLabel = (name: CommandName, { cause }: Pick<RequestContext, 'cause'>): string =>
  name === 'record' ? cause.command : name;

export function outcomeLabels(outcome: Outcome): { outcome: string; code: string } {
  if (outcome.kind === 'replayed') return { outcome: 'replayed', code: '' };
  if (outcome.kind === 'done') return { outcome: outcome.events.length === 0 ? 'unchanged' : 'accepted', code: '' };
  const code = outcome.problems[0]?.code;
  return { outcome: code !== undefined && REFUSED.has(code) ? 'refused' : 'rejected', code: code ?? '' };
}

/**
 * Upper bounds in seconds. Reads take well under a millisecond, and applies of thousands of collections many seconds.
 */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Measures requests by route template. Labels with collection names would create one series per collection. */
function createRequestMetrics(registry: Registry): (handled: HandledRequest) => void {
  const seconds = new Histogram({
    name: 'dps_http_request_duration_seconds',
    help: 'Duration from the request to its response, by method, route template and status.',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  });
  return ({ method, route, status, started }) =>
    seconds.observe({ method: methodOf(method), route, status }, (performance.now() - started) / 1000);
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT', 'SEARCH']);

/** Maps other methods to one label. Clients may send any method, and each label would create a series. */
function methodOf(method: string): string {
  return METHODS.has(method) ? method : 'other';
}

const SIGN_INS = ['browser', 'device', 'pipeline'] as const satisfies SignInKind[];

/** Logins with a password are not counted here: the histogram of requests contains the status of their requests. */
function createSignInMetrics(registry: Registry): (kind: SignInKind, outcome: string) => void {
  const total = new Counter({
    name: 'dps_sign_ins_total',
    help:
      'Sign-ins with an OpenID provider by kind (browser, device, pipeline) and by outcome: done, ' +
      'or the reason why the service rejected it.',
    labelNames: ['kind', 'outcome'] as const,
    registers: [registry],
  });
  // Creating these series at the start makes graphs begin at zero.
  for (const kind of SIGN_INS) total.inc({ kind, outcome: 'done' }, 0);
  return (kind, outcome) => total.inc({ kind, outcome });
}

const EXPORTS = ['exported', 'lost'] as const;

export type ExportedSpans = (result: (typeof EXPORTS)[number], spans: number) => void;

function createSpanMetrics(registry: Registry): ExportedSpans {
  const total = new Counter({
    name: 'dps_spans_total',
    help: 'Trace spans by result: exported to the collector, or lost because the export failed.',
    labelNames: ['result'] as const,
    registers: [registry],
  });
  // Creating both series at the start makes graphs begin at zero.
  for (const result of EXPORTS) total.inc({ result }, 0);
  return (result, spans) => total.inc({ result }, spans);
}

interface Metrics {
  /** Counts a request that was answered. */
  request(handled: HandledRequest): void;
  /** Counts a sign-in that ended. */
  signIn(kind: SignInKind, outcome: string): void;
  /** Counts the spans of an export that ended. */
  spans: ExportedSpans;
  /** Metrics of preparations. */
  changes: ChangeMetrics;
  /** Metrics of pipeline commands. */
  commands: CommandMetrics;
  contentType: string;
  /** Returns the current metrics as text. */
  text(): Promise<string>;
  /** Adds gauges that are read on each scrape. */
  watch(sources: Sources): void;
}

/**
 * All services of the process share this registry, because the default collectors (a timer, a GC observer) never stop.
 */
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
    signIn: createSignInMetrics(registry),
    spans: createSpanMetrics(registry),
    changes: createChangeMetrics(registry),
    commands: createCommandMetrics(registry),
    contentType: registry.contentType,
    text: async () => `${await ours.metrics()}\n${await registry.metrics()}`,
    watch: (sources) => addGauges(registry, sources),
  };
}
