import { type ColumnField, hasColumn } from '../../model/state.js';
import type { Level, Rule, TableStatistics } from '../model.js';
import { counts, labelOf } from './common.js';

/** The largest value of a type. */
const LARGEST: ReadonlyMap<string, number> = new Map([
  ['smallint', 2 ** 15 - 1],
  ['integer', 2 ** 31 - 1],
]);

export const keyMayOverflow: Rule = {
  code: 'KEY_MAY_OVERFLOW',
  level: 'note',
  standing: true,
  title: 'Primary key may overflow',
  what: 'An auto-increment primary key is `integer` (2,147,483,647 values, including deleted and rolled back rows) or `smallint` (32,767).',
  why: 'When the numbers run out, inserts fail. A larger type rewrites the table and every table that references it.',
  safer: 'Use `bigInteger` if programs write the rows or the table may grow large.',
  levels:
    '`note` for a new table. By the share that the rows of the statistics use: `warn` from a tenth, `danger` from half.',
  example: {
    unsafe: '{"field": "id", "type": "integer", "schema": {"is_primary_key": true, "has_auto_increment": true}}',
    safe: '{"field": "id", "type": "bigInteger", "schema": {"is_primary_key": true, "has_auto_increment": true}}',
  },
  aliases: { squawk: ['prefer-bigint-over-int', 'prefer-bigint-over-smallint'] },
  field({ old, now }, planned) {
    const largest = hasColumn(now) ? largestKey(now) : undefined;
    if (largest === undefined || planned.after?.collection.meta.singleton === true) return undefined;
    if (hasColumn(old) && largestKey(old) === largest) return undefined;
    const statistics = planned.batch.statistics(now.collection);
    return {
      message: `${labelOf(now)}: a key of type ${now.schema?.data_type} has ${largest.toLocaleString('en')} values`,
      field: now.field,
      level: levelOf(statistics, largest),
      ...(planned.batch.isNew(now.collection) ? {} : { statistics: statistics ?? null }),
    };
  },
};

const largestKey = (field: ColumnField): number | undefined =>
  field.schema.is_primary_key && counts(field) ? LARGEST.get(field.schema.data_type) : undefined;

function levelOf(statistics: TableStatistics | undefined, largest: number): Level {
  const used = (statistics?.rows ?? 0) / largest;
  if (used >= 0.5) return 'danger';
  return used >= 0.1 || largest < 100_000 ? 'warn' : 'note';
}
