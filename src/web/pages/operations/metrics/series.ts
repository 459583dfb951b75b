import type { Reading, Sample } from '../../../service/operations-queries.js';

/* Rates and quantiles between two readings of the metrics. */

/** One value for each reading except the first. Null if unknown. */
export type Points = readonly (number | null)[];

export interface Series {
  label: string;
  /** A CSS variable of the theme. */
  color: string;
  points: Points;
}

type Pick = (sample: Sample) => boolean;

/** Returns the rate per second of all counters that `pick` selects. Counters restart at 0 with the process. */
function ratesOf(readings: readonly Reading[], pick: Pick): Points {
  return pairReadings(readings).map(([before, after]) => {
    const grown = increaseOf(before, after, pick);
    return grown === null ? null : grown / ((after.at - before.at) / 1000);
  });
}

/**
 * Returns the quantile `share` of the durations between two readings, from the buckets of a histogram. In milliseconds.
 * Null without observations.
 */
function quantilesOf(readings: readonly Reading[], histogram: string, share: number): Points {
  return pairReadings(readings).map(([before, after]) => quantile(bucketsBetween(before, after, histogram), share));
}

const pairReadings = (readings: readonly Reading[]): [Reading, Reading][] =>
  readings.slice(1).map((after, index) => [readings[index] as Reading, after]);

/** Returns the sum of the samples that `pick` selects. 0 if there are none. */
const sumOf = ({ samples }: Reading, pick: Pick): number =>
  samples.reduce((sum, sample) => (pick(sample) ? sum + sample.value : sum), 0);

function increaseOf(before: Reading, after: Reading, pick: Pick): number | null {
  const grown = sumOf(after, pick) - sumOf(before, pick);
  return grown < 0 ? null : grown;
}

interface Bucket {
  /** The upper limit of the bucket in seconds. Infinity for the last one. */
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

/** Returns a quantile by linear interpolation, like Prometheus. For the last bucket, returns its lower limit. */
function quantile(buckets: readonly Bucket[], share: number): number | null {
  const total = buckets.at(-1)?.count ?? 0;
  if (total <= 0) return null;
  const rank = total * share;
  const index = buckets.findIndex(({ count }) => count >= rank);
  const { upTo, count } = buckets[index] as Bucket;
  const below = index === 0 ? { upTo: 0, count: 0 } : (buckets[index - 1] as Bucket);
  if (upTo === Infinity) return below.upTo * 1000;
  const within = count === below.count ? 1 : (rank - below.count) / (count - below.count);
  return (below.upTo + (upTo - below.upTo) * within) * 1000;
}

const COLORS = {
  good: 'light-dark(#0b7285, #3bc9db)',
  change: 'light-dark(#4f46e5, #a5abfc)',
  refused: 'light-dark(#b35900, #ffa94d)',
  broken: 'light-dark(#c92a2a, #ff8787)',
} as const;

const REQUESTS = 'dps_http_request_duration_seconds';
const COMMANDS = 'dps_commands_total';

const requests = (from: number, to: number) => (sample: Sample) => {
  const status = Number(sample.labels['status']);
  return sample.name === `${REQUESTS}_count` && status >= from && status < to;
};

/** Requests per second by outcome. */
export const requestSeries = (readings: readonly Reading[]): Series[] => [
  { label: 'succeeded', color: COLORS.good, points: ratesOf(readings, requests(100, 400)) },
  { label: 'rejected', color: COLORS.refused, points: ratesOf(readings, requests(400, 500)) },
  { label: 'failed', color: COLORS.broken, points: ratesOf(readings, requests(500, 600)) },
];

/** Response times of all requests in milliseconds. */
export const latencySeries = (readings: readonly Reading[]): Series[] => [
  { label: 'median', color: COLORS.good, points: quantilesOf(readings, REQUESTS, 0.5) },
  { label: '95 %', color: COLORS.change, points: quantilesOf(readings, REQUESTS, 0.95) },
  { label: '99 %', color: COLORS.refused, points: quantilesOf(readings, REQUESTS, 0.99) },
];

const commands =
  (...outcomes: string[]) =>
  ({ name, labels }: Sample) =>
    name === COMMANDS && outcomes.includes(labels['outcome'] ?? '');

/** Successful commands per second. A repeated response counts as accepted. */
export const commandSeries = (readings: readonly Reading[]): Series[] => [
  { label: 'accepted', color: COLORS.good, points: ratesOf(readings, commands('accepted', 'replayed')) },
  { label: 'no changes', color: COLORS.change, points: ratesOf(readings, commands('unchanged')) },
];

/** Failed commands per second by cause. */
export const refusalSeries = (readings: readonly Reading[]): Series[] => [
  { label: 'by validation', color: COLORS.refused, points: ratesOf(readings, commands('rejected')) },
  { label: 'by PostgreSQL, or temporary', color: COLORS.change, points: ratesOf(readings, commands('refused')) },
  { label: 'failed', color: COLORS.broken, points: ratesOf(readings, commands('failed')) },
];

export interface Fact {
  label: string;
  value: number;
  as: 'count' | 'bytes' | 'ms';
}

/** Returns facts from the last reading, about the process that responded. */
export function factsOf(reading: Reading): Fact[] {
  const sum = (name: string): number => sumOf(reading, (sample) => sample.name === name);
  const has = (name: string): boolean => reading.samples.some((sample) => sample.name === name);
  const facts: (Fact & { of: string; times?: number })[] = [
    { label: 'commands accepted', of: COMMANDS, as: 'count', value: sumOf(reading, commands('accepted')) },
    { label: 'events written', of: 'dps_events_appended_total', as: 'count', value: sum('dps_events_appended_total') },
    {
      label: 'requests waiting for a connection',
      of: 'dps_database_pool_waiting_requests',
      as: 'count',
      value: sum('dps_database_pool_waiting_requests'),
    },
    { label: 'memory', of: 'process_resident_memory_bytes', as: 'bytes', value: sum('process_resident_memory_bytes') },
    { label: 'cached responses', of: 'dps_rendered_bytes', as: 'bytes', value: sum('dps_rendered_bytes') },
    {
      label: 'event loop lag, 99 %',
      of: 'nodejs_eventloop_lag_p99_seconds',
      as: 'ms',
      value: sum('nodejs_eventloop_lag_p99_seconds') * 1000,
    },
  ];
  return facts.filter(({ of }) => has(of)).map(({ label, value, as }) => ({ label, value, as }));
}

/** Rejections since the process started, most frequent first. */
export function refusalsByCode({ samples }: Reading): [code: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const code = labels['code'] ?? '';
    if (name === COMMANDS && code !== '') counts.set(code, (counts.get(code) ?? 0) + value);
  }
  return [...counts].filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
}
