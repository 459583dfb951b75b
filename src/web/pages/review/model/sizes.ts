/** How much a table holds, by PostgreSQL's statistics. */
import type { LockedTable } from './plan.js';

/** Null: the statistics don't know it yet. */
export function sizeText({ rows, bytes }: Pick<LockedTable, 'rows' | 'bytes'>): string | null {
  const parts = [
    ...(rows === null ? [] : [`about ${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`]),
    ...(bytes === null ? [] : [bytesText(bytes)]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
