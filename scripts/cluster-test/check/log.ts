/** The current log and its record of divergences, read with plain SQL. */
import pg from 'pg';

interface Stored {
  position: number;
  hash: string;
  previous: string;
  batch: string;
  reason: string | null;
}

interface Divergence {
  seen: number;
  /** Nothing up to this position was lost. */
  fork: number;
  /** Milliseconds since 1970. */
  noticed: number;
}

export interface Log {
  events: Stored[];
  byPosition: Map<number, Stored>;
  /** An event in the log names the divergence. */
  acknowledged: Divergence[];
}

export async function readLog(url: string): Promise<Log> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<Omit<Stored, 'position'> & { position: string }>(
    'SELECT position, hash, previous_hash AS previous, batch, reason FROM service.service_events ORDER BY position',
  );
  const divergences = await client.query<{ seen: string; fork: string; noticed: string }>(
    `SELECT d #>> '{seen,position}' AS seen, coalesce(d ->> 'fork', '0') AS fork, d ->> 'noticed_at' AS noticed
       FROM service.service_events, jsonb_array_elements(data -> 'divergences') d WHERE type = 'log.acknowledged'`,
  );
  await client.end();
  const events = rows.map((row) => ({ ...row, position: Number(row.position) }));
  return {
    events,
    byPosition: new Map(events.map((event) => [event.position, event])),
    acknowledged: divergences.rows.map(({ seen, fork, noticed }) => ({
      seen: Number(seen),
      fork: Number(fork),
      noticed: Date.parse(noticed),
    })),
  };
}

/**
 * True if the log records that the event at a position was lost.
 * @param since when it existed
 */
export function isCovered({ acknowledged }: Log, position: number, since: number): boolean {
  return acknowledged.some(
    ({ seen, fork, noticed }) => fork < position && seen >= position && noticed >= since - 1_000,
  );
}
