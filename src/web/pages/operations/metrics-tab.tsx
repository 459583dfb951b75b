/** Load and latency of the last minutes, read while the page is open. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { BETWEEN, type Reading, readingsQuery } from '../../service/metrics-query.js';
import { bytesText } from '../../shared/amounts.js';
import { Answered } from '../../shared/answered.js';
import { useTitle } from '../../shared/page-title.js';
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
    <Answered query={readings} label="Reading the metrics">
      {(found) => <Figures readings={found} />}
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
        Of the process that answers, read every {BETWEEN / 1000} seconds while this page is open. For longer times and
        several processes there are a dashboard for Grafana and alert rules in <code>deploy/</code>.
        {readings.length < 2 && ' The first lines are drawn in a moment.'}
      </Text>
      <div className={classes.charts}>
        <Chart title="Requests" unit="a second" series={requestSeries(readings)} say={rate} />
        <Chart title="Latency" unit="until the answer" series={latencySeries(readings)} say={milliseconds} />
        <Chart title="Commands" unit="a second" series={commandSeries(readings)} say={rate} />
        <Chart title="Refusals of commands" unit="a second" series={refusalSeries(readings)} say={rate} />
      </div>
      {last && <Now reading={last} />}
    </Stack>
  );
}

function Now({ reading }: { reading: Reading }) {
  const refusals = refusalsByCode(reading);
  return (
    <>
      <Part title="Now" about="As the last reading says.">
        <dl className={classes.facts}>
          {factsOf(reading).map((fact) => (
            <div key={fact.label}>
              <dt>{fact.label}</dt>
              <dd>{said(fact)}</dd>
            </div>
          ))}
        </dl>
      </Part>
      {refusals.length > 0 && (
        <Part title="Refusals by their code" about="Since the process began.">
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

function said({ value, as }: Fact): string {
  if (as === 'bytes') return bytesText(value);
  return as === 'ms' ? milliseconds(value) : value.toLocaleString();
}
