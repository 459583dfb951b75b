/** SQL shared by the queries about the trash. Parameters are expressions. */
import { trashSchemaNameSql } from '../../postgres/own-tables.js';
import { COPY } from '../ddl/trash/values.js';

/** A time in the format of responses: ISO 8601, in UTC. */
export const shownTime = (time: string): string =>
  `pg_catalog.to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Aliases of rows with the columns of a deletion. */
type Deletion = 't' | 'e';

/**
 * A condition on `c` of pg_class: it is the table that a deletion kept, or the copy of a field's values. A join would
 * use all of pg_class. Matching by name needs no privilege on the schema.
 */
export const isKeptTable = (of: Deletion): string =>
  `c.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace n WHERE n.nspname = ${trashSchemaNameSql(`${of}.position`)})
   AND c.relname = CASE WHEN ${of}.field IS NULL THEN ${of}.collection ELSE '${COPY}' END`;

/** Checks that it exists, because someone may have dropped it by hand. */
export const isThere = (of: Deletion): string => `EXISTS (SELECT FROM pg_catalog.pg_class c WHERE ${isKeptTable(of)})`;
