import { NOT_KNOWN, sizeText } from '../levels.js';
import type { Rule, TableStatistics } from '../model.js';
import { tableOfRows } from '../planned-statement.js';
import { isPreparable, placeOf, preparedOnline } from './long-statements.js';

export const notOnline: Rule = {
  code: 'NOT_ONLINE',
  level: 'danger',
  title: 'Not applied online',
  what: 'The change could be prepared online but is applied directly to a table with more rows than the policy allows (`online_above_rows`).',
  why: 'Users of the table wait until it is done. With an online change they wait for short locks only.',
  safer: 'Apply it online.',
  levels:
    'Reported only if a policy sets `online_above_rows`. Rejected unless the policy sets another action for this code.',
  example: {
    unsafe: 'PATCH /fields/articles/title {"schema": {"is_unique": true}}',
    safe: 'PATCH /fields/articles/title?online {"schema": {"is_unique": true}}',
  },
  statement(statement, planned) {
    const { onlineAboveRows: most, online, statistics: of } = planned.batch;
    if (most === null || online || !isPreparable(statement, planned)) return undefined;
    const statistics = of(tableOfRows(statement));
    if (mostRows(statistics) <= most) return undefined;
    const size = statistics === undefined ? NOT_KNOWN : sizeText(statistics);
    return {
      message: `${statement.summary}: above ${most.toLocaleString('en')} rows the policy requires an online change (${size})`,
      ...placeOf(statement),
      statistics: statistics ?? null,
      safer: preparedOnline(planned),
    };
  },
};

/** The largest possible number of rows. */
const mostRows = (statistics: TableStatistics | undefined): number =>
  statistics?.rows ?? (statistics?.bytes ?? Infinity) / SMALLEST_ROW;

/** Minimum bytes of a row: its header and its line pointer. */
const SMALLEST_ROW = 28;
