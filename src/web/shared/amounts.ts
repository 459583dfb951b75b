const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function bytesText(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** step;
  const digits = step === 0 || value >= 100 ? 0 : 1;
  return `${value.toLocaleString(undefined, { maximumFractionDigits: digits })} ${bytes === 1 ? 'byte' : UNITS[step]}`;
}

/** PostgreSQL's estimate; null without statistics. */
export function sizeText({ rows, bytes }: { rows: number | null; bytes: number | null }): string | null {
  const parts = [rows !== null && `about ${counted(rows, 'row')}`, bytes !== null && bytesText(bytes)];
  return parts.filter((part) => part !== false).join(', ') || null;
}

/** `1 row`, `3,000 rows` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`;

export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 60) return `${seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
