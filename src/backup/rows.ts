/** Rows in COPY's text format, which is the same in every release of PostgreSQL. */
import pg from 'pg';
import { ownTable } from '../postgres/own-tables.js';
import type { TableRows } from './contents.js';

/** Settings that affect the text of values, beyond those of all our connections. For a transaction. */
export const COPY_SETTINGS = `SET LOCAL lc_monetary = 'C'; SET LOCAL xmloption = 'content'; SET LOCAL row_security = off`;

/** @param schema null for the service's own */
const place = (schema: string | null, { table, columns }: TableRows): string => {
  const list = columns.length === 0 ? '' : ` (${columns.map((name) => pg.escapeIdentifier(name)).join(', ')})`;
  const name = pg.escapeIdentifier(table);
  return `${schema === null ? ownTable(name) : `${pg.escapeIdentifier(schema)}.${name}`}${list}`;
};

export const copyOut = (schema: string | null, rows: TableRows): string => `COPY ${place(schema, rows)} TO STDOUT`;

export const copyIn = (schema: string | null, rows: TableRows): string => `COPY ${place(schema, rows)} FROM STDIN`;
