import type pg from 'pg';
import { prepareEvents } from '../../src/log/append.js';
import { type LogHead, emptyHead } from '../../src/log/head.js';
import { HEAD_QUERY } from '../../src/log/read.js';
import { sendBatch } from '../../src/postgres/exchange.js';
import { createClient } from '../../src/postgres/pool.js';
import type { Cause, LogEvent, StoredEvent } from '../../src/schema/model/events.js';

const NOBODY: Cause = {
  actor: { id: 'test', name: 'Test' },
  command: 'test',
  reason: null,
  request_id: null,
  ip: null,
  user_agent: null,
};

/**
 * Appends events in one batch. The caller holds the log's lock in the client's transaction, and has read `head`
 * since.
 */
export async function appendEvents(
  client: pg.ClientBase,
  head: LogHead,
  events: readonly LogEvent[],
  cause: Cause,
): Promise<StoredEvent[]> {
  const prepared = await prepareEvents({ head, events, cause });
  await sendBatch(client, prepared.statements);
  return prepared.events;
}

/** Appends in its own transaction with correct hashes. */
export async function append(
  connectionString: string,
  events: readonly LogEvent[],
  cause: Partial<Cause> = {},
): Promise<StoredEvent[]> {
  const client = createClient({ connectionString, schema: 'public', serviceSchema: 'service' });
  await client.connect();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ position: number; hash: string; occurred_at: Date }>(HEAD_QUERY);
    const [last] = rows;
    const head = last === undefined ? emptyHead() : { ...last, occurred_at: last.occurred_at.toISOString() };
    const stored = await appendEvents(client, head, events, { ...NOBODY, ...cause });
    await client.query('COMMIT');
    return stored;
  } finally {
    await client.end();
  }
}

/** An event without a schema change. */
export const ACKNOWLEDGED: LogEvent = {
  type: 'log.acknowledged',
  version: 1,
  collection: null,
  field: null,
  subject: { kind: 'log', id: '7' },
  data: { divergences: [] },
};
