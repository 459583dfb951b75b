/** Quoted names of what belongs to a table. */
import { indexName, primaryKeyName, uniqueName } from '../../schema/constraint-names.js';
import { type Sql, ident, join, qualified, sql } from './sql.js';

export const primaryKeyIdent = (collection: string): Sql => ident(primaryKeyName(collection));

export const uniqueIdent = (collection: string, field: string): Sql => ident(uniqueName(collection, field));

/** CREATE INDEX takes the bare name and puts the index beside its table; DROP INDEX needs `qualifiedIndex`. */
export const indexIdent = (collection: string, field: string): Sql => ident(indexName(collection, field));

export const qualifiedIndex = (schema: string, collection: string, field: string): Sql =>
  qualified(schema, indexName(collection, field));

/** `("a", "b")` */
export function columnList(names: readonly string[]): Sql {
  return sql`(${join(names.map(ident), sql`, `)})`;
}
