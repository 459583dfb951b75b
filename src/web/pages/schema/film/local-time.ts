/** Times as a box for date and time has them: in the viewer's zone, to the minute. */

/** `2026-11-22T08:05` @param time ISO 8601 */
export function localOf(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The end of the minute, ISO 8601; null: it isn't all there. */
export function isoOf(local: string): string | null {
  const date = new Date(`${local}:59.999`);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
