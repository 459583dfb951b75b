/** Rows as COPY's text format has them: the same on every release of PostgreSQL. */
import pg from 'pg';
import { ownTable } from '../postgres/own-tables.js';
import type { TableRows } from './contents.js';

/** What the text of a value depends on beside what every connection of ours sets. In a transaction. */
export const COPY_SETTINGS = `SET LOCAL lc_monetary = 'C'; SET LOCAL xmloption = 'content'; SET LOCAL row_security = off`;

/** @param schema null: the service's own */
const place = (schema: string | null, { table, columns }: TableRows): string => {
  const list = columns.length === 0 ? '' : ` (${columns.map((name) => pg.escapeIdentifier(name)).join(', ')})`;
  const name = pg.escapeIdentifier(table);
  return `${schema === null ? ownTable(name) : `${pg.escapeIdentifier(schema)}.${name}`}${list}`;
};

/** The statement that reads the rows. @param schema null: the service's own */
export const copyOut = (schema: string | null, rows: TableRows): string => `COPY ${place(schema, rows)} TO STDOUT`;

/** The statement that writes what `copyOut` has read. @param schema null: the service's own */
export const copyIn = (schema: string | null, rows: TableRows): string => `COPY ${place(schema, rows)} FROM STDIN`;
