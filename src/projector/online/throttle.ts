/** How fast a copy goes on: in batches that take about as long as is bearable, with pauses for all others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../postgres/pool.js';
import type { StepContext } from './types.js';

export interface Pace {
  /** Rows a second, at most; null: as fast as the batches allow. */
  rate: number | null;
  /** Milliseconds that a standby may be behind; further, the preparation waits for it. */
  maxLag: number;
}

/** Milliseconds that a batch is to take. */
const TARGET = 100;
const SIZE = { first: 1_000, least: 100, most: 100_000 };

/** Of the time of a batch: so long the others have the disks for themselves. */
const REST = 0.5;
/** The same after a batch that took far longer than it should: the server has more than enough to do. */
const LONG_REST = 3;

/** Milliseconds between looks at standbys that are behind. */
const LOOK = 1_000;

export interface Batch {
  /** That were asked for. */
  rows: number;
  /** That it took. */
  milliseconds: number;
}

export const firstSize = SIZE.first;

/** How many rows the next batch has. It grows slowly and shrinks at once. */
export function nextSize({ rows, milliseconds }: Batch): number {
  const fitting = (rows * TARGET) / milliseconds;
  return Math.round(Math.min(SIZE.most, Math.max(SIZE.least, Math.min(fitting, rows * 1.5))));
}

/** Milliseconds to rest after a batch. */
export function restAfter({ rows, milliseconds }: Batch, { rate }: Pick<Pace, 'rate'>): number {
  const rest = milliseconds * (milliseconds > 2 * TARGET ? LONG_REST : REST);
  return rate === null ? rest : Math.max(rest, (rows / rate) * 1_000 - milliseconds);
}

/** Milliseconds; those of standbys that the account may not look at are not known, and count as none. */
const LAG = `
SELECT coalesce(pg_catalog.max(1000::numeric * extract(epoch FROM replay_lag)), 0)::float8 AS behind
FROM pg_catalog.pg_stat_replication WHERE state IN ('streaming', 'catchup')`;

/** Waits until no standby is too far behind. */
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
