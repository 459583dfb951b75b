import { hasColumn } from '../../model/state.js';
import type { Level, Rule, TableStatistics } from '../model.js';
import { isOldTable, isRequired, labelOf } from './common.js';

export const requiredField: Rule = {
  code: 'REQUIRED_FIELD',
  level: 'warn',
  title: 'Required field without a value for existing rows',
  what: 'A NOT NULL field without a default is added to an existing table.',
  why: 'It fails if the table has a row. Applications that do not know the field can no longer insert.',
  safer: 'Add it with a default, or add it as nullable, fill it, and make it NOT NULL online.',
  levels: '`note` if the statistics count no rows, `danger` if they count some.',
  example: {
    unsafe: 'POST /fields/articles {"field": "slug", "type": "string", "schema": {"is_nullable": false}}',
    safe: 'POST /fields/articles {"field": "slug", "type": "string"}',
  },
  aliases: { squawk: ['adding-required-field'], atlas: ['MF103'] },
  field({ old, now }, planned) {
    if (old !== undefined || !hasColumn(now) || !isOldTable(planned)) return undefined;
    if (!isRequired(now)) return undefined;
    const statistics = planned.batch.statistics(now.collection);
    const message = `add column ${labelOf(now)}: it is NOT NULL without a default, so it fails if the table has a row`;
    return { message, field: now.field, level: levelByRows(statistics), statistics: statistics ?? null };
  },
};

function levelByRows(statistics: TableStatistics | undefined): Level {
  const rows = statistics?.rows ?? null;
  return rows === null ? 'warn' : rows > 0 ? 'danger' : 'note';
}
