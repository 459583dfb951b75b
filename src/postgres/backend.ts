/** Identifies the server process of a transaction, to find it from another connection. */
import type pg from 'pg';
import { isPooled } from './client.js';

export interface Backend {
  pid: number;
  /**
   * Start of the transaction behind a pooler, where the process serves another client as soon as the transaction ends.
   * Null for a session of our own.
   */
  since: string | null;
}

/** Columns of a statement in the transaction, for `backendOf`. */
export const BACKEND = 'pg_backend_pid() AS backend, now()::text AS began';

/** @param row with the columns of `BACKEND` */
export function backendOf(client: pg.ClientBase, row: Record<string, unknown> | undefined): Backend {
  return { pid: Number(row?.['backend']), since: isPooled(client) ? String(row?.['began']) : null };
}

/** SQL condition: a row `a` of pg_stat_activity is the backend given by the parameters $1 and $2. */
export const IS_BACKEND = '(a.pid = $1::int AND ($2::timestamptz IS NULL OR a.xact_start = $2::timestamptz))';
