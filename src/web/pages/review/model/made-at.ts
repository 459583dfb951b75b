/** Reads the creation time of a snapshot from its file name. */

/** `snapshot-20261121-074501.json`, as the service names it (UTC), and similar names: `2026-11-21T07-45`. */
const TIME = /(?<!\d)(20\d{2})-?(\d{2})-?(\d{2})[-T_ ](\d{2})[-:.]?(\d{2})(?:[-:.]?(\d{2}))?(?!\d)/;

/**
 * @param now milliseconds since 1970
 * @returns ISO 8601, not in the future; null if the name contains none
 */
export function timeInName(name: string, now: number): string | null {
  const [found, year, month, day, hour, minute, second = '00'] = TIME.exec(name) ?? [];
  if (found === undefined) return null;
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Rejects days and hours that do not exist.
  if (Number.isNaN(time.getTime()) || time.getUTCDate() !== Number(day) || time.getTime() > now) return null;
  return time.toISOString();
}
