import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { OperatorError } from '../../src/kernel/problem.js';
import { type ListeningServer, listen } from '../../src/http/server.js';

async function refusalOf(host: string, port: number): Promise<string> {
  const error: unknown = await listen(host, port).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).to.be.instanceOf(OperatorError);
  return (error as Error).message;
}

describe('the HTTP server', () => {
  const open: ListeningServer[] = [];
  const started = async (host = '127.0.0.1'): Promise<ListeningServer> => {
    const server = await listen(host, 0);
    open.push(server);
    return server;
  };

  afterEach(async () => {
    for (const server of open.splice(0)) await server.close(0);
  });

  it('reports an unavailable address with advice', async () => {
    const port = Number(new URL((await started()).url).port);
    expect(await refusalOf('127.0.0.1', port)).to.equal(
      `PORT ${port} is already in use on 127.0.0.1. Stop the program that uses it, or set another PORT (0 chooses a free one).`,
    );
    expect(await refusalOf('192.0.2.1', 0)).to.equal(
      'HOST 192.0.2.1 is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all interfaces.',
    );
    expect(await refusalOf('there-is.invalid', 0)).to.contain(
      'HOST there-is.invalid is not an address of this machine',
    );
  });

  it('returns a usable address', async () => {
    expect((await started('0.0.0.0')).url).to.match(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
    expect((await started('localhost')).url).to.match(/^http:\/\/localhost:[1-9]\d*$/);
  });

  it('responds that it is starting until it is ready', async () => {
    const server = await started();
    const early = await fetch(server.url);
    expect([early.status, early.headers.get('retry-after'), early.headers.get('content-type')]).to.deep.equal([
      503,
      '1',
      'application/json; charset=utf-8',
    ]);
    expect(early.headers.get('x-request-id')).to.match(/^[\da-f-]{36}$/);
    expect(await early.json()).to.deep.equal({
      errors: [{ message: 'The service is starting.', extensions: { code: 'UNAVAILABLE' } }],
    });
    server.serve((_request, response) => void response.end('ready'));
    expect(await (await fetch(server.url)).text()).to.equal('ready');
  });

  it('closes idle connections, and completes a running request', async () => {
    const server = await started();
    server.serve((_request, response) => void response.end());
    const idle = connect(Number(new URL(server.url).port), '127.0.0.1');
    idle.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const running = new Promise<() => void>((resolve) => {
      server.serve((_request, response) => resolve(() => void response.end('late')));
    });
    const answer = fetch(server.url);
    const finish = await running;
    const closed = server.close(10_000);
    await once(idle.resume(), 'close');
    finish();
    const reply = await answer;
    expect([await reply.text(), reply.headers.get('connection')]).to.deep.equal(['late', 'keep-alive']);
    await closed;
  });

  it('closes a connection on which nothing was sent, without the grace period', async () => {
    const server = await started();
    const silent = connect(Number(new URL(server.url).port), '127.0.0.1');
    await once(silent, 'connect');
    const closed = server.close(600_000);
    await once(silent.resume(), 'close');
    await closed;
  });

  it('aborts running requests after the grace period', async () => {
    const server = await started();
    const begun = new Promise<void>((resolve) => server.serve(() => resolve()));
    const answer = fetch(server.url).then(
      () => 'answered',
      () => 'cut off',
    );
    await begun;
    await server.close(50);
    expect(await answer).to.equal('cut off');
  });
});
