import { hasColumn } from '../../model/state.js';
import type { Level, Rule, TableStatistics } from '../model.js';
import { isOldTable, isRequired, labelOf } from './common.js';

export const requiredField: Rule = {
  code: 'REQUIRED_FIELD',
  level: 'warn',
  title: 'Required field without a value for existing rows',
  what: 'A field comes to a table that was there before, can not be null, and has no default.',
  why: 'It is refused as soon as the table has one row; and applications that do not know the field can not insert any more.',
  safer: 'Add it with a default, or let it be null, fill it, and ask for NOT NULL online afterwards.',
  levels: '`note` where the statistics know of no rows, `danger` where they know of some.',
  example: {
    unsafe: 'POST /fields/articles {"field": "slug", "type": "string", "schema": {"is_nullable": false}}',
    safe: 'POST /fields/articles {"field": "slug", "type": "string"}',
  },
  aliases: { squawk: ['adding-required-field'], atlas: ['MF103'] },
  field({ old, now }, planned) {
    if (old !== undefined || !hasColumn(now) || !isOldTable(planned)) return undefined;
    if (!isRequired(now)) return undefined;
    const statistics = planned.batch.statistics(now.collection);
    const message = `add column ${labelOf(now)}: it can't be null and has no default, so any row refuses it`;
    return { message, field: now.field, level: levelByRows(statistics), statistics: statistics ?? null };
  },
};

function levelByRows(statistics: TableStatistics | undefined): Level {
  const rows = statistics?.rows ?? null;
  return rows === null ? 'warn' : rows > 0 ? 'danger' : 'note';
}
