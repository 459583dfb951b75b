import dns, { type LookupAddress } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, type Server, createServer } from 'node:net';
import { expect } from 'chai';
import { createClassify, type Sender, type Sent, createSender } from '../../../src/features/webhooks/send.js';
import { freePort } from '../../support/free-port.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';

const LOOPBACK = createClassify(['127.0.0.1']);

describe('sending to a receiver', () => {
  let receiver: Receiver;
  let sender: Sender;
  /** A busy machine needs time to respond. */
  const timeouts = { connect: 20_000, response: 20_000, whole: 20_000 };

  before(async () => {
    receiver = await startReceiver(await freePort());
  });
  after(() => receiver.stop());
  beforeEach(() => {
    receiver.received.length = 0;
    receiver.respond = (response) => void response.writeHead(204).end();
    sender = createSender({ classify: LOOPBACK, timeouts });
  });
  afterEach(() => sender.close());

  const send = (url = receiver.url, by = sender): Promise<Sent> =>
    by.send({ url, headers: { 'content-type': 'text/plain' }, body: 'hello', signal: new AbortController().signal });

  it('reuses the connection, and succeeds when the receiver has closed it', async () => {
    const ports = new Set<number | undefined>();
    receiver.respond = (response) => {
      ports.add(response.socket?.remotePort);
      response.writeHead(200).end('ok');
    };
    for (let index = 0; index < 3; index += 1) expect((await send()).error).to.equal(null);
    expect(ports.size).to.equal(1);
    await receiver.stop();
    await receiver.start();
    expect((await send()).error).to.equal(null);
    expect(receiver.received).to.have.length(4);
  });

  it('reports a redirect as a failure and does not follow it', async () => {
    receiver.respond = (response) => void response.writeHead(307, { location: `${receiver.url}/inside` }).end();
    expect(await send()).to.deep.include({
      status: 307,
      error: 'The receiver responded with 307. Redirects are not followed. Set the address that it redirects to.',
    });
    expect(receiver.received).to.have.length(1);
  });

  it('cuts off a response of a gigabyte, and trusts its status', async () => {
    const chunk = Buffer.alloc(64 * 1024);
    let written = 0;
    receiver.respond = async (response) => {
      response.setMaxListeners(0).on('error', () => undefined);
      response.writeHead(200, { 'content-length': 2 ** 30 });
      while (!response.destroyed && written < 2 ** 30) {
        written += chunk.length;
        if (!response.write(chunk))
          await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
      }
    };
    expect((await send()).error).to.equal(null);
    expect(written).to.be.below(2 ** 26);
  });

  it('gives up on a receiver that does not respond, or does not finish', async () => {
    const silent = createSender({ classify: LOOPBACK, timeouts: { ...timeouts, response: 300 } });
    receiver.respond = () => undefined;
    expect(await send(receiver.url, silent)).to.deep.include({
      status: null,
      error: 'The receiver did not respond within 0.3 s.',
    });
    silent.close();
    // The response must begin within the limit of the whole.
    const endless = createSender({ classify: LOOPBACK, timeouts: { ...timeouts, whole: 4_000 } });
    receiver.respond = (response) => void response.writeHead(500).write('…');
    expect(await send(receiver.url, endless)).to.deep.include({
      status: 500,
      error: 'The receiver responded with 500.',
    });
    endless.close();
  });

  it('gives up on a receiver that sends headers without end', async () => {
    const server: Server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n');
      const more = setInterval(() => socket.write(`x-${Math.random()}: ${'y'.repeat(1_000)}\r\n`), 1);
      socket.on('close', () => clearInterval(more));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { status, error } = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(status).to.equal(null);
      expect(error).to.match(/HPE_HEADER_OVERFLOW/);
    } finally {
      server.close();
    }
  });

  it('interrupts a request when its signal aborts', async () => {
    const abort = new AbortController();
    receiver.respond = () => abort.abort();
    const sent = await sender.send({ url: receiver.url, headers: {}, body: '', signal: abort.signal });
    expect(sent).to.deep.include({ status: null, error: 'The service interrupted the request.' });
  });

  it('reads Retry-After in seconds and as a date, up to one day', async () => {
    const pauses: (number | null)[] = [];
    for (const value of ['7', new Date(Date.now() + 90_000).toUTCString(), '999999999', 'soon']) {
      receiver.respond = (response) => void response.writeHead(429, { 'retry-after': value }).end();
      pauses.push((await send()).retryAfter);
    }
    expect(pauses[0]).to.equal(7_000);
    expect(pauses[1]).to.be.within(60_000, 90_000);
    expect(pauses.slice(2)).to.deep.equal([86_400_000, null]);
  });

  it('reaches no private address, even by a name that resolves to one, and sends nothing there', async () => {
    const outside = createSender({ classify: createClassify([]), timeouts });
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '2130706433'])
      for (const protocol of ['http', 'https']) {
        const { error } = await send(`${protocol}://${host}:${receiver.port}/`, outside);
        expect(error, `${protocol}://${host}`).to.match(/^The receiver is in a private network/);
      }
    outside.close();
    expect(receiver.received).to.deep.equal([]);
  });

  it('connects to the address that it has checked, and rejects a private one of a later lookup', async () => {
    const found = ['127.0.0.1', '10.0.0.1', '127.0.0.1'];
    const { lookup } = dns;
    const resolve = (_host: string, _options: object, done: (error: null, all: LookupAddress[]) => void): void =>
      done(null, [{ address: found.shift() ?? '', family: 4 }]);
    Object.assign(dns, { lookup: resolve });
    syncBuiltinESMExports();
    receiver.respond = (response) => void response.writeHead(204, { connection: 'close' }).end();
    const url = `http://rebinding.example:${receiver.port}/`;
    try {
      expect((await send(url)).error, 'first').to.equal(null);
      expect((await send(url)).error, 'second').to.match(/^The receiver is in a private network/);
      expect((await send(url)).error, 'third').to.equal(null);
    } finally {
      Object.assign(dns, { lookup });
      syncBuiltinESMExports();
    }
    expect(found, 'one lookup per connection').to.deep.equal([]);
    expect(receiver.received).to.have.length(2);
  });

  it('uses only the allowed addresses of a name', async () => {
    // localhost may also resolve to ::1, which is not allowed.
    expect((await send(`http://localhost:${receiver.port}/`)).error).to.equal(null);
  });
});
