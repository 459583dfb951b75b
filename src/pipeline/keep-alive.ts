/**
 * Supervises a transaction from begin to end. PostgreSQL ends idle transactions, so this process regularly sends empty
 * queries. It also passes the server process and the deadline to the watch of the connection.
 */
import type pg from 'pg';
import type { Backend } from '../postgres/client.js';
import { attachWatch } from '../postgres/silent-connections.js';

/** Milliseconds between two empty queries while no other statement is sent. */
const SIGN_OF_LIFE = 1_500;

export interface KeepAlive {
  /** Call this when the transaction has begun in this server process. */
  began(backend: Backend): void;
  end(): void;
}

/** One transaction: its connection and its time limits. */
export interface TransactionAttempt {
  client: pg.PoolClient;
  attendance: KeepAlive;
  /** Milliseconds to wait for the log lock. */
  lockWait: number;
  /** Milliseconds to wait for each table lock. */
  tableWait: number;
  /** Milliseconds to wait for an automatic VACUUM to cancel itself. Undefined if none holds the locks. */
  vacuumWait?: number;
}

type ConnectedClient = pg.PoolClient & { readyForQuery: boolean };

/**
 * Starts the supervision of a transaction. The caller must end it with the transaction.
 * @param deadline when the caller gives up waiting (`performance.now`)
 */
export function keepAlive(client: pg.ClientBase, deadline: number): KeepAlive {
  const connected = client as ConnectedClient;
  let begun = false;
  attachWatch(client, { deadline });

  const signOfLife = setInterval(() => {
    // pg sets this flag while no query is running. The server responds to an empty query even in a failed transaction.
    if (begun && connected.readyForQuery) connected.query('').catch(() => undefined);
  }, SIGN_OF_LIFE);

  return {
    began: (backend) => {
      begun = true;
      attachWatch(client, { deadline, backend });
    },
    end: () => {
      clearInterval(signOfLife);
      attachWatch(client, {});
    },
  };
}
