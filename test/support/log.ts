import { type Range, readEventPages } from '../../src/log/read.js';
import type { Queryable } from '../../src/postgres/pool.js';
import type { StoredEvent } from '../../src/schema/model/events.js';

/** All events of the range, in order. */
export async function eventsOf(db: Queryable, range: Range = { after: 0 }): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const page of readEventPages(db, range)) events.push(...page);
  return events;
}
