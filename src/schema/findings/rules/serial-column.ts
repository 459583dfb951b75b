import { hasColumn } from '../../model/state.js';
import { isSerial } from '../../model/extras.js';
import type { Rule } from '../model.js';
import { labelOf } from './common.js';

export const serialColumn: Rule = {
  code: 'SERIAL_COLUMN',
  level: 'note',
  standing: true,
  title: 'Sequence instead of identity',
  what: 'A field counts with a default `nextval(…)`, as `serial` does, instead of being an identity column.',
  why: 'The sequence has its own owner and privileges. A role with INSERT on the table may lack USAGE on the sequence.',
  safer: 'Use `has_auto_increment`, which creates an identity column.',
  aliases: { squawk: ['prefer-identity'] },
  field: ({ old, now }) =>
    hasColumn(now) && isSerial(now.schema) && !(hasColumn(old) && isSerial(old.schema))
      ? { message: `${labelOf(now)} counts with a sequence default, not as identity`, field: now.field }
      : undefined,
};
