import { Histogram, type Registry } from 'prom-client';

export interface ChangeMetrics {
  /** A step of a preparation is done. @param kind `add`, `validate`, `index` … */
  step(kind: string, milliseconds: number): void;
}

/** What there is to prepare. */
const KINDS = ['add', 'validate', 'index', 'note', 'copy'] as const;

/** Seconds: from a table that is small to one of terabytes. */
const BUCKETS = [0.1, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

/** Steps by kind, in seconds. @throws when the registry has one of the name already */
export function createChangeMetrics(registry: Registry): ChangeMetrics {
  const seconds = new Histogram({
    name: 'dps_change_step_duration_seconds',
    help: 'Time of steps that prepare a change outside its transaction, with all that they waited for, by kind.',
    labelNames: ['kind'] as const,
    buckets: BUCKETS,
    registers: [registry],
  });
  // Known from the beginning, so that a graph of them begins at nothing.
  for (const kind of KINDS) seconds.zero({ kind });
  return { step: (kind, milliseconds) => seconds.observe({ kind }, milliseconds / 1000) };
}
