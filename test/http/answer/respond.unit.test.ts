import { type Server, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Answer } from '../../../src/http/answer/answer.js';
import { respond, type SendPace, closeIfSlow } from '../../../src/http/answer/stream.js';
import { until } from '../../support/until.js';

interface Received {
  status: number | undefined;
  /** Our own headers. */
  headers: Record<string, unknown>;
  body: string;
  complete: boolean;
}

describe('a written response', () => {
  let server: Server;
  let answer: Answer;
  let vary: string | undefined;
  let taking: SendPace | undefined;
  let closed = 0;

  before((done) => {
    server = createServer((req, res) => {
      if (vary !== undefined) res.setHeader('Vary', vary);
      res.on('close', () => (closed += 1));
      respond(req, res, 'r1', answer);
      if (taking !== undefined) closeIfSlow(res, 1, taking);
    }).listen(0, '127.0.0.1', done);
  });
  after((done) => void server.close(done));
  beforeEach(() => {
    vary = taking = undefined;
    closed = 0;
  });

  const receive = (method = 'GET'): Promise<Received> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo;
      const pending = request({ port, method, agent: false }, (res) => {
        const { date: _, connection: __, ...headers } = res.headers;
        let body = '';
        res.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
        res.on('error', () => undefined);
        res.on('close', () => resolve({ status: res.statusCode, headers, body, complete: res.complete }));
      });
      pending.on('error', reject).end();
    });

  const COMMON = { 'x-request-id': 'r1', 'x-content-type-options': 'nosniff' };

  it('has its headers, its request id and its schema position', async () => {
    answer = { status: 201, headers: ['Location', '/a', 'Content-Length', '2'], body: 'hi', position: 7 };
    expect(await receive()).to.deep.equal({
      status: 201,
      headers: { ...COMMON, location: '/a', 'content-length': '2', 'x-log-position': '7' },
      body: 'hi',
      complete: true,
    });
    answer = { status: 204, headers: [], body: null, position: 0 };
    expect(await receive()).to.deep.equal({
      status: 204,
      headers: { ...COMMON, 'x-log-position': '0' },
      body: '',
      complete: true,
    });
  });

  it('combines all Vary headers', async () => {
    vary = 'Origin';
    answer = { status: 200, headers: ['X-Vary', 'vary', 'Vary', 'Accept-Encoding', 'Content-Length', '0'], body: '' };
    expect((await receive()).headers['vary']).to.equal('Accept-Encoding, Origin');
    answer = { status: 200, headers: ['Content-Length', '0'], body: '' };
    expect((await receive()).headers['vary']).to.equal('Origin');
    vary = undefined;
    answer = { status: 200, headers: ['Vary', 'Accept-Encoding', 'Content-Length', '0'], body: '' };
    expect((await receive()).headers['vary']).to.equal('Accept-Encoding');
  });

  it('is cut off if its client does not read it', async () => {
    const large = Buffer.alloc(64 * 1024 ** 2);
    answer = { status: 200, headers: ['Content-Length', String(large.length)], body: large };
    taking = { freeMs: 100, bytesPerSecond: Infinity };
    const { port } = server.address() as AddressInfo;
    const error = await new Promise<NodeJS.ErrnoException>((resolve, reject) => {
      const pending = request({ port, agent: false }, (res) => {
        res.pause().on('error', resolve);
        void until('it is cut off', () => closed > 0).then(() => res.resume());
      });
      pending.on('error', reject).end();
    });
    expect(error.code).to.equal('ECONNRESET');
  });

  it('sends its head before its body', async () => {
    let end = (): void => undefined;
    answer = { status: 200, headers: [], body: null, stream: () => new Promise((resolve) => (end = resolve)) };
    const { port } = server.address() as AddressInfo;
    await new Promise<void>((resolve, reject) => {
      const pending = request({ port, agent: false }, (res) => res.resume().on('end', resolve) && end());
      pending.on('error', reject).end();
    });
  });

  it('is streamed to its end, or cut off if it fails', async () => {
    const headers = ['Content-Type', 'text/plain'];
    answer = {
      status: 200,
      headers,
      body: null,
      stream: async (res) => {
        res.write('one ');
        await new Promise(setImmediate);
        res.write('two');
      },
    };
    expect(await receive()).to.deep.include({ status: 200, body: 'one two', complete: true });
    expect(await receive('HEAD')).to.deep.include({ status: 200, body: '', complete: true });
    answer = {
      ...answer,
      stream: async (res) => {
        await new Promise((resolve) => res.write('one ', resolve));
        throw new Error('no more');
      },
    };
    expect(await receive()).to.deep.include({ status: 200, body: 'one ', complete: false });
  });
});
