import { EVENT_COLUMNS, type EventRow, toEventRecord } from '../../log/read.js';
import type { Queryable } from '../../postgres/pool.js';
import type { StoredEvent } from '../../schema/model/events.js';
import { own } from '../../postgres/own-tables.js';
import { readEvent } from '../../schema/fold/upcasting.js';

const PAGE = 1_000;

const QUERY = `SELECT ${EVENT_COLUMNS} FROM ${own.events}
 WHERE position > $1 AND position <= $2 AND (type = 'field.updated' OR data @> '{"concurrent_indexes": true}')
 ORDER BY position LIMIT ${PAGE}`;

/** Events between two positions that may concern an index, in order. */
export async function* readIndexEvents(
  db: Queryable,
  { after, upTo }: { after: number; upTo: number },
): AsyncGenerator<StoredEvent, void, undefined> {
  for (let from: number | undefined = after; from !== undefined;) {
    const { rows }: { rows: EventRow[] } = await db.query<EventRow>(QUERY, [from, upTo]);
    for (const row of rows) yield readEvent(toEventRecord(row));
    from = rows.length < PAGE ? undefined : rows.at(-1)?.position;
  }
}
