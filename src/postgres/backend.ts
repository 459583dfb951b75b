/** The process of the server that runs a transaction, as it is found from another connection. */
import type pg from 'pg';
import { isPooled } from './client.js';

export interface Backend {
  pid: number;
  /**
   * When the transaction began, where a pooler is between: the process is another client's as soon as it has ended. Null
   * where the session is ours.
   */
  since: string | null;
}

/** Columns of a statement in the transaction, for `backendOf`. */
export const BACKEND = 'pg_backend_pid() AS backend, now()::text AS began';

/** @param row with the columns of `BACKEND` */
export function backendOf(client: pg.ClientBase, row: Record<string, unknown> | undefined): Backend {
  return { pid: Number(row?.['backend']), since: isPooled(client) ? String(row?.['began']) : null };
}

/** SQL: whether a row `a` of pg_stat_activity is the backend whose members are the parameters $1 and $2. */
export const IS_BACKEND = '(a.pid = $1::int AND ($2::timestamptz IS NULL OR a.xact_start = $2::timestamptz))';
