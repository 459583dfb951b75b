import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports below those that Linux assigns to connections and to servers without a port. */
const PORTS = { first: 10_000, last: 32_000 };

/** Parallel test processes use different parts of the ports, so that none gets a port before its server starts. */
const PARTS = 16;
const SIZE = Math.floor((PORTS.last - PORTS.first) / PARTS);
const FIRST = PORTS.first + (Number(process.env['MOCHA_WORKER_ID'] ?? 0) % PARTS) * SIZE;

let next = Math.floor(Math.random() * SIZE);

/**
 * A free port for a server that a test starts later or restarts. Other test processes could get an assigned port while
 * the server is down.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + next;
    next = (next + 1) % SIZE;
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
