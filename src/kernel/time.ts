/** Times that both ECMAScript and PostgreSQL write with four digits for the year. */

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** What is said of any other. */
export const TIME_RANGE = 'from the year 1 to 9999, in UTC';

/** Whether a time can be sent to the database: a year 0 it has not, and beyond 9999 both write it otherwise. */
export function isStorableTime(time: Date): boolean {
  return time.getTime() >= EARLIEST && time.getTime() <= LATEST;
}
