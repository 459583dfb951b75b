/** Changes that a role with the privileges of the tables' owner can make to a log. */
import type pg from 'pg';
import type { Api } from './api.js';
import { eventHash } from './event-hash.js';
import { query } from './postgres.js';
import { until } from './until.js';
import { sha256 } from '../../src/kernel/sha256.js';
import { commitmentTo, personalText } from '../../src/log/event-hash.js';
import { GENESIS_HASH } from '../../src/log/head.js';
import { type EventRecord, readRecordPages, restoreEvents } from '../../src/log/read.js';
import { createClient } from '../../src/postgres/pool.js';

/** Runs `work` with the append-only trigger disabled. */
export async function tamper<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = createClient({ connectionString, schema: 'public', serviceSchema: 'service' });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('ALTER TABLE service.service_events DISABLE TRIGGER service_events_append_only');
    const result = await work(client);
    await client.query('ALTER TABLE service.service_events ENABLE ALWAYS TRIGGER service_events_append_only');
    await client.query('COMMIT');
    return result;
  } finally {
    await client.end();
  }
}

/**
 * Waits until no projection stands at the position or before it. A service reports a fork if it does not find the event
 * at which a projection stands, so a test that removes or changes a single event waits first.
 */
export const projectionsPass = (connectionString: string, position: number): Promise<void> =>
  until(`every projection is after position ${position}`, async () => {
    const behind = `SELECT FROM service.service_projections WHERE position <= ${position}`;
    return (await query(connectionString, behind)).length === 0;
  });

/** Deletes the last events. */
export const cutOff = (connectionString: string, count: number): Promise<void> =>
  tamper(connectionString, async (client) => {
    await client.query(
      'DELETE FROM service.service_events WHERE position > (SELECT max(position) - $1 FROM service.service_events)',
      [count],
    );
  });

/** Rewrites the log with a valid chain. */
export const rewrite = (
  connectionString: string,
  change: (events: EventRecord[]) => EventRecord[],
): Promise<EventRecord[]> =>
  tamper(connectionString, async (client) => {
    const events: EventRecord[] = [];
    for await (const page of readRecordPages(client, { after: 0 })) events.push(...page);
    const forged = chainEvents(change(events));
    await client.query('DELETE FROM service.service_events');
    await restoreEvents(client, forged);
    return forged;
  });

/** The events with new positions and hashes. */
function chainEvents(events: readonly EventRecord[]): EventRecord[] {
  let previous_hash = GENESIS_HASH;
  return events.map((event, index) => {
    const commitment = event.salt === null ? event.commitment : commitmentTo(personalText(event), event.salt, sha256);
    const placed = { ...event, commitment, position: index + 1, previous_hash };
    previous_hash = eventHash(placed);
    return { ...placed, hash: previous_hash };
  });
}

/**
 * Changes the expiry of deletions in the log. Call it before the list of the trash is changed: the purger leaves an
 * entry alone for an hour if the log keeps it longer than the list.
 * @param time an SQL expression; `condition`: on the events
 */
export async function keepInLog({ sql }: Pick<Api, 'sql'>, time: string, condition = 'true'): Promise<void> {
  await sql('ALTER TABLE service.service_events DISABLE TRIGGER USER');
  await sql(`UPDATE service.service_events SET data = jsonb_set(data, '{kept_until}', to_jsonb(${time}))
              WHERE type IN ('collection.deleted', 'field.deleted') AND ${condition}`);
  await sql('ALTER TABLE service.service_events ENABLE TRIGGER USER');
}
