/** Copies events into an empty log with their original positions, ids, times and hashes. */
import type pg from 'pg';
import { own } from '../postgres/own-tables.js';
import type { EventRecord } from './read.js';

const INSERT = `
  INSERT INTO ${own.events} (position, id, batch, type, version, collection, field, data, actor, command, reason,
                              request_id, ip, user_agent, context, subject, occurred_at, previous_hash, hash)
  SELECT position, id, batch, type, version, collection, field, data, actor, command, reason,
         request_id, ip, user_agent, context, subject, occurred_at, previous_hash, hash
    FROM pg_catalog.jsonb_to_recordset($1) AS e (position bigint, id uuid, batch uuid, type text, version integer,
         collection text, field text, data jsonb, actor jsonb, command text, reason text, request_id text, ip text,
         user_agent text, context jsonb, subject jsonb, occurred_at timestamptz, previous_hash text, hash text)`;

/** The caller has verified the chain and holds the log lock. */
export async function restoreEvents(client: pg.ClientBase, events: readonly EventRecord[]): Promise<void> {
  if (events.length > 0) await client.query(INSERT, [JSON.stringify(events)]);
}
