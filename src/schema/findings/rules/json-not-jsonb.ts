import type { Rule } from '../model.js';
import { comes, labelOf } from './common.js';

export const jsonNotJsonb: Rule = {
  code: 'JSON_NOT_JSONB',
  level: 'note',
  standing: true,
  title: 'json instead of jsonb',
  what: 'A column of the type `json`.',
  why: 'It keeps the text as it was sent, blanks and repeated keys included: it can not be compared or indexed, and `SELECT DISTINCT` fails.',
  safer: 'Use `jsonb`, unless the text itself matters.',
  example: {
    unsafe: '{"field": "options", "type": "json", "schema": {"data_type": "json"}}',
    safe: '{"field": "options", "type": "json", "schema": {"data_type": "jsonb"}}',
  },
  aliases: { strong_migrations: ['add_column_json'] },
  field: (change) =>
    comes(change, 'data_type') && change.now.schema?.data_type === 'json'
      ? { message: `${labelOf(change.now)} is json, not jsonb`, field: change.now.field }
      : undefined,
};
