/**
 * Warns about objects that a plan recreates under a former name without known identity. They are empty, which may
 * surprise the client.
 */
import { memberKey } from '../../schema/model/state.js';
import type { Queryable } from '../../postgres/pool.js';
import { own } from '../../postgres/own-tables.js';
import type { Warning } from '../../kernel/warning.js';
import type { LogEvent } from '../../schema/model/events.js';

interface Gone {
  collection: string;
  field: string | null;
  /** Position of the event that deleted it. */
  position: number;
}

type Name = Pick<Gone, 'collection' | 'field'>;

const TABLES = `
  SELECT d.collection, NULL AS field, pg_catalog.max(d.position) AS position
    FROM ${own.events} d
   WHERE d.type = 'collection.deleted' AND d.collection = ANY ($1)
     AND EXISTS (SELECT FROM ${own.events} c
                  WHERE c.collection = d.collection AND c.type IN ('collection.created', 'collection.adopted')
                    AND c.position < d.position AND pg_catalog.jsonb_typeof(c.data #> '{collection,schema}'::text[]) = 'object')
   GROUP BY d.collection`;

const COLUMNS = `
  SELECT d.collection, d.field, pg_catalog.max(d.position) AS position
    FROM pg_catalog.jsonb_to_recordset($2) AS w (collection text, field text)
    JOIN ${own.events} d ON d.collection = w.collection AND d.field = w.field AND d.type = 'field.deleted'
   WHERE EXISTS (SELECT FROM ${own.events} c
                  WHERE c.collection = d.collection AND c.position < d.position
                    AND (c.type = 'field.created' AND c.field = d.field
                           AND pg_catalog.jsonb_typeof(c.data #> '{field,schema}'::text[]) = 'object'
                         OR c.type IN ('collection.created', 'collection.adopted')
                           AND pg_catalog.jsonb_path_exists(c.data, '$.fields[*] ? (@.field == $name && @.schema != null)',
                                                 pg_catalog.jsonb_build_object('name', d.field))))
   GROUP BY d.collection, d.field`;

/** Warns about each name under which an object with data was deleted. */
export async function notRestoredByName(
  db: Queryable,
  made: readonly Name[],
): Promise<ReadonlyMap<string, readonly Warning[]>> {
  const tables = made.flatMap(({ collection, field }) => (field === null ? [collection] : []));
  const columns = made.flatMap(({ collection, field }) => (field === null ? [] : [{ collection, field }]));
  if (made.length === 0) return new Map();
  const { rows } = await db.query<Gone>(`${TABLES} UNION ALL ${COLUMNS}`, [tables, JSON.stringify(columns)]);
  return new Map(
    rows.map((gone) => [
      gone.field === null ? gone.collection : memberKey(gone.collection, gone.field),
      [comesEmpty(gone, gone.position)],
    ]),
  );
}

/** The warning about an object that was deleted at a position. */
export function comesEmpty({ collection, field }: Name, position: number): Warning {
  const message =
    field === null
      ? `create table ${collection}: it comes back empty; the items it held went with position ${position}`
      : `add column ${field} to ${collection}: it comes back empty; the values it held went with position ${position}`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}

/** The warning about an object whose data the trash lacks because the database was created from its log. */
export function emptied({ collection, field }: Name, position: number): Warning {
  const what = field === null ? `restore table ${collection}` : `restore column ${field} of ${collection}`;
  const message = `${what}: it comes back empty; this database was made from its log, and has nothing of what position ${position} left in the trash`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}

/** Warnings about objects that the events restore without data. */
export function emptiedBy(events: readonly LogEvent[]): Warning[] {
  return events.flatMap((event) => {
    if (event.type !== 'collection.created' && event.type !== 'field.created') return [];
    const { collection, field } = event;
    const { restored } = event.data;
    return restored?.empty === true ? [emptied({ collection, field }, restored.position)] : [];
  });
}

/** The warning about an object that is deleted first. */
export function goneNow({ collection, field }: Name): Warning {
  const message = `recreate ${collection}.${field}: it comes back empty; the values it holds are deleted first`;
  return { code: 'DATA_NOT_RESTORED', collection, ...(field !== null && { field }), message };
}
