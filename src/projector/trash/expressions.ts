/** SQL that questions about the trash share. Parameters are expressions themselves. */
import { trashSchemaNameSql } from '../../postgres/own-tables.js';
import { COPY } from '../ddl/kept/values.js';

/** A time as answers show it: ISO 8601, in UTC. */
export const shownTime = (time: string): string =>
  `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** What deletions are known by: an alias of rows that have these columns. */
type Deletion = 't' | 'e';

/** The name of the table that holds what a deletion kept, of itself or of a field's values: as to_regclass reads it. */
export const keptTableName = (of: Deletion): string =>
  `pg_catalog.format('%I.%I', ${trashSchemaNameSql(`${of}.position`)}, CASE WHEN ${of}.field IS NULL THEN ${of}.collection ELSE '${COPY}' END)`;

/** Whether it is there: somebody may have dropped it by hand. */
export const isThere = (of: Deletion): string => `pg_catalog.to_regclass(${keptTableName(of)}) IS NOT NULL`;
