/** Asking a server what it is, over a connection of its own. */
import pg from 'pg';
import { sqlState } from '../errors.js';
import type { SessionAttrs } from './address.js';
import { TIMELINE } from './timeline.js';

/** What a server says of itself. */
export interface ProbedServer {
  /** In recovery: it takes no writes. */
  standby: boolean;
  /** A new session's transactions take no writes. */
  readOnly: boolean;
  /** Counted up with each promotion; null on a standby. */
  timeline: number | null;
}

export type Probed = { found: ProbedServer } | { error: Error };

/** Milliseconds that a server has to answer. One that is stopped accepts connections, and says nothing. */
const LIMIT = 1_500;

const QUESTION = `
  SELECT pg_catalog.pg_is_in_recovery() AS standby,
         pg_catalog.pg_is_in_recovery() OR pg_catalog.current_setting('default_transaction_read_only')::boolean AS "readOnly",
         ${TIMELINE} AS timeline`;

/** @param connectionString with one host */
export async function probe(connectionString: string): Promise<Probed> {
  const client = new pg.Client({
    connectionString,
    application_name: 'data-platform-service probe',
    connectionTimeoutMillis: LIMIT,
    query_timeout: LIMIT,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<ProbedServer>(QUESTION);
    return { found: rows[0] as ProbedServer };
  } catch (error) {
    return { error: error as Error };
  } finally {
    client.end().catch(() => undefined);
  }
}

/** Whether a server is what `target_session_attrs` asks for. `prefer-standby` takes anything, a standby first. */
export function fits({ standby, readOnly }: ProbedServer, attrs: SessionAttrs): boolean {
  switch (attrs) {
    case 'read-write':
      return !readOnly;
    case 'read-only':
      return readOnly;
    case 'primary':
      return !standby;
    case 'standby':
      return standby;
    default:
      return true;
  }
}

/** A server that answers and doesn't let us in, and not because it starts, stops or is full: waiting changes nothing. */
export function isRefusal(error: Error): boolean {
  const state = sqlState(error);
  return state !== undefined && /^(?:28|3D|42)/.test(state);
}
