/** Controls the speed of a copy: batches of limited duration with pauses for other sessions. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../postgres/pool.js';
import type { StepContext } from './types.js';

export interface Pace {
  /** Maximum number of rows per second; null if only the batches limit it. */
  rate: number | null;
  /** Milliseconds that a standby may lag. Beyond that, the preparation waits for it. */
  maxLag: number;
}

/** Target duration of a batch in milliseconds. */
const TARGET = 100;
const SIZE = { first: 1_000, least: 100, most: 100_000 };

/** The pause after a batch, as a fraction of its duration. */
const REST = 0.5;
/** The same after a batch that took far too long, which shows that the server is overloaded. */
const LONG_REST = 3;

/** Milliseconds between checks of lagging standbys. */
const LOOK = 1_000;

export interface Batch {
  /** The requested number of rows. */
  rows: number;
  /** The duration of the batch. */
  milliseconds: number;
}

export const firstSize = SIZE.first;

/** The size of the next batch. It grows slowly and shrinks at once. */
export function nextSize({ rows, milliseconds }: Batch): number {
  const fitting = (rows * TARGET) / milliseconds;
  return Math.round(Math.min(SIZE.most, Math.max(SIZE.least, Math.min(fitting, rows * 1.5))));
}

/** Milliseconds to pause after a batch. */
export function restAfter({ rows, milliseconds }: Batch, { rate }: Pick<Pace, 'rate'>): number {
  const rest = milliseconds * (milliseconds > 2 * TARGET ? LONG_REST : REST);
  return rate === null ? rest : Math.max(rest, (rows / rate) * 1_000 - milliseconds);
}

/** Replication lag in milliseconds. Standbys that the account may not see count as zero. */
const LAG = `
SELECT coalesce(pg_catalog.max(1000::numeric * extract(epoch FROM replay_lag)), 0)::float8 AS behind
FROM pg_catalog.pg_stat_replication WHERE state IN ('streaming', 'catchup')`;

/** Waits until every standby is within the limit. */
export async function waitForStandbys(
  db: Queryable,
  { signal, progress }: Pick<StepContext, 'signal' | 'progress'>,
  { maxLag }: Pick<Pace, 'maxLag'>,
): Promise<void> {
  for (;;) {
    const { rows } = await db.query<{ behind: number }>(LAG);
    const behind = rows[0]?.behind ?? 0;
    if (behind <= maxLag) return;
    progress({ phase: `waiting for a standby that is ${(behind / 1_000).toFixed(1)} s behind` });
    await sleep(LOOK, undefined, { signal });
  }
}
