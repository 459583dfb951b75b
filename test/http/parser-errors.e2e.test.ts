import { connect } from 'node:net';
import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { clientOf, sendRaw } from '../support/client.js';
import { expectContract } from '../support/contract.js';
import { documentOfRoutes } from '../support/openapi.js';

const CRLF = '\r\n';
const request = (...lines: string[]): string => [...lines, '', ''].join(CRLF);

describe('unreadable requests', () => {
  const { service } = withService();

  const answerTo = async (bytes: string) => {
    const text = await sendRaw(service.url, bytes);
    const [head = '', body = ''] = text.split(CRLF + CRLF);
    const [line = '', ...headers] = head.split(CRLF);
    return { status: Number(line.split(' ')[1]), headers: headers.join('\n').toLowerCase(), body, text };
  };

  const CASES: [what: string, bytes: string, status: number, code: string][] = [
    ['a path of 17 KB', request(`GET /${'x'.repeat(17_000)} HTTP/1.1`, 'Host: x'), 431, 'HEADERS_TOO_LARGE'],
    ['headers of 20 KB', request('GET / HTTP/1.1', 'Host: x', `A: ${'x'.repeat(20_000)}`), 431, 'HEADERS_TOO_LARGE'],
    ['an unknown method', request('BREW / HTTP/1.1', 'Host: x'), 400, 'INVALID_REQUEST'],
    ['no HTTP at all', request('hello'), 400, 'INVALID_REQUEST'],
    ['the hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'INVALID_REQUEST'],
    ['another version', request('GET / HTTP/9.9', 'Host: x'), 400, 'INVALID_REQUEST'],
    ['no Host', request('GET /server/ping HTTP/1.1'), 400, 'INVALID_REQUEST'],
    ['a header without a name', request('GET / HTTP/1.1', 'Host: x', ': y'), 400, 'INVALID_REQUEST'],
    [
      'two lengths',
      request('POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2'),
      400,
      'INVALID_REQUEST',
    ],
    ['a length that is none', request('POST / HTTP/1.1', 'Host: x', 'Content-Length: -1'), 400, 'INVALID_REQUEST'],
    [
      'length and chunks',
      request('POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      400,
      'INVALID_REQUEST',
    ],
    ['CONNECT', request('CONNECT example.com:443 HTTP/1.1', 'Host: x'), 405, 'METHOD_NOT_ALLOWED'],
    [
      'an expectation',
      request('POST /collections HTTP/1.1', 'Host: x', 'Expect: wonders', 'Content-Length: 0'),
      417,
      'EXPECTATION_FAILED',
    ],
  ];

  for (const [what, bytes, status, code] of CASES) {
    it(`get ${status} for ${what}`, async () => {
      const answer = await answerTo(bytes);
      expect(answer.status, answer.text).equal(status);
      const { errors } = JSON.parse(answer.body) as { errors: [{ message: string; extensions: { code: string } }] };
      expect(errors[0].extensions.code).equal(code);
      expect(errors[0].message).match(/^[A-Z].*\.$/);
      expect(answer.headers).include('content-type: application/json; charset=utf-8');
      expect(answer.headers).include('connection: close');
      expect(answer.headers).match(/x-request-id: [0-9a-f-]{36}/);
      expect(answer.headers).include(`content-length: ${Buffer.byteLength(answer.body, 'latin1')}`);
    });
  }

  it('are documented for every operation', async () => {
    const operations = Object.entries(documentOfRoutes(false).paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x')] as const),
    );
    expect(operations).deep.include(['DELETE', '/relations/x/x']);
    for (const [method, path] of operations) {
      const head = request(`${method} ${path} HTTP/1.1`, 'Host: x', `A: ${'x'.repeat(20_000)}`);
      const { status, body } = await answerTo(head);
      expect(status).equal(431);
      const received = JSON.parse(body) as unknown;
      expectContract({ method, path, sent: undefined, status, contentType: 'application/json', received });
    }
  });

  it('get no body for HEAD', async () => {
    const { status, headers, body } = await answerTo(request(`HEAD /${'x'.repeat(17_000)} HTTP/1.1`, 'Host: x'));
    expect([status, body]).to.deep.equal([431, '']);
    expect(headers).to.match(/^content-length: [1-9]/m);
  });

  it('get their response after those before them on the connection', async () => {
    const text = await sendRaw(service.url, `${request('GET /server/ping HTTP/1.1', 'Host: x')}garbage${CRLF}${CRLF}`);
    expect(text).match(/^HTTP\/1\.1 (?:200|400)/);
    expect(text).include('INVALID_REQUEST');
  });

  it('cause no error if their client has disconnected', async () => {
    const { hostname, port } = new URL(service.url);
    for (const bytes of ['GET / HT', `GET /${'x'.repeat(17_000)} HTTP/1.1${CRLF}`, 'nonsense\r\n\r\n']) {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(bytes, () => socket.resetAndDestroy()));
        socket.on('error', () => undefined).on('close', () => resolve());
      });
    }
    expect((await clientOf(service)('/server/ping')).text).equal('pong');
    expect(service.log()).not.include('"level":"error"');
  });
});

describe('unusual requests', () => {
  const { service } = withService();

  const statusOf = async (...lines: string[]): Promise<string> =>
    (await sendRaw(service.url, request(...lines, 'Host: x', 'Connection: close'))).split(CRLF, 1)[0] ?? '';

  it('get an ordinary response', async () => {
    expect(await statusOf(`GET ${service.url}/server/ping HTTP/1.1`)).include('200');
    expect(await statusOf('GET /server/ping HTTP/1.1', 'Upgrade: websocket', 'Connection: Upgrade')).include('200');
    expect(await statusOf('GET /server/ping HTTP/1.0')).include('200');
    expect(await statusOf('OPTIONS * HTTP/1.1')).include('204');
    expect(await statusOf('GET /% HTTP/1.1')).include('404');
    expect(await statusOf('GET /history/collections/%zz HTTP/1.1')).include('400');
    expect(await statusOf('GET http://[/server/ping HTTP/1.1')).match(/ 40[04] /);
  });

  it('get 100 Continue if they have the header Expect', async () => {
    const head = ['POST /auth/login HTTP/1.1', 'Host: x', 'Content-Type: application/json', 'Content-Length: 2'];
    const text = await sendRaw(service.url, `${request(...head, 'Expect: 100-continue', 'Connection: close')}{}`);
    expect(text).match(/^HTTP\/1\.1 100 Continue/);
    expect(text).include('HTTP/1.1 400');
  });
});
