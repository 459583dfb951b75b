/** Quoted names of what belongs to a table. */
import { type Sql, ident, join, sql } from './sql.js';

/** `("a", "b")` */
export function columnList(names: readonly string[]): Sql {
  return sql`(${join(names.map(ident), sql`, `)})`;
}
