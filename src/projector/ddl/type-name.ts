/** Which texts are the name of a PostgreSQL type: a closed list, and what the parser takes for one type and no more. */
import { checkTypeText } from '../../schema/sql-text/expression.js';

const SIMPLE = new Set([
  'boolean',
  'smallint',
  'integer',
  'bigint',
  'real',
  'double precision',
  'numeric',
  'text',
  'citext',
  'character varying',
  'character',
  'date',
  'time without time zone',
  'timestamp without time zone',
  'timestamp with time zone',
  'json',
  'jsonb',
  'uuid',
  'bytea',
  'geometry',
]);

/** Of these, with a length or precision (and scale) in parentheses. */
const MODIFIED = /^(character varying|character|numeric)\((\d{1,9})(?:,-?\d{1,4})?\)$/;

/** Whether `text` names exactly one type, arrays and modifiers included. */
export function isTypeName(text: string): boolean {
  return SIMPLE.has(text) || MODIFIED.test(text) || checkTypeText(text) === null;
}
