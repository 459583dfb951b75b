import { Histogram, type Registry } from 'prom-client';

export interface ChangeMetrics {
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
 * Steps by kind, in seconds.
 * @throws if the registry already has such a metric
 */
export function createChangeMetrics(registry: Registry): ChangeMetrics {
  const seconds = new Histogram({
    name: 'dps_change_step_duration_seconds',
    help: 'Time of steps that prepare a change outside its transaction, with all that they waited for, by kind.',
    labelNames: ['kind'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  // Initialized, so that graphs begin at zero.
  for (const kind of KINDS) seconds.zero({ kind });
  return { step: (kind, milliseconds) => seconds.observe({ kind }, milliseconds / 1000) };
}
