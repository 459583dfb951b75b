/** Notices changes by other processes. A primary sends notifications. A standby is polled. */
import { type Listener, createListener } from './log/listener.js';
import type { Logger } from './postgres/logger.js';
import type { ConnectionOptions } from './postgres/pool.js';
import type { ServerRole } from './postgres/server.js';
import type { Freshness } from './reads/freshness.js';
import { startPolling } from './reads/polling.js';
import type { Store } from './reads/state-store.js';
import type { Shutdown } from './shutdown.js';

export interface FollowOptions {
  /** Address that accepts a session for LISTEN. */
  connection: ConnectionOptions;
  role: ServerRole;
  freshness: Pick<Freshness, 'check'>;
  store: Pick<Store, 'atHead'>;
  logger: Logger;
  shutdown: Shutdown;
}

export interface LogFollower {
  /** True while notifications of other processes reach this one. */
  listening(): boolean;
}

/**
 * Reads check the end of the log in any case. Following the log lets them find the state up to date, and wakes
 * projections and streams.
 */
export function followLog({ connection, role, freshness, store, logger, shutdown }: FollowOptions): LogFollower {
  let listener: Listener | undefined;
  const reportFailure = (error: unknown): void => {
    // During a stop, running reads find their connections closed, which is no failure.
    if (!shutdown.begun()) logger.warn('could not follow the log', { error });
  };
  const checkLog = async (): Promise<number> => {
    const { head } = await freshness.check();
    await store.atHead(head);
    return head;
  };
  const listen = (): void => {
    listener = createListener({
      ...connection,
      logger,
      onHead: (position) => void store.atHead(position).catch(reportFailure),
      onConnect: () => void checkLog().catch(reportFailure),
    });
    listener.start();
  };
  role.subscribe((standby) => {
    void listener?.close().catch(reportFailure);
    listener = undefined;
    if (!standby && !shutdown.begun()) listen();
  });
  if (!role.current().standby) listen();
  const listening = (): boolean => listener?.connected() === true;
  // Errors are ignored here, because the reader of the log already reports them once. Polling would repeat them.
  const polling = startPolling({ needed: () => !listening(), look: checkLog, onError: () => undefined });
  shutdown.add('listener', async () => {
    polling.stop();
    await listener?.close();
  });
  return { listening };
}
