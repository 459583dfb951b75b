/** Default values of temporal columns: valid ISO 8601 dates and times. */
import { Wrong } from '../checks.js';

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?$/;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ]([\d:.]+)(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

const NOT_A_DATE = new Wrong('must be a date that exists, as YYYY-MM-DD');
const NOT_A_TIME = new Wrong('must be a time, as HH:MM:SS with at most 6 digits of fraction');
const NOT_A_DATE_TIME = new Wrong('must be a date and time that exist, as YYYY-MM-DDTHH:MM:SS without a time zone');
const NOT_A_TIMESTAMP = new Wrong(
  'must be a date and time that exist, as YYYY-MM-DDTHH:MM:SSZ (UTC, or with an offset)',
);

/** `YYYY-MM-DD` in the years 1 to 9999. */
export function dateDefault(value: unknown): string | Wrong {
  return typeof value === 'string' && isDate(value) ? value : NOT_A_DATE;
}

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (match === null) return false;
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const instant = utc(year, month, day);
  return year > 0 && instant.getUTCMonth() === month - 1 && instant.getUTCDate() === day;
}

/** Date.UTC reads the years 0 to 99 as 1900 to 1999. */
function utc(year: number, month: number, day: number): Date {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date;
}

/** `HH:MM:SS[.ffffff]` */
export function timeDefault(value: unknown): string | Wrong {
  const time = typeof value === 'string' ? normalTime(value) : null;
  return time ?? NOT_A_TIME;
}

function normalTime(text: string): string | null {
  const match = TIME.exec(text);
  if (match === null) return null;
  const [, hour = '', minute = '', second = '00', fraction = ''] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const rest = fraction.replace(/0+$/, '');
  return `${hour}:${minute}:${second}${rest === '' ? '' : `.${rest}`}`;
}

interface Moment {
  date: string;
  time: string;
  zone: string | undefined;
}

function parseMoment(value: unknown): Moment | null {
  const match = typeof value === 'string' ? MOMENT.exec(value) : null;
  const [, date = '', clock = '00:00', zone] = match ?? [];
  const time = normalTime(clock);
  return isDate(date) && time !== null ? { date, time, zone } : null;
}

/** `YYYY-MM-DDTHH:MM:SS[.ffffff]`. A zone is rejected, because PostgreSQL would drop it silently. */
export function dateTimeDefault(value: unknown): string | Wrong {
  const moment = parseMoment(value);
  return moment === null || moment.zone !== undefined ? NOT_A_DATE_TIME : `${moment.date}T${moment.time}`;
}

/** `YYYY-MM-DDTHH:MM:SS[.ffffff]Z`. Without a zone it is UTC. */
export function timestampDefault(value: unknown): string | Wrong {
  const moment = parseMoment(value);
  if (moment === null) return NOT_A_TIMESTAMP;
  const offset = offsetMinutes(moment.zone ?? 'Z');
  if (offset === null) return NOT_A_TIMESTAMP;
  if (offset === 0) return `${moment.date}T${moment.time}Z`;
  const local = new Date(`${moment.date}T${moment.time.slice(0, 8)}Z`).getTime();
  const shifted = new Date(local - offset * 60_000);
  const year = shifted.getUTCFullYear();
  if (year < 1 || year > 9999) return NOT_A_TIMESTAMP;
  return `${shifted.toISOString().slice(0, 19)}${moment.time.slice(8)}Z`;
}

/** Minutes east of UTC. Null for an invalid offset (PostgreSQL allows less than 16 hours). */
function offsetMinutes(zone: string): number | null {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 15 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
