/** What a plan recreates under an old name: it comes back empty, and the caller who goes back in time should know. */
import { memberKey } from '../../schema/model/state.js';
import type { Queryable } from '../../postgres/pool.js';
import type { LogEvent } from '../../schema/model/events.js';
import { own } from '../../postgres/own-tables.js';
import type { Warning } from '../../kernel/warning.js';

interface Gone {
  collection: string;
  field: string | null;
  /** Of the event that deleted it. */
  position: number;
}

const TABLES = `
  SELECT d.collection, NULL AS field, max(d.position) AS position
    FROM ${own.events} d
   WHERE d.type = 'collection.deleted' AND d.collection = ANY ($1)
     AND EXISTS (SELECT FROM ${own.events} c
                  WHERE c.collection = d.collection AND c.type IN ('collection.created', 'collection.adopted')
                    AND c.position < d.position AND jsonb_typeof(c.data #> '{collection,schema}') = 'object')
   GROUP BY d.collection`;

const COLUMNS = `
  SELECT d.collection, d.field, max(d.position) AS position
    FROM jsonb_to_recordset($2) AS w (collection text, field text)
    JOIN ${own.events} d ON d.collection = w.collection AND d.field = w.field AND d.type = 'field.deleted'
   WHERE EXISTS (SELECT FROM ${own.events} c
                  WHERE c.collection = d.collection AND c.position < d.position
                    AND (c.type = 'field.created' AND c.field = d.field
                           AND jsonb_typeof(c.data #> '{field,schema}') = 'object'
                         OR c.type IN ('collection.created', 'collection.adopted')
                           AND jsonb_path_exists(c.data, '$.fields[*] ? (@.field == $name && @.schema != null)',
                                                 jsonb_build_object('name', d.field))))
   GROUP BY d.collection, d.field`;

/** A warning for each table and column that `events` make and that the log once deleted, or that they delete first. */
export async function notRestored(db: Queryable, events: readonly LogEvent[]): Promise<Warning[]> {
  const { tables, columns } = madeBy(events);
  if (tables.length + columns.length === 0) return [];
  const { rows } = await db.query<Gone>(`${TABLES} UNION ALL ${COLUMNS} ORDER BY collection, field NULLS FIRST`, [
    tables,
    JSON.stringify(columns),
  ]);
  return [...rows.map(goneBefore), ...columns.filter((made) => made.deleted).map(goneNow)];
}

function goneBefore({ collection, field, position }: Gone): Warning {
  const message =
    field === null
      ? `create table ${collection}: it comes back empty; the items it held went with position ${position}`
      : `add column ${field} to ${collection}: it comes back empty; the values it held went with position ${position}`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}

function goneNow({ collection, field }: { collection: string; field: string }): Warning {
  const message = `recreate ${collection}.${field}: it comes back empty; the values it holds are deleted first`;
  return { code: 'DATA_NOT_RESTORED', collection, field, message };
}

function madeBy(events: readonly LogEvent[]) {
  const tables: string[] = [];
  const columns: { collection: string; field: string; deleted: boolean }[] = [];
  const deleted = new Set<string>();
  for (const event of events) {
    const { type, collection } = event;
    if (type === 'field.deleted') deleted.add(memberKey(collection, event.field ?? ''));
    if (type === 'collection.created' && event.data.collection.schema !== null) tables.push(collection);
    if (type !== 'field.created' || event.data.field.schema === null) continue;
    const { field } = event.data.field;
    columns.push({ collection, field, deleted: deleted.has(memberKey(collection, field)) });
  }
  return { tables, columns };
}
