/** Shows load and latency of the last minutes, as far as the page was open. */
import { Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BETWEEN, type Reading, readingsQuery } from '../../service/operations-queries.js';
import { bytesText } from '../../shared/text.js';
import { QueryResult } from '../../shared/problem-alert.js';
import { useTitle } from '../../shared/page.js';
import {
  type Fact,
  commandSeries,
  factsOf,
  latencySeries,
  refusalSeries,
  refusalsByCode,
  requestSeries,
  type Points,
  type Series,
} from './metrics/series.js';
import { Part } from './part.js';
import classes from './page.module.css';
import { useId } from 'react';
import chartClasses from './metrics/chart.module.css';

/** Shows charts. A line needs two readings, so the first reading shows only current values. */
export function MetricsTab() {
  useTitle('Metrics · Operations');
  const readings = useQuery(readingsQuery());
  return (
    <QueryResult query={readings} label="Loading the metrics">
      {(loaded) => <Figures readings={loaded} />}
    </QueryResult>
  );
}

const formatRate = (value: number): string =>
  value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : 0 });
const milliseconds = (value: number): string =>
  `${value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 1 : 0 })} ms`;

function Figures({ readings }: { readings: readonly Reading[] }) {
  const last = readings.at(-1);
  return (
    <Stack gap="lg">
      <Text size="sm" c="dimmed">
        Metrics of the process that responds, read every {BETWEEN / 1000} seconds while this page is open. For longer
        periods and several processes, use the Grafana dashboard and the alert rules in <code>deploy/</code>.{' '}
        {readings.length < 2 && ' The charts appear after the second reading.'}
      </Text>
      <div className={classes.charts}>
        <Chart title="Requests" unit="per second" series={requestSeries(readings)} say={formatRate} />
        <Chart title="Latency" unit="response time" series={latencySeries(readings)} say={milliseconds} />
        <Chart title="Commands" unit="per second" series={commandSeries(readings)} say={formatRate} />
        <Chart title="Rejected commands" unit="per second" series={refusalSeries(readings)} say={formatRate} />
      </div>
      {last && <Now reading={last} />}
    </Stack>
  );
}

function Now({ reading }: { reading: Reading }) {
  const refusals = refusalsByCode(reading);
  return (
    <>
      <Part title="Now" about="Values of the last reading.">
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
        <Part title="Rejections by code" about="Since the process started.">
          <dl className={classes.facts}>
            {refusals.map(([code, count]) => (
              <div key={code}>
                <dt>{code}</dt>
                <dd>{count.toLocaleString()}</dd>
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
  return as === 'ms' ? milliseconds(value) : value.toLocaleString();
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
