/** Values of datetime inputs: in the viewer's zone, to the minute. */

/**
 * Returns the value of an input: `2026-11-22T08:05`.
 * @param time ISO 8601
 */
export function localOf(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the end of the minute in ISO 8601. Null if the input is incomplete. */
export const isoOf = (local: string): string | null => isoAt(local, '59.999');

/** Returns the beginning of the minute in ISO 8601. Null if the input is incomplete. */
export const startOf = (local: string): string | null => isoAt(local, '00');

function isoAt(local: string, seconds: string): string | null {
  const date = new Date(`${local}:${seconds}`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
