/** Rebuilds the change request rows from the log. */
import type pg from 'pg';
import { EVENT_COLUMNS, type EventRow, headPosition, toEventRecord } from '../../log/read.js';
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { createTimeSlice } from '../../kernel/event-loop.js';
import { sendBatch } from '../../postgres/exchange.js';
import { foldChange } from '../../schema/change-requests/fold.js';
import { CHANGE, type ChangeRequest } from '../../schema/change-requests/model.js';
import { readEvent } from '../../schema/fold/upcasting.js';
import type { LogLock } from '../../log/log-lock.js';
import { writeChanges } from './rows.js';

export const CHANGES_PROJECTION = 'change-requests';

/** Events per page. */
const PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE subject ->> 'kind'::text = '${CHANGE}' AND position > $1 AND position <= $2 ORDER BY position LIMIT ${PAGE}`;

type Requests = Map<string, ChangeRequest>;

/** Folds the events between two positions into `requests`, which it also returns. */
export async function foldChangesOf(
  db: Queryable,
  { after, upTo }: { after: number; upTo: number },
  requests: Requests = new Map(),
): Promise<Requests> {
  const slice = createTimeSlice();
  for (let last: number | undefined = after; last !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [last, upTo]);
    for (const row of rows) {
      if (slice.isOver()) await slice.yield();
      foldChange(requests, readEvent(toEventRecord(row)));
    }
    last = rows.length < PAGE ? undefined : rows.at(-1)?.position;
  }
  return requests;
}

/** Rows per statement. */
const WRITTEN = 1_000;

/** Replaces all rows in the client's transaction, which must hold the log's lock. */
export async function replaceChanges(client: pg.ClientBase, requests: Requests): Promise<void> {
  await client.query(`DELETE FROM ${own.changes}`);
  const all = [...requests.values()];
  for (let at = 0; at < all.length; at += WRITTEN) await sendBatch(client, writeChanges(all.slice(at, at + WRITTEN)));
}

export interface RebuiltChanges {
  position: number;
  changes: number;
}

/** Folds without the log's lock, and takes it only for the last events and the rows. */
export async function rebuildChanges(pool: pg.Pool, lock: LogLock): Promise<RebuiltChanges> {
  const head = await headPosition(pool);
  const folded = await foldChangesOf(pool, { after: 0, upTo: head });
  return lock.underLock(async (client, { head: { position } }) => {
    const requests = await foldChangesOf(client, { after: head, upTo: position }, folded);
    await replaceChanges(client, requests);
    return { position, changes: requests.size };
  });
}
