import { type ColumnField, hasColumn } from '../../model/state.js';
import type { Rule } from '../model.js';
import { labelOf } from './common.js';

export const localTimeDefault: Rule = {
  code: 'LOCAL_TIME_DEFAULT',
  level: 'warn',
  standing: true,
  title: 'Default that depends on the session’s time zone',
  what: 'A `timestamp without time zone` whose default is the present moment.',
  why: 'The moment is written as the clock of the session that inserts shows it: two applications in two time zones write two times.',
  safer: 'Use `timestamp` (with time zone) for what is set by a clock.',
  example: {
    unsafe: '{"field": "sent_at", "type": "dateTime", "schema": {"default_value": "now()"}}',
    safe: '{"field": "sent_at", "type": "timestamp", "schema": {"default_value": "now()"}}',
  },
  field: ({ old, now }) =>
    hasColumn(now) && isLocal(now) && !(hasColumn(old) && isLocal(old))
      ? { message: `${labelOf(now)} is without time zone, and its default is the present moment`, field: now.field }
      : undefined,
};

const NOW: ReadonlySet<unknown> = new Set(['now()', 'CURRENT_TIMESTAMP']);

const isLocal = ({ schema }: ColumnField): boolean =>
  schema.data_type === 'timestamp without time zone' && NOW.has(schema.default_value);
