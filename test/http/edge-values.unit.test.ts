import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import { Duplex } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Request } from 'express';
import { expect } from 'chai';
import { toBuffer } from '../../src/kernel/bytes.js';
import { encode, readAcceptEncoding } from '../../src/http/answer/representation.js';
import {
  type ErrorCode,
  RejectedError,
  STATUS,
  errorBody,
  headersOf,
  refused,
  statusOf,
} from '../../src/http/errors.js';
import { cursor, pageSize, requireInLog } from '../../src/http/request/query.js';
import {
  listQueryOf,
  listTexts,
  arrayTexts,
  pageKey,
  membersOf,
  pick,
  pickText,
} from '../../src/http/documents/list.js';
import { answerParserErrors, missingHost } from '../../src/http/server.js';
import { cookieToken, requireOwnPage, setCookie } from '../../src/features/accounts/routes-login.js';

const reads = (shape: { safeParse(value: unknown): { success: boolean; data?: unknown } }, value: unknown): unknown => {
  const read = shape.safeParse(value);
  return read.success ? read.data : 'refused';
};

describe('lists', () => {
  const texts = ['{"a":1,"b":1}', '', '{"a":2,"b":2}', '{"a":3,"b":3}'];
  const shown = (query: Partial<Parameters<typeof listTexts>[1]>): unknown =>
    JSON.parse([...listTexts(texts, { offset: 0, ...query })].join(''));
  const items = (...numbers: number[]) => numbers.map((n) => ({ a: n, b: n }));

  it('contain the requested page and count all items', () => {
    expect(shown({})).to.deep.equal({ data: items(1, 2, 3) });
    expect(shown({ offset: 1 })).to.deep.equal({ data: items(2, 3) });
    expect(shown({ offset: 1, limit: 1 })).to.deep.equal({ data: items(2) });
    expect(shown({ limit: 0 })).to.deep.equal({ data: [] });
    expect(shown({ offset: 3 })).to.deep.equal({ data: [] });
    expect(shown({ limit: 1, meta: ['total_count', 'filter_count'] })).to.deep.equal({
      data: items(1),
      meta: { total_count: 3, filter_count: 3 },
    });
    expect(shown({ offset: 2, fields: ['b'], meta: [] })).to.deep.equal({ data: [{ b: 3 }], meta: {} });
    expect([...arrayTexts([1, 2], String)].join('')).to.equal('[1,2]');
    expect([...arrayTexts([], String)].join('')).to.equal('[]');
  });

  it('have a different cache key for each page', () => {
    const queries = [
      { offset: 0 },
      { offset: 1 },
      { offset: 0, limit: 1 },
      { offset: 0, meta: ['total_count'] as const },
      { offset: 0, fields: ['a'] },
    ];
    expect(new Set(queries.map(pageKey)).size).to.equal(queries.length);
    expect(pageKey({ offset: 0, fields: ['a', 'b'] })).to.equal(pageKey({ offset: 0, fields: ['a', 'b'] }));
  });

  it('skip nothing by default', () => {
    expect(reads(listQueryOf(['a']), {})).to.deep.equal({ offset: 0 });
    expect(reads(listQueryOf(['a']), { more: '1' })).to.equal('refused');
  });
});

describe('selected members', () => {
  const shape = membersOf(['a', 'b', 'c']);

  it('follow the order of the document', () => {
    expect(reads(shape, 'c, a')).to.deep.equal(['a', 'c']);
    expect(reads(shape, '*')).to.deep.equal(['a', 'b', 'c']);
    expect(reads(shape, 'a,*')).to.deep.equal(['a', 'b', 'c']);
    for (const text of ['', 'd', 'a,d', '*,d', 'a,']) expect(reads(shape, text), text).to.equal('refused');
  });

  it('leave out unselected and missing members', () => {
    expect(pick({ a: 1, b: 2 }, ['b', 'c'])).to.deep.equal({ b: 2 });
    expect(pick({ a: 1 }, undefined)).to.deep.equal({ a: 1 });
    expect(pickText('{"a": 1, "b": 2}', ['b'])).to.equal('{"b":2}');
    expect(pickText('{"a": 1}', undefined)).to.equal('{"a": 1}');
  });
});

describe('log cursors', () => {
  it('are positions, alone or with a hash', async () => {
    expect(reads(cursor, '42')).to.deep.equal({ position: 42 });
    expect(reads(cursor, '42-0123456789abcdef')).to.deep.equal({ position: 42, hash: '0123456789abcdef' });
    expect(reads(cursor, `0-${'a'.repeat(64)}`)).to.deep.equal({ position: 0, hash: 'a'.repeat(64) });
    for (const text of ['', '-1', '1.5', '42-', '42-0123456', '42-ABCDEF12', `1-${'a'.repeat(65)}`, '1'.repeat(16)]) {
      expect(reads(cursor, text), text).to.equal('refused');
    }
    const holds = (there: boolean) => ({ holds: () => Promise.resolve(there) });
    await requireInLog({ position: 5 }, holds(false));
    await requireInLog({ position: 5, hash: 'abcdef12' }, holds(true));
    const error: unknown = await requireInLog({ position: 5, hash: 'abcdef12' }, holds(false)).catch(
      (reason: unknown) => reason,
    );
    expect((error as RejectedError).problems[0]).to.deep.include({
      code: 'DIVERGED',
      details: { position: 5, hash: 'abcdef12' },
    });
  });

  it('limit pages to 1 to 1000 items, 100 by default', () => {
    expect([reads(pageSize, '1'), reads(pageSize, '1000'), reads(pageSize, undefined)]).to.deep.equal([1, 1_000, 100]);
    for (const text of ['0', '1001', '', 'x', '-1', '01000']) expect(reads(pageSize, text), text).to.equal('refused');
  });
});

describe('content codings', () => {
  const CASES: [header: string, identity: boolean, coding: string | null][] = [
    ['', true, null],
    ['gzip', true, 'gzip'],
    ['br', true, 'br'],
    ['gzip, br', true, 'br'],
    ['gzip;q=1, br;q=0.5', true, 'gzip'],
    ['GZIP; Q=0.5', true, 'gzip'],
    ['x-gzip', true, 'gzip'],
    ['*', true, 'br'],
    ['*;q=0', false, null],
    ['gzip, *;q=0', false, 'gzip'],
    ['identity;q=0, gzip', false, 'gzip'],
    ['identity, gzip;q=0.5', true, null],
    ['identity;q=0.5, gzip;q=0.5', true, 'gzip'],
    ['br;q=0, gzip;q=0.001', true, 'gzip'],
    ['br;q=2', true, null],
    ['br;q=0.1234', true, null],
    ['br;q=1.000', true, 'br'],
    ['deflate', true, null],
    [', ,br', true, 'br'],
  ];
  for (const [header, identity, coding] of CASES) {
    it(`${JSON.stringify(header)}: ${coding}`, () => {
      expect(readAcceptEncoding(header)).to.deep.equal({ identity, coding });
      expect(readAcceptEncoding(header), 'again').to.deep.equal({ identity, coding });
    });
  }

  it('have the right names', async () => {
    const body = Buffer.from('x'.repeat(5_000));
    expect(gunzipSync(toBuffer(await encode(body, 'gzip'))).equals(body)).to.equal(true);
    expect(brotliDecompressSync(toBuffer(await encode(body, 'br'))).equals(body)).to.equal(true);
  });
});

describe('the refresh cookie', () => {
  const request = (headers: object, secure = false) =>
    ({ headers, secure, protocol: secure ? 'https' : 'http', host: 'own.example' }) as unknown as Request;

  it('is found among other cookies', () => {
    expect(cookieToken(request({ cookie: 'a=b; dps_refresh_token=t; c=d' }))).to.equal('t');
    expect(cookieToken(request({ cookie: 'a=b' }))).to.equal(null);
    expect(cookieToken(request({}))).to.equal(null);
  });

  it('is sent to /auth only, HttpOnly, SameSite, and Secure over https', () => {
    const [name, text] = setCookie(request({}), 't');
    expect(name).to.equal('Set-Cookie');
    expect(text.split('; ')).to.have.members([
      'dps_refresh_token=t',
      'Max-Age=604800',
      'Path=/auth',
      'HttpOnly',
      'SameSite=Strict',
    ]);
    expect(setCookie(request({}, true), 't')[1].split('; ')).to.include('Secure');
    expect(setCookie(request({}), null)[1].split('; ')).to.include.members(['dps_refresh_token=', 'Max-Age=0']);
  });

  it('is accepted from pages of this origin and of named origins', () => {
    const allowed = ['https://app.example'];
    for (const origin of [undefined, 'http://own.example', 'https://app.example']) {
      requireOwnPage(request({ origin }), allowed);
    }
    for (const origin of ['https://own.example', 'http://own.example:81', 'http://sub.own.example', 'null']) {
      expect(() => requireOwnPage(request({ origin }), allowed), origin).to.throw(RejectedError);
    }
  });
});

describe('rejections', () => {
  it('have the status and headers of the first problem', () => {
    const of = (...codes: ErrorCode[]) => codes.map((code) => ({ code, message: 'no' }));
    expect(statusOf(of('NOT_FOUND', 'INTERNAL'))).to.equal(404);
    expect(statusOf([])).to.equal(500);
    expect(headersOf(of('LOCK_TIMEOUT'))).to.deep.equal(['Retry-After', '1']);
    expect(headersOf(of('UNAVAILABLE'))).to.deep.equal(['Retry-After', '2']);
    expect(headersOf(of('UNAUTHENTICATED'))).to.deep.equal([
      'WWW-Authenticate',
      'Bearer realm="data-platform-service"',
    ]);
    expect(headersOf(of('NOT_FOUND'))).to.deep.equal([]);
    expect(headersOf([])).to.deep.equal([]);
    expect(refused('IN_USE', 'used', { path: 'a' })).to.include({ message: 'used' });
    expect(new RejectedError([]).message).to.equal('rejected');
    expect(STATUS).to.include({ CONTENT_TOO_LARGE: 413, IN_USE: 409, DATABASE_REFUSED: 422, LOG_DIVERGED: 503 });
  });

  it('name their subject, without its location in a snapshot', () => {
    const subject = { kind: 'field', collection: 'a', field: 'b', member: ['schema'] } as const;
    expect(errorBody([{ code: 'INVALID_PAYLOAD', message: 'no', subject }]).errors[0]?.extensions).to.deep.equal({
      code: 'INVALID_PAYLOAD',
      subject: { kind: 'field', collection: 'a', field: 'b' },
    });
  });

  describe('for unparsable requests', () => {
    /** A connection that records what is written to it. */
    function connection(more: object = {}): Duplex & { written: string } {
      const socket = Object.assign(
        new Duplex({
          read() {},
          write(chunk: Buffer, _encoding, done) {
            socket.written += chunk.toString();
            done();
          },
        }),
        { written: '', ...more },
      );
      return socket;
    }
    const server = new EventEmitter();
    answerParserErrors(server as Server);
    const answerTo = (code: string, more: object = {}, error: object = {}): string => {
      const socket = connection(more);
      server.emit('clientError', Object.assign(new Error('no'), { code }, error), socket);
      return socket.written;
    };

    it('name the reason and close the connection', () => {
      const CASES: [code: string, status: string, error: string][] = [
        ['HPE_HEADER_OVERFLOW', '431', 'HEADERS_TOO_LARGE'],
        ['HPE_CHUNK_EXTENSIONS_OVERFLOW', '413', 'CONTENT_TOO_LARGE'],
        ['ERR_HTTP_REQUEST_TIMEOUT', '408', 'REQUEST_TIMEOUT'],
        ['HPE_INVALID_METHOD', '400', 'INVALID_REQUEST'],
      ];
      for (const [code, status, error] of CASES) {
        const [head = '', body = ''] = answerTo(code).split('\r\n\r\n');
        expect(head)
          .to.match(new RegExp(`^HTTP/1.1 ${status} `))
          .and.match(/\r\nConnection: close$/);
        expect(head).to.match(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
        expect(head).to.contain(`Content-Length: ${Buffer.byteLength(body)}`);
        expect(JSON.parse(body)).to.have.nested.property('errors[0].extensions.code', error);
      }
    });

    it('survive a broken connection', () => {
      const socket = connection();
      server.emit('clientError', new Error('no'), socket);
      socket.emit('error', new Error('EPIPE'));
      expect(socket.destroyed).to.equal(true);
    });

    it('have no body for HEAD, and are omitted after a response has begun', () => {
      const [head, body] = answerTo('HPE_HEADER_OVERFLOW', {}, { rawPacket: Buffer.from('HEAD / HTTP/1.1') }).split(
        '\r\n\r\n',
      );
      expect([head?.startsWith('HTTP/1.1 431'), body]).to.deep.equal([true, '']);
      expect(answerTo('HPE_HEADER_OVERFLOW', {}, { rawPacket: Buffer.from('HEADS') })).to.contain('errors');
      expect(answerTo('ECONNRESET')).to.equal('');
      const reset = connection();
      server.emit('clientError', Object.assign(new Error('no'), { code: 'ECONNRESET' }), reset);
      expect(reset.destroyed).to.equal(true);
      expect(answerTo('HPE_INVALID_METHOD', { _httpMessage: { headersSent: true } })).to.equal('');
      expect(answerTo('HPE_INVALID_METHOD', { _httpMessage: { headersSent: false } })).to.contain('400');
    });

    it('list the allowed methods for CONNECT', () => {
      const socket = connection();
      server.emit('connect', {}, socket);
      expect(socket.written)
        .to.match(/^HTTP\/1\.1 405 /)
        .and.contain('Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
        .and.contain('"METHOD_NOT_ALLOWED"');
      expect(socket.readableFlowing, 'what it sends is read away').to.equal(true);
    });

    it('require a Host header for HTTP/1.1 only', () => {
      const of = (httpVersion: string, host?: string) => missingHost({ httpVersion, headers: { host } } as never);
      expect(of('1.1')).to.include({ status: 400 });
      expect([of('1.1', 'x'), of('1.1', ''), of('1.0')]).to.deep.equal([null, null, null]);
    });
  });
});
