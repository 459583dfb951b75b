/** SQL that questions about the trash share. Parameters are expressions themselves. */
import { trashSchemaNameSql } from '../../postgres/own-tables.js';
import { COPY } from '../ddl/kept/values.js';

/** A time as answers show it: ISO 8601, in UTC. */
export const shownTime = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** What deletions are known by: an alias of rows that have these columns. */
type Deletion = 't' | 'e';

/** The table that holds what a deletion kept, as `c`: of itself, or of a field's values. */
export const keptTable = (of: Deletion): string => `pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
    ON n.oid = c.relnamespace AND n.nspname = ${trashSchemaNameSql(`${of}.position`)}
   AND c.relname = CASE WHEN ${of}.field IS NULL THEN ${of}.collection ELSE '${COPY}' END`;

/** Whether it is there: somebody may have dropped it by hand. */
export const isThere = (of: Deletion): string => `EXISTS (SELECT FROM ${keptTable(of)})`;
