/**
 * Looking after a transaction from its begin to its end. The server is told that this process is alive, because it ends
 * an unattended transaction; and the watch over the connection is told what to ask about, and until when.
 */
import type pg from 'pg';
import type { Backend } from '../postgres/backend.js';
import { tellWatch } from '../postgres/silent-connections.js';

/** Milliseconds between two signs of life, while there is nothing else to say. */
const SIGN_OF_LIFE = 1_500;

export interface Attendance {
  /** The transaction has begun, and this is what runs it. */
  began(backend: Backend): void;
  end(): void;
}

/** One transaction: what it runs on, and how long it may wait. */
export interface Try {
  client: pg.PoolClient;
  attendance: Attendance;
  /** Milliseconds to wait for the log's lock. */
  lockWait: number;
  /** Milliseconds to wait for each lock on a table. */
  tableWait: number;
  /** Milliseconds to wait for an automatic VACUUM to cancel itself; undefined: none is in the way. */
  vacuumWait?: number;
}

type Connected = pg.PoolClient & { readyForQuery: boolean };

/**
 * To be ended with the transaction.
 * @param deadline when its caller's time to wait is over (`performance.now`)
 */
export function keepAlive(client: pg.ClientBase, deadline: number): Attendance {
  const connected = client as Connected;
  let begun = false;
  tellWatch(client, { deadline });

  const signOfLife = setInterval(() => {
    // pg's own word for having nothing under way. An empty query is answered in a failed transaction as well.
    if (begun && connected.readyForQuery) connected.query('').catch(() => undefined);
  }, SIGN_OF_LIFE);

  return {
    began: (backend) => {
      begun = true;
      tellWatch(client, { deadline, backend });
    },
    end: () => {
      clearInterval(signOfLife);
      tellWatch(client, {});
    },
  };
}
