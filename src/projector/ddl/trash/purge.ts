import type { LogEvent } from '../../../schema/model/events.js';
import { qualified, sql, trash } from '../sql.js';
import type { Statement } from '../statement.js';
import { dropping, tableObject } from '../step.js';
import { COPY } from './values.js';

/** Drops what the trash keeps. Never CASCADE: objects that others created on it must be dropped by them. */
export function planPurges(events: readonly LogEvent[]): Statement[] {
  return events.flatMap((event, index) => {
    if (event.type !== 'trash.purged' || event.collection === null) return [];
    const { collection, field, type, data } = event;
    const object = tableObject(collection);
    const costs = { lock: 'none', locks: [], rewrites_table: false, may_fail: false, lock_entries: 6 } as const;
    const source = { event: index, type, collection, field };
    const what = field === null ? collection : `${collection}.${field}`;
    const schema = trash(data.position);
    return [
      {
        sql: sql`DROP TABLE IF EXISTS ${qualified(schema, field === null ? collection : COPY)}`,
        summary: `purge ${what} of position ${data.position}`,
        ...dropping(object),
        ...costs,
        loses_data: true,
        source,
      },
      {
        sql: sql`DROP SCHEMA IF EXISTS ${schema}`,
        summary: `leave no room in the trash for position ${data.position}`,
        object,
        drops: [],
        ...costs,
        loses_data: false,
        source,
      },
    ];
  });
}
