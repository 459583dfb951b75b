import { type Sql, ident, join, sql } from './sql.js';

export function columnList(names: readonly string[]): Sql {
  return sql`(${join(names.map(ident), sql`, `)})`;
}
