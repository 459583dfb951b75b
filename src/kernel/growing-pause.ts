export interface PauseLimits {
  /** Milliseconds after the first failure; each further one doubles them. */
  retry: number;
  /** The most it grows to, in milliseconds. */
  maximum: number;
}

/**
 * How long to wait after so many failures in a row (from 1), in whole milliseconds. Half of it is by chance, so that
 * processes which failed together don't try together ("equal jitter": M. Brooker, Exponential Backoff and Jitter, 2015).
 */
export function growingPause(failures: number, { retry, maximum }: PauseLimits): number {
  const full = Math.min(maximum, retry * 2 ** (failures - 1));
  return Math.round(full * (0.5 + Math.random() / 2));
}
