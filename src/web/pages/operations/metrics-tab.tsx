/** Shows load and latency of the last minutes, as far as the page was open. */
import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { BETWEEN, type Reading, readingsQuery, type Sample } from '../../service/operations-queries.js';
import { useTitle } from '../../shared/page.js';
import { QueryResult } from '../../shared/problem-alert.js';
import { bytesText } from '../../shared/text.js';
import chartClasses from './metrics/chart.module.css';
import classes from './page.module.css';
import { messages } from './messages.js';
import { Part } from './page.js';
import { locale } from '../../shared/language.js';

const { metrics: texts } = messages;

/** Shows charts. A line needs two readings, so the first reading shows only current values. */
export function MetricsTab() {
  useTitle(messages.titleOf(messages.tabs.metrics));
  const readings = useQuery(readingsQuery());
  return (
    <QueryResult query={readings} label={texts.loading}>
      {(loaded) => <Figures readings={loaded} />}
    </QueryResult>
  );
}

const formatRate = (value: number): string =>
  value.toLocaleString(locale, { maximumFractionDigits: value < 10 ? 2 : 0 });
const milliseconds = (value: number): string =>
  `${value.toLocaleString(locale, { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`;

function Figures({ readings }: { readings: readonly Reading[] }) {
  const last = readings.at(-1);
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        {texts.about(BETWEEN / 1000)} {readings.length < 2 && texts.charts}
      </Text>
      <div className={classes.charts}>
        <Chart title={texts.requests} unit={texts.perSecond} series={requestSeries(readings)} say={formatRate} />
        <Chart title={texts.latency} unit={texts.responseTime} series={latencySeries(readings)} say={milliseconds} />
        <Chart title={texts.commands} unit={texts.perSecond} series={commandSeries(readings)} say={formatRate} />
        <Chart
          title={texts.rejectedCommands}
          unit={texts.perSecond}
          series={refusalSeries(readings)}
          say={formatRate}
        />
      </div>
      {last && <Now reading={last} />}
    </Stack>
  );
}

function Now({ reading }: { reading: Reading }) {
  const refusals = refusalsByCode(reading);
  return (
    <>
      <Part title={texts.now} about={texts.aboutNow}>
        <dl className={classes.facts}>
          {factsOf(reading).map((fact) => (
            <div key={fact.label}>
              <dt>{fact.label}</dt>
              <dd>{textOf(fact)}</dd>
            </div>
          ))}
        </dl>
      </Part>
      {refusals.length > 0 && (
        <Part title={texts.rejections} about={texts.aboutRejections}>
          <dl className={classes.facts}>
            {refusals.map(([code, count]) => (
              <div key={code}>
                <dt>{code}</dt>
                <dd>{count.toLocaleString(locale)}</dd>
              </div>
            ))}
          </dl>
        </Part>
      )}
    </>
  );
}

function textOf({ value, as }: Fact): string {
  if (as === 'bytes') return bytesText(value);
  return as === 'ms' ? milliseconds(value) : value.toLocaleString(locale);
}

const WIDTH = 360;
const HEIGHT = 92;

interface Props {
  title: string;
  /** The unit of the values: `a second`, `ms`. */
  unit: string;
  series: readonly Series[];
  /** Formats a value. */
  say: (value: number) => string;
}

/**
 * Shows a chart with a scale from 0 to the largest value of its lines. The newest value is at the right. Unknown values
 * are gaps.
 */
function Chart({ title, unit, series, say }: Props) {
  const id = useId();
  const measured = series.flatMap(({ points }) => points).filter((point) => point !== null);
  const top = roundUp(Math.max(0, ...measured));
  const length = Math.max(0, ...series.map(({ points }) => points.length));
  return (
    <section className={chartClasses.chart} aria-labelledby={id}>
      <Title order={2} size="h6" id={id}>
        {title}{' '}
        <Text component="span" size="xs" c="dimmed" fw={400}>
          {unit}
        </Text>
      </Title>
      <div className={chartClasses.plot}>
        <span className={chartClasses.top} aria-hidden="true">
          {say(top)}
        </span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={describeSeries(title, series, say)}
        >
          <line x1="0" x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} className={chartClasses.axis} />
          <line x1="0" x2={WIDTH} y1="1" y2="1" className={chartClasses.axis} />
          {length > 1 &&
            [...series]
              .reverse()
              .map(({ label, color, points }) => (
                <path key={label} d={pathOf(points, { top, length })} className={chartClasses.line} stroke={color} />
              ))}
        </svg>
      </div>
      <ul className={chartClasses.legend}>
        {series.map(({ label, color, points }) => (
          <li key={label}>
            <svg width="10" height="10" aria-hidden="true">
              <circle cx="5" cy="5" r="4.5" fill={color} />
            </svg>
            {label} <b>{lastOf(points, say)}</b>
          </li>
        ))}
      </ul>
    </section>
  );
}

const lastOf = (points: Points, say: Props['say']): string => {
  const last = points.at(-1);
  return last === undefined || last === null ? '–' : say(last);
};

const describeSeries = (title: string, series: readonly Series[], say: Props['say']): string =>
  `${title}: ${series.map(({ label, points }) => `${label} ${lastOf(points, say)}`).join(', ')}`;

/** Returns the path of a line. Empty without known values. */
function pathOf(points: Points, { top, length }: { top: number; length: number }): string {
  let isDrawing = false;
  return points
    .map((point, index) => {
      if (point === null) {
        isDrawing = false;
        return '';
      }
      const x = ((length - points.length + index) / (length - 1)) * WIDTH;
      const y = HEIGHT - 1 - (point / top) * (HEIGHT - 4);
      const step = `${isDrawing ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
      isDrawing = true;
      return step;
    })
    .join('');
}

/** Returns the next number of the sequence 1, 2, 5, 10, 20 … */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}

/* Rates and quantiles between two readings of the metrics. */

/** One value for each reading except the first. Null if unknown. */
type Points = readonly (number | null)[];

interface Series {
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
const requestSeries = (readings: readonly Reading[]): Series[] => [
  { label: texts.succeeded, color: COLORS.good, points: ratesOf(readings, requests(100, 400)) },
  { label: texts.rejected, color: COLORS.refused, points: ratesOf(readings, requests(400, 500)) },
  { label: texts.failed, color: COLORS.broken, points: ratesOf(readings, requests(500, 600)) },
];

/** Response times of all requests in milliseconds. */
const latencySeries = (readings: readonly Reading[]): Series[] => [
  { label: texts.median, color: COLORS.good, points: quantilesOf(readings, REQUESTS, 0.5) },
  { label: '95 %', color: COLORS.change, points: quantilesOf(readings, REQUESTS, 0.95) },
  { label: '99 %', color: COLORS.refused, points: quantilesOf(readings, REQUESTS, 0.99) },
];

const commands =
  (...outcomes: string[]) =>
  ({ name, labels }: Sample) =>
    name === COMMANDS && outcomes.includes(labels['outcome'] ?? '');

/** Successful commands per second. A repeated response counts as accepted. */
const commandSeries = (readings: readonly Reading[]): Series[] => [
  { label: texts.accepted, color: COLORS.good, points: ratesOf(readings, commands('accepted', 'replayed')) },
  { label: texts.unchanged, color: COLORS.change, points: ratesOf(readings, commands('unchanged')) },
];

/** Failed commands per second by cause. */
const refusalSeries = (readings: readonly Reading[]): Series[] => [
  { label: texts.byValidation, color: COLORS.refused, points: ratesOf(readings, commands('rejected')) },
  { label: texts.byPostgres, color: COLORS.change, points: ratesOf(readings, commands('refused')) },
  { label: texts.failed, color: COLORS.broken, points: ratesOf(readings, commands('failed')) },
];

interface Fact {
  label: string;
  value: number;
  as: 'count' | 'bytes' | 'ms';
}

/** Returns facts from the last reading, about the process that responded. */
function factsOf(reading: Reading): Fact[] {
  const sum = (name: string): number => sumOf(reading, (sample) => sample.name === name);
  const has = (name: string): boolean => reading.samples.some((sample) => sample.name === name);
  const facts: (Fact & { of: string; times?: number })[] = [
    { label: texts.commandsAccepted, of: COMMANDS, as: 'count', value: sumOf(reading, commands('accepted')) },
    {
      label: texts.eventsWritten,
      of: 'dps_events_appended_total',
      as: 'count',
      value: sum('dps_events_appended_total'),
    },
    {
      label: texts.waitingRequests,
      of: 'dps_database_pool_waiting_requests',
      as: 'count',
      value: sum('dps_database_pool_waiting_requests'),
    },
    {
      label: texts.memory,
      of: 'process_resident_memory_bytes',
      as: 'bytes',
      value: sum('process_resident_memory_bytes'),
    },
    { label: texts.cachedResponses, of: 'dps_rendered_bytes', as: 'bytes', value: sum('dps_rendered_bytes') },
    {
      label: texts.eventLoopLag,
      of: 'nodejs_eventloop_lag_p99_seconds',
      as: 'ms',
      value: sum('nodejs_eventloop_lag_p99_seconds') * 1000,
    },
  ];
  return facts.filter(({ of }) => has(of)).map(({ label, value, as }) => ({ label, value, as }));
}

/** Rejections since the process started, most frequent first. */
function refusalsByCode({ samples }: Reading): [code: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const code = labels['code'] ?? '';
    if (name === COMMANDS && code !== '') counts.set(code, (counts.get(code) ?? 0) + value);
  }
  return [...counts].filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
}
