import { type ColumnField, hasColumn } from '../../model/state.js';
import type { Rule } from '../model.js';
import { labelOf } from './common.js';

export const localTimeDefault: Rule = {
  code: 'LOCAL_TIME_DEFAULT',
  level: 'warn',
  standing: true,
  title: 'Default that depends on the session’s time zone',
  what: 'A `timestamp without time zone` with the current time as default.',
  why: 'PostgreSQL stores the local time of the inserting session. Applications in different time zones write different times.',
  safer: 'Use `timestamp` (with time zone) for times that a clock sets.',
  example: {
    unsafe: '{"field": "sent_at", "type": "dateTime", "schema": {"default_value": "now()"}}',
    safe: '{"field": "sent_at", "type": "timestamp", "schema": {"default_value": "now()"}}',
  },
  field: ({ old, now }) =>
    hasColumn(now) && isLocal(now) && !(hasColumn(old) && isLocal(old))
      ? { message: `${labelOf(now)} has no time zone, and its default is the current time`, field: now.field }
      : undefined,
};

const NOW: ReadonlySet<unknown> = new Set(['now()', 'CURRENT_TIMESTAMP']);

const isLocal = ({ schema }: ColumnField): boolean =>
  schema.data_type === 'timestamp without time zone' && NOW.has(schema.default_value);
