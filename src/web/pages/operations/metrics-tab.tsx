/** Load and latency of the last minutes, read while the page is open. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BETWEEN, type Reading, readingsQuery } from '../../service/operations-queries.js';
import { bytesText } from '../../shared/text.js';
import { Answered } from '../../shared/problem-alert.js';
import { useTitle } from '../../shared/page.js';
import { Chart } from './metrics/chart.js';
import {
  type Fact,
  commandSeries,
  factsOf,
  latencySeries,
  refusalSeries,
  refusalsByCode,
  requestSeries,
} from './metrics/series.js';
import { Part } from './part.js';
import classes from './page.module.css';

/** Lines need two readings; one reading shows only current values. */
export function MetricsTab() {
  useTitle('Metrics · Operations');
  const readings = useQuery(readingsQuery());
  return (
    <Answered query={readings} label="Loading the metrics">
      {(loaded) => <Figures readings={loaded} />}
    </Answered>
  );
}

const rate = (value: number): string => value.toLocaleString(undefined, { maximumFractionDigits: value < 10 ? 2 : 0 });
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
        <Chart title="Requests" unit="per second" series={requestSeries(readings)} say={rate} />
        <Chart title="Latency" unit="response time" series={latencySeries(readings)} say={milliseconds} />
        <Chart title="Commands" unit="per second" series={commandSeries(readings)} say={rate} />
        <Chart title="Rejected commands" unit="per second" series={refusalSeries(readings)} say={rate} />
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
