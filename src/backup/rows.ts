/** Rows as COPY's text format has them: the same on every release of PostgreSQL. */
import pg from 'pg';
import type { TableRows } from './contents.js';

/** What the text of a value depends on beside what every connection of ours sets. In a transaction. */
export const COPY_SETTINGS = `SET LOCAL lc_monetary = 'C'; SET LOCAL xmloption = 'content'; SET LOCAL row_security = off`;

const place = (schema: string, { table, columns }: TableRows): string => {
  const list = columns.length === 0 ? '' : ` (${columns.map((name) => pg.escapeIdentifier(name)).join(', ')})`;
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}${list}`;
};

export const copyOut = (schema: string, rows: TableRows): string => `COPY ${place(schema, rows)} TO STDOUT`;

export const copyIn = (schema: string, rows: TableRows): string => `COPY ${place(schema, rows)} FROM STDIN`;
