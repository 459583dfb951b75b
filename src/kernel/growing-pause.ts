export interface PauseLimits {
  /** Milliseconds after the first failure. Each further failure doubles them. */
  retry: number;
  /** Maximum milliseconds. */
  maximum: number;
}

/**
 * Returns whole milliseconds to wait after `failures` failures in a row (from 1). Half of the time is random, so that
 * processes that failed together do not retry together ("equal jitter": M. Brooker, Exponential Backoff and Jitter,
 * 2015).
 */
export function growingPause(failures: number, { retry, maximum }: PauseLimits): number {
  const full = Math.min(maximum, retry * 2 ** (failures - 1));
  return Math.round(full * (0.5 + Math.random() / 2));
}
