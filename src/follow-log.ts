/** How a process hears of what others have changed: it is told by a primary, and asks a standby. */
import { type Listener, createListener } from './log/listener.js';
import type { Logger } from './postgres/logger.js';
import type { ConnectionOptions } from './postgres/pool.js';
import type { ServerRole } from './postgres/server-role.js';
import type { Freshness } from './reads/freshness.js';
import { startPolling } from './reads/polling.js';
import type { Store } from './reads/state-store.js';
import type { Shutdown } from './shutdown.js';

export interface FollowOptions {
  /** Where a session can listen. */
  connection: ConnectionOptions;
  role: ServerRole;
  freshness: Pick<Freshness, 'check'>;
  store: Pick<Store, 'atHead'>;
  logger: Logger;
  shutdown: Shutdown;
}

export interface Following {
  /** Whether notifications of other processes reach this one now. */
  listening(): boolean;
}

/** Each read asks for the end of the log itself; this spares it the catching up, and wakes the projections and streams. */
export function followLog({ connection, role, freshness, store, logger, shutdown }: FollowOptions): Following {
  let listener: Listener | undefined;
  const failed = (error: unknown): void => {
    // What is under way at a stop meets connections that are closed already.
    if (!shutdown.begun()) logger.warn('could not follow the log', { error });
  };
  const look = async (): Promise<number> => {
    const { head } = await freshness.check();
    await store.atHead(head);
    return head;
  };
  const listen = (): void => {
    listener = createListener({
      ...connection,
      logger,
      onHead: (position) => void store.atHead(position).catch(failed),
      onConnect: () => void look().catch(failed),
    });
    listener.start();
  };
  role.subscribe((standby) => {
    void listener?.close().catch(failed);
    listener = undefined;
    if (!standby && !shutdown.begun()) listen();
  });
  if (!role.current().standby) listen();
  const listening = (): boolean => listener?.connected() === true;
  // What can't be read is told by who looks: once, and not with each look.
  const polling = startPolling({ needed: () => !listening(), look, onError: () => undefined });
  shutdown.add('listener', async () => {
    polling.stop();
    await listener?.close();
  });
  return { listening };
}
