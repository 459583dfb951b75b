import type { Rule } from '../model.js';
import { comes, labelOf } from './common.js';

export const charType: Rule = {
  code: 'CHAR_TYPE',
  level: 'note',
  standing: true,
  title: 'char(n)',
  what: 'A field of the type `char(n)`.',
  why: 'PostgreSQL pads every value with blanks and ignores them in comparisons. The fixed length saves nothing.',
  safer: 'Use `string` (varchar) or `text`.',
  example: {
    unsafe: '{"field": "country", "type": "string", "schema": {"data_type": "character", "max_length": 2}}',
    safe: '{"field": "country", "type": "string", "schema": {"max_length": 2}}',
  },
  aliases: { squawk: ['ban-char-field'] },
  field: (change) =>
    comes(change, 'data_type') && change.now.schema?.data_type === 'character'
      ? { message: `${labelOf(change.now)} is char(${change.now.schema.max_length ?? 1})`, field: change.now.field }
      : undefined,
};
