import { Counter, Histogram, type Registry } from 'prom-client';
import type { ProblemCode } from '../kernel/problem.js';
import type { Outcome, Pipeline } from '../pipeline/types.js';

export interface CommandMetrics {
  /** Wraps a pipeline to count its commands. */
  counted(pipeline: Pipeline): Pipeline;
}

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

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
 * Commands by outcome and code, their events, and their duration in seconds. Thrown errors count as INTERNAL and are
 * rethrown.
 */
export function createCommandMetrics(registry: Registry): CommandMetrics {
  const total = new Counter({
    name: 'dps_commands_total',
    help:
      'Commands by outcome: accepted, unchanged (nothing to do), replayed (Idempotency-Key), ' +
      'rejected (by our rules), refused (by PostgreSQL or for now), failed (a bug), and by error code.',
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
    help: 'Time of commands in the write path, waiting for locks and other changes included.',
    labelNames: ['command'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });

  const count = (command: string, outcome: Outcome): void => {
    if (outcome.kind === 'done') events.inc(outcome.events.length);
    total.inc({ command, ...labelsOf(outcome) });
  };

  return {
    counted: (pipeline) => ({
      ...pipeline,
      async record(revise, request) {
        const outcome = await pipeline.record(revise, request);
        count(request.cause.command, outcome);
        return outcome;
      },
      async execute(name, command, request) {
        const stop = seconds.startTimer({ command: name });
        try {
          const outcome = await pipeline.execute(name, command, request);
          count(name, outcome);
          return outcome;
        } catch (error) {
          total.inc({ command: name, outcome: 'failed', code: 'INTERNAL' });
          throw error;
        } finally {
          stop();
        }
      },
    }),
  };
}

function labelsOf(outcome: Outcome): { outcome: string; code: string } {
  if (outcome.kind === 'replayed') return { outcome: 'replayed', code: '' };
  if (outcome.kind === 'done') return { outcome: outcome.events.length === 0 ? 'unchanged' : 'accepted', code: '' };
  const code = outcome.problems[0]?.code;
  return { outcome: code !== undefined && REFUSED.has(code) ? 'refused' : 'rejected', code: code ?? '' };
}
