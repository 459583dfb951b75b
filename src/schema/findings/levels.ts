/** Derives the level of a finding from the size and use of its table. */
import type { Level, TableStatistics } from './model.js';

const KIB = 1024;
const MIB = KIB ** 2;

/** PostgreSQL reads a table within these limits in an instant. */
const SMALL = { rows: 10_000, bytes: 8 * MIB };
/** PostgreSQL reads a table within these limits in seconds. */
const MIDDLING = { rows: 1_000_000, bytes: 1_024 * MIB };

type Size = Pick<TableStatistics, 'rows' | 'bytes'>;

const isWithin = ({ rows, bytes }: Size, most: { rows: number; bytes: number }): boolean =>
  !isBeyond(rows, most.rows) && !isBeyond(bytes, most.bytes);

const isBeyond = (count: number | null, most: number): boolean => count !== null && count > most;

/**
 * The level of an operation that blocks others in proportion to the size of the table.
 * @param usual the level without statistics
 */
export function levelBySize(statistics: TableStatistics | undefined, usual: Level = 'warn'): Level {
  if (statistics === undefined || (statistics.rows === null && statistics.bytes === null)) return usual;
  if (isWithin(statistics, SMALL)) return 'note';
  // Locking an unused table makes nobody wait.
  return isWithin(statistics, MIDDLING) || statistics.uses === 0 ? 'warn' : 'danger';
}

/** The level of a change that breaks users of a table. */
export function levelByUse(statistics: TableStatistics | undefined): Level {
  if (statistics?.uses === 0) return 'note';
  return 'warn';
}

/** The text for a table that was neither analyzed nor counted. */
export const NOT_KNOWN = 'the number of rows is not known';

/** Formats the size of a table: ` (about 1,000 rows, 3 MB; by statistics 2 h old)`. */
export function sizeText({ bytes, rows, age }: TableStatistics): string {
  if (rows === null && bytes === null) return NOT_KNOWN;
  const since = age === null ? 'counted since its statistics began' : `the statistics are ${ageText(age)} old`;
  const count = rows === null ? NOT_KNOWN : `about ${rows.toLocaleString('en')} rows`;
  const size = bytes === null ? '' : `, ${bytesText(bytes)}`;
  return `${count}${size}; ${since}`;
}

const bytesText = (bytes: number): string =>
  bytes < MIB ? `${Math.ceil(bytes / KIB)} kB` : `${Math.round(bytes / MIB).toLocaleString('en')} MB`;

function ageText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

const UNITS: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
];

/** Formats a duration, for example `7d`. */
export function durationText(milliseconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => milliseconds % each === 0) ?? ['s', 1_000];
  return `${milliseconds / size}${unit}`;
}
