/* Counts restored values whose rows no longer exist. Their copy is dropped with the restore. */
import { type Sql, literal, sql } from './sql.js';

export interface UnmatchedValues {
  collection: string;
  field: string;
  /** Position of the deletion. */
  position: number;
  count: number;
}

/** A setting passes the number out of the PL/pgSQL block, until the end of the transaction. */
const settingOf = (position: number): Sql => literal(`dps.unmatched_${position}`);

/** PL/pgSQL that stores the number. */
export const noteUnmatched = (position: number, count: Sql): Sql =>
  sql`PERFORM pg_catalog.set_config(${settingOf(position)}, (${count})::text, true);`;

/** Returns the number after the restore, in the same transaction. */
export const selectUnmatched = (position: number): Sql =>
  sql`SELECT NULLIF(pg_catalog.current_setting(${settingOf(position)}, true), '')::float8 AS unmatched`;
