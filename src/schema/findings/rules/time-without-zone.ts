import type { Rule } from '../model.js';
import { comes, labelOf } from './common.js';

export const timeWithoutZone: Rule = {
  code: 'TIME_WITHOUT_ZONE',
  level: 'note',
  standing: true,
  title: 'Time without a zone',
  what: 'A field of the type `timestamp without time zone` (`dateTime`).',
  why: 'It is no point in time: its meaning depends on the reader, and sessions in other time zones compare it wrongly.',
  safer:
    'Use `timestamp` (with time zone) for points in time. Use `dateTime` for calendar times whose location is known otherwise.',
  example: { unsafe: '{"field": "sent_at", "type": "dateTime"}', safe: '{"field": "sent_at", "type": "timestamp"}' },
  aliases: { squawk: ['prefer-timestamptz'] },
  field: (change) =>
    comes(change, 'data_type') && change.now.schema?.data_type === 'timestamp without time zone'
      ? { message: `${labelOf(change.now)} is a timestamp without time zone`, field: change.now.field }
      : undefined,
};
