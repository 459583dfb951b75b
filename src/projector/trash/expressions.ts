/** SQL that questions about the trash share. Parameters are expressions themselves. */
import { trashSchemaNameSql } from '../../postgres/own-tables.js';
import { COPY } from '../ddl/trash/values.js';

/** A time as answers show it: ISO 8601, in UTC. */
export const shownTime = (time: string): string =>
  `pg_catalog.to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** What deletions are known by: an alias of rows that have these columns. */
type Deletion = 't' | 'e';

/**
 * Of the table that holds what a deletion kept, of itself or of a field's values: where `c` of pg_class is that one. No
 * join, which PostgreSQL would make with all of pg_class; and by name, for which nobody needs a right to the schema.
 */
export const isKeptTable = (of: Deletion): string =>
  `c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ${trashSchemaNameSql(`${of}.position`)})
   AND c.relname = CASE WHEN ${of}.field IS NULL THEN ${of}.collection ELSE '${COPY}' END`;

/** Whether it is there: somebody may have dropped it by hand. */
export const isThere = (of: Deletion): string => `EXISTS (SELECT FROM pg_catalog.pg_class c WHERE ${isKeptTable(of)})`;
