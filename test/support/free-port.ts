import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that Linux assigns to connections and to servers without a port. */
const PORTS = { first: 10_000, last: 32_000 };

/**
 * A free port for a server that a test starts later or restarts. Other test processes could get an assigned port while
 * the server is down.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.first + Math.floor(Math.random() * (PORTS.last - PORTS.first));
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
