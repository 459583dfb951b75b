import type { ColumnSchema, Field } from '../../schema/model/model.js';
import { isFunctionDefault } from '../../schema/normal-form/index.js';
import { type Sql, UnsafeSqlError, expression, literal, sql } from './sql.js';

/** The functions that a default may call. Everything else is a literal. */
const FUNCTIONS = new Map<string, Sql>([
  ['now()', sql`now()`],
  ['CURRENT_TIMESTAMP', sql`CURRENT_TIMESTAMP`],
  ['CURRENT_DATE', sql`CURRENT_DATE`],
  ['CURRENT_TIME', sql`CURRENT_TIME`],
  ['gen_random_uuid()', sql`gen_random_uuid()`],
]);

/** The expression after DEFAULT; null if the column has no default. */
export function defaultExpression(field: Field, schema: ColumnSchema): Sql | null {
  if (schema.extras?.default !== undefined) return expression(schema.extras.default);
  const value = schema.default_value;
  if (value === null) return null;
  if (typeof value === 'string' && isFunctionDefault(field.type, schema)) return functionCall(value);
  // A quoted literal without a type works for every type: PostgreSQL reads '5', 'true' and '{"a":1}' as the column's
  // type. This code therefore does not format numbers. A string is the text itself, also in json columns.
  return literal(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Checks whether each row gets its own value. Adding such a column rewrites the table. */
export function isVolatileDefault(field: Field, schema: ColumnSchema): boolean {
  if (schema.extras?.default !== undefined) return true;
  return schema.default_value === 'gen_random_uuid()' && isFunctionDefault(field.type, schema);
}

function functionCall(text: string): Sql {
  const call = FUNCTIONS.get(text);
  if (call === undefined) throw new UnsafeSqlError('not one of the functions a default may call', text);
  return call;
}
