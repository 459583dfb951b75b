/** Times that both ECMAScript and PostgreSQL write with a four-digit year. */

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** The end of the message about any other time. */
export const TIME_RANGE = 'from the year 1 to 9999, in UTC';

/** True if the database can store the time. PostgreSQL has no year 0, and both write years after 9999 differently. */
export function isStorableTime(time: Date): boolean {
  return time.getTime() >= EARLIEST && time.getTime() <= LATEST;
}
