import { Text, Title } from '@mantine/core';
import { useId } from 'react';
import type { Points, Series } from './series.js';
import classes from './chart.module.css';

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

/** Scaled from 0 to the largest value of its lines. Newest at the right; unknown values are gaps. */
export function Chart({ title, unit, series, say }: Props) {
  const id = useId();
  const measured = series.flatMap(({ points }) => points).filter((point) => point !== null);
  const top = roundUp(Math.max(0, ...measured));
  const length = Math.max(0, ...series.map(({ points }) => points.length));
  return (
    <section className={classes.chart} aria-labelledby={id}>
      <Title order={2} size="h6" id={id}>
        {title}{' '}
        <Text component="span" size="xs" c="dimmed" fw={400}>
          {unit}
        </Text>
      </Title>
      <div className={classes.plot}>
        <span className={classes.top} aria-hidden="true">
          {say(top)}
        </span>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={heard(title, series, say)}
        >
          <line x1="0" x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} className={classes.axis} />
          <line x1="0" x2={WIDTH} y1="1" y2="1" className={classes.axis} />
          {length > 1 &&
            [...series]
              .reverse()
              .map(({ label, color, points }) => (
                <path key={label} d={pathOf(points, { top, length })} className={classes.line} stroke={color} />
              ))}
        </svg>
      </div>
      <ul className={classes.legend}>
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

const heard = (title: string, series: readonly Series[], say: Props['say']): string =>
  `${title}: ${series.map(({ label, points }) => `${label} ${lastOf(points, say)}`).join(', ')}`;

/** Draws nothing without known values. */
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

/** The next of 1, 2, 5, 10, 20 … */
function roundUp(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
}
