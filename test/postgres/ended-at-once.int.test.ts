/** A server that accepts a session and ends it in the same TCP segment, like one that is shutting down. */
import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { createListener } from '../../src/follow-log.js';
import { probe } from '../../src/postgres/hosts/choose-host.js';
import { openLockedSession } from '../../src/postgres/locked-session.js';
import { withOwnClient } from '../../src/postgres/client.js';
import { connectionConfig, createClient, createPool } from '../../src/postgres/pool.js';
import { createFreshness } from '../../src/reads/freshness.js';
import { until } from '../support/until.js';

const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A protocol message: its type, and its length including itself. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const ENDED = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('K', Buffer.alloc(8)),
  message('Z', Buffer.from('I')),
  message('E', Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')),
]);

describe('a server that ends every session at once', () => {
  let server: net.Server;
  let sessions = 0;
  let connectionString = '';
  const options = () => ({ connectionString, schema: 'public', serviceSchema: 'service' });

  before(async () => {
    server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        sessions += 1;
        socket.end(ENDED);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    connectionString = `postgresql://a:b@127.0.0.1:${(server.address() as net.AddressInfo).port}/c`;
  });
  after(() => server.close());

  /** The process must survive in both cases: mocha fails a test on an uncaught exception. */
  const repeated = async (work: () => Promise<unknown>): Promise<void> => {
    const before = sessions;
    for (let tried = 0; tried < 20; tried += 1) {
      await work().then(
        () => undefined,
        (error: unknown) => expect(error).instanceOf(Error),
      );
      await new Promise(setImmediate);
    }
    expect(sessions).at.least(before + 20);
  };

  it('does not crash a process through the pool', async () => {
    const pool = createPool({ ...options(), max: 2, logger: SILENT });
    await repeated(() => pool.query('SELECT 1'));
    await pool.end();
  });

  it('does not crash a process that opens its own connection', async () => {
    await repeated(async () => {
      const client = createClient(options());
      try {
        await client.connect();
      } finally {
        client.end().catch(() => undefined);
      }
    });
    await repeated(() =>
      withOwnClient({ options: connectionConfig(options()) }, 1_000, (client) => client.query('SELECT 1')),
    );
  });

  it('does not crash a process through a session with a lock', () =>
    repeated(() =>
      openLockedSession({ connection: options(), database: 'c', purpose: 'concurrent-indexes', logger: SILENT }),
    ));

  it('does not crash a process through the check before reads', async () => {
    const freshness = createFreshness({ ...options(), logger: SILENT });
    await repeated(() => freshness.check());
    await freshness.close();
  });

  it('does not crash a process through the probe of several hosts', () => repeated(() => probe(connectionString)));

  it('does not crash a process through the listener', async () => {
    const before = sessions;
    const listener = createListener({
      ...options(),
      logger: SILENT,
      onHead: () => undefined,
      onConnect: () => undefined,
      backoff: () => 1,
    });
    listener.start();
    await until('the listener has tried 20 times', () => sessions >= before + 20);
    await listener.close();
  });
});
