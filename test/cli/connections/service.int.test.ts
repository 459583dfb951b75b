/** A local HTTP server that responds like a service or another server. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { expect } from 'chai';
import type { Invocation } from '../../../src/cli/command.js';
import { type ServiceRequest, requestText, requestChecked, noResponse } from '../../../src/cli/connections/service.js';
import { OperatorError } from '../../../src/kernel/problem.js';

describe('requests of commands to a service', () => {
  let requests: { method?: string; url?: string; headers: IncomingMessage['headers']; body: string };
  let answer: (response: ServerResponse) => void;
  let url: string;
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      requests = { ...(method && { method }), ...(path && { url: path }), headers, body };
      answer(response);
    });
  });

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server.close());
  beforeEach(() => (answer = (response) => void response.end('fine')));

  const invocation = (values: object = {}, environment: Record<string, string> = { DPS_URL: url }) =>
    ({ values, environment }) as unknown as Invocation;
  const refusalOf = async (from: Invocation, request?: ServiceRequest): Promise<string> => {
    const error: unknown = await requestText(from, 'getPolicy', request).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(OperatorError);
    return (error as Error).message;
  };

  it('have the address, the token, the query and the body', async () => {
    expect(
      await requestText(invocation({}, { DPS_URL: url, DPS_TOKEN: 'one' }), 'getPolicy', {
        query: { x: 'é', y: undefined },
      }),
    ).to.equal('fine');
    expect([requests.method, requests.url]).to.deep.equal(['GET', '/policy?x=%C3%A9']);
    expect(requests.headers.authorization).to.equal('Bearer one');
    const file = { type: 'application/json', content: Buffer.from('{"é":1}') };
    await requestText(
      invocation({ url: `${url}/below/`, token: 'two' }, { DPS_URL: 'http://other', DPS_TOKEN: 'one' }),
      'openChange',
      {
        file,
        headers: { 'x-more': 'yes' },
      },
    );
    expect(requests).to.deep.include({ method: 'POST', url: '/below/changes', body: '{"é":1}' });
    expect(requests.headers).to.include({
      authorization: 'Bearer two',
      'content-type': 'application/json',
      'content-length': '8',
      'x-more': 'yes',
    });
    await requestText(invocation({ url: `${url}/below` }), 'getPolicy');
    expect(requests.url).to.equal('/below/policy');
    expect(requests.headers).not.to.have.any.keys('authorization', 'content-type');
  });

  it('include flags that are set, and use TLS for https addresses', async () => {
    await requestText(invocation(), 'getPolicy', { query: { force: true, dry_run: false, mode: undefined } });
    expect(requests.url).to.equal('/policy?force=true');
    const secured = createSocketServer((socket) => {
      socket.once('data', (sent) => {
        // The first byte of a TLS handshake (RFC 8446, 5.1).
        first = sent[0];
        socket.destroy();
      });
    });
    let first: number | undefined;
    await new Promise<void>((resolve) => secured.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = secured.address() as AddressInfo;
      await refusalOf(invocation({ url: `https://127.0.0.1:${port}` }));
      expect(first).to.equal(22);
    } finally {
      secured.close();
    }
  });

  it('return the text and headers of any success', async () => {
    answer = (response) => void response.writeHead(299, { 'x-there': '1' }).end('text');
    const { text, headers } = await requestChecked(invocation(), 'getPolicy');
    expect([text, headers.get('x-there')]).to.deep.equal(['text', '1']);
  });

  it("report the service's own errors, and responses of other servers", async () => {
    const errors = [
      { message: 'no', extensions: { path: 'a.b' } },
      { message: 'never', extensions: {} },
      { message: 'ever' },
    ];
    answer = (response) => void response.writeHead(400).end(JSON.stringify({ errors }));
    expect(await refusalOf(invocation())).to.equal('a.b: no\nnever\never');
    answer = (response) => void response.writeHead(502).end('<html>');
    expect(await refusalOf(invocation())).to.equal('The response has status 502 and does not come from this service.');
    answer = (response) => void response.writeHead(302, { location: '/y' }).end('{}');
    expect(await refusalOf(invocation())).to.equal('The response has status 302 and does not come from this service.');
  });

  it('report a connection lost before and during the response', async () => {
    answer = (response) => void response.destroy();
    expect(await refusalOf(invocation())).to.match(
      /^http:\/\/127\.0\.0\.1:\d+ did not respond \(.+\)\. If the request was a change, "dps history" shows whether it was applied\.$/,
    );
    answer = (response) =>
      void response.writeHead(200, { 'content-length': '10' }).write('half', () => response.destroy());
    expect(await refusalOf(invocation())).to.match(/^The response of the service was interrupted \(.+\)\.$/);
  });

  it('report that nothing listens at the address', async () => {
    for (const nowhere of ['http://127.0.0.1:9', 'http://there-is.invalid']) {
      expect(await refusalOf(invocation({ url: nowhere }))).to.equal(
        `No service responds at ${nowhere}. Start it, or set another address with --url.`,
      );
    }
  });

  it('report that a change may have been made when the response is lost', () => {
    const messagesOf = (code: string): string =>
      noResponse(new URL('http://there/x'), Object.assign(new Error('no'), { code })).message;
    for (const code of ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']) {
      expect(messagesOf(code), code).to.equal(
        'No service responds at http://there. Start it, or set another address with --url.',
      );
    }
    expect(messagesOf('ECONNRESET')).to.equal(
      'http://there did not respond (no). If the request was a change, "dps history" shows whether it was applied.',
    );
  });

  it('reject invalid addresses and tokens without repeating them', async () => {
    for (const input of ['secret', 'ftp://secret', 'http://']) {
      expect(await refusalOf(invocation({ url: input }))).to.equal(
        'The address of the service is not valid. Write it like http://127.0.0.1:8055.',
      );
    }
    for (const input of ['http://secret@127.0.0.1:9', 'http://:secret@127.0.0.1:9']) {
      expect(await refusalOf(invocation({ url: input })))
        .to.contain('must not contain a user or password')
        .and.not.contain('secret');
    }
    for (const token of ['a b', 'é', 'a\n']) {
      expect(await refusalOf(invocation({ token }))).to.equal('The token contains invalid characters.');
    }
  });
});
