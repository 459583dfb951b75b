/** Quoted names of what belongs to a table. */
import { indexName } from '../../schema/constraint-names.js';
import { type Sql, ident, join, qualified, sql } from './sql.js';

/** CREATE INDEX takes the bare name and puts the index beside its table; DROP INDEX needs `qualifiedIndex`. */
export const indexIdent = (collection: string, field: string): Sql => ident(indexName(collection, field));

export const qualifiedIndex = (schema: string, collection: string, field: string): Sql =>
  qualified(schema, indexName(collection, field));

/** `("a", "b")` */
export function columnList(names: readonly string[]): Sql {
  return sql`(${join(names.map(ident), sql`, `)})`;
}
