import { hasColumn } from '../../model/state.js';
import { isSerial } from '../../model/extras.js';
import type { Rule } from '../model.js';
import { labelOf } from './common.js';

export const serialColumn: Rule = {
  code: 'SERIAL_COLUMN',
  level: 'note',
  standing: true,
  title: 'Counts by a sequence of its own',
  what: 'A field counts by a default `nextval(…)`, as `serial` does, and not as an identity column.',
  why: 'The sequence has privileges and an owner of its own: who may insert into the table may still not count.',
  safer: 'Use `has_auto_increment`, which makes an identity column.',
  aliases: { squawk: ['prefer-identity'] },
  field: ({ old, now }) =>
    hasColumn(now) && isSerial(now.schema) && !(hasColumn(old) && isSerial(old.schema))
      ? { message: `${labelOf(now)} counts by a default, not as identity`, field: now.field }
      : undefined,
};
