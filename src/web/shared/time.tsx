import { locale } from './language.js';
import { messages } from './messages.js';

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const exact = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
const shortDay = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale, { dateStyle: 'full' });

/**
 * Returns `3 days ago` or `in 2 hours`. Within 45 seconds, returns `just now`.
 * @param now milliseconds since 1970
 */
function relativeTime(time: Date, now = Date.now()): string {
  const seconds = (time.getTime() - now) / 1000;
  const [unit, length] = STEPS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return Math.abs(seconds) < 45 ? messages.time.justNow : relative.format(Math.round(seconds / length), unit);
}

/**
 * Returns the day with its weekday, in the viewer's zone and language.
 * @param time ISO 8601
 */
export const dayOf = (time: string): string => day.format(new Date(time));

const SAID = {
  ago: (time: Date) => relativeTime(time),
  clock: (time: Date) => clock.format(time),
  day: (time: Date) => shortDay.format(time),
} as const;

/** @param props.at ISO 8601 */
export function Time({ at, as = 'ago' }: { at: string; as?: 'ago' | 'clock' | 'day' }) {
  const time = new Date(at);
  return (
    <time dateTime={at} title={exact.format(time)}>
      {SAID[as](time)}
    </time>
  );
}
