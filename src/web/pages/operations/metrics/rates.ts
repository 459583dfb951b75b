/** Rates and quantiles between two readings of the metrics. */
import type { Reading, Sample } from '../../../service/metrics-query.js';

/** One value per reading except the first; null if unknown. */
export type Points = readonly (number | null)[];

export interface Series {
  label: string;
  /** A CSS variable of the theme. */
  color: string;
  points: Points;
}

type Pick = (sample: Sample) => boolean;

/** Per second, for all counters that `pick` selects. Counters restart with the process. */
export function ratesOf(readings: readonly Reading[], pick: Pick): Points {
  return pairs(readings).map(([before, after]) => {
    const grown = grownBy(before, after, pick);
    return grown === null ? null : grown / ((after.at - before.at) / 1000);
  });
}

/**
 * The quantile `share` of the durations between two readings, from histogram buckets. Milliseconds; null without
 * observations.
 */
export function quantilesOf(readings: readonly Reading[], histogram: string, share: number): Points {
  return pairs(readings).map(([before, after]) => quantile(bucketsBetween(before, after, histogram), share));
}

const pairs = (readings: readonly Reading[]): [Reading, Reading][] =>
  readings.slice(1).map((after, index) => [readings[index] as Reading, after]);

/** 0 if `pick` selects none. */
export const sumOf = ({ samples }: Reading, pick: Pick): number =>
  samples.reduce((sum, sample) => (pick(sample) ? sum + sample.value : sum), 0);

function grownBy(before: Reading, after: Reading, pick: Pick): number | null {
  const grown = sumOf(after, pick) - sumOf(before, pick);
  return grown < 0 ? null : grown;
}

interface Bucket {
  /** Seconds; Infinity for the last. */
  upTo: number;
  /** The cumulative count of the bucket. */
  count: number;
}

function bucketsBetween(before: Reading, after: Reading, histogram: string): Bucket[] {
  const counts = new Map<number, number>();
  const add = (reading: Reading, sign: 1 | -1): void => {
    for (const { name, labels, value } of reading.samples) {
      if (name !== `${histogram}_bucket`) continue;
      const upTo = labels['le'] === '+Inf' ? Infinity : Number(labels['le']);
      counts.set(upTo, (counts.get(upTo) ?? 0) + sign * value);
    }
  };
  add(before, -1);
  add(after, 1);
  return [...counts].map(([upTo, count]) => ({ upTo, count })).sort((one, other) => one.upTo - other.upTo);
}

/** Interpolated linearly like in Prometheus; the last bucket yields its lower bound. */
function quantile(buckets: readonly Bucket[], share: number): number | null {
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return null;
  const wanted = total * share;
  const index = buckets.findIndex(({ count }) => count >= wanted);
  const { upTo, count } = buckets[index] as Bucket;
  const below = index === 0 ? { upTo: 0, count: 0 } : (buckets[index - 1] as Bucket);
  if (upTo === Infinity) return below.upTo * 1000;
  const within = count === below.count ? 1 : (wanted - below.count) / (count - below.count);
  return (below.upTo + (upTo - below.upTo) * within) * 1000;
}
