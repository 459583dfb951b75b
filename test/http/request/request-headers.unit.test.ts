import { expect } from 'chai';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { RejectedError } from '../../../src/http/errors.js';
import { INVALID_LOCATION } from '../../../src/schema/model/location.js';
import {
  acknowledgeOf,
  addressOf,
  atLeastOf,
  bearerToken,
  idempotencyKeyOf,
  ifMatchOf,
  reasonOf,
  requestIdOf,
  traceparentOf,
  userAgentOf,
} from '../../../src/http/request/headers.js';

const request = (headers: IncomingHttpHeaders, remoteAddress?: string) =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

/** As Node decodes a header that was sent in UTF-8. */
const onTheWire = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

/** The error for a header, which must be INVALID_PAYLOAD with its name. */
function refusalOf(header: string, act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (!(error instanceof RejectedError)) throw error;
    const [problem] = error.problems;
    expect(error.problems).deep.equal([{ code: 'INVALID_PAYLOAD', message: problem?.message, path: header }]);
    return problem?.message;
  }
  return undefined;
}

describe('request headers', () => {
  it('X-Request-Id is used if it is safe, and generated otherwise', () => {
    for (const id of ['a-B_1.2', 'x'.repeat(128)]) expect(requestIdOf(request({ 'x-request-id': id }))).equal(id);
    for (const id of ['', 'a b', 'a\tb', 'ä', 'x'.repeat(129)]) {
      expect(requestIdOf(request({ 'x-request-id': id })), id).match(/^[0-9a-f-]{36}$/);
    }
    expect(requestIdOf(request({}))).match(/^[0-9a-f-]{36}$/);
  });

  it('traceparent is stored if it is valid, and ignored otherwise', () => {
    const trace = `${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const kept = (traceparent: string) => traceparentOf(request({ traceparent }));
    expect(kept(`00-${trace}`)).equal(`00-${trace}`);
    expect(kept(`cc-${trace}-later`)).equal(`cc-${trace}`);
    expect(traceparentOf(request({}))).equal(undefined);
    const wrong = [
      `ff-${trace}`,
      `00-${trace}-more`,
      `cc-${trace}more`,
      `00-${trace.toUpperCase()}`,
      `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
      `00-${'a'.repeat(32)}-${'0'.repeat(16)}-01`,
      `00-${trace}, 00-${trace}`,
      `00-${trace.slice(1)}`,
      '',
    ];
    for (const each of wrong) expect(kept(each), each).equal(undefined);
  });

  it('Authorization must be a bearer token', () => {
    expect(bearerToken(request({}))).equal(null);
    for (const header of ['Bearer abc', 'bearer abc', 'BEARER  abc']) {
      expect(bearerToken(request({ authorization: header }))).equal('abc');
    }
    for (const header of ['', 'Bearer', 'Bearer ', 'Basic abc', 'abc', 'Bearer a b', 'Bearer ä']) {
      expect(bearerToken(request({ authorization: header })), header).equal(undefined);
    }
  });

  it('X-Reason is text of at most 1,000 characters, in UTF-8 or latin1', () => {
    expect(reasonOf(request({}))).equal(null);
    expect(reasonOf(request({ 'x-reason': '' }))).equal(null);
    expect(reasonOf(request({ 'x-reason': onTheWire('für 😀') }))).equal('für 😀');
    expect(reasonOf(request({ 'x-reason': 'f\xfcr' }))).equal('für');
    expect(reasonOf(request({ 'x-reason': onTheWire('😀'.repeat(1000)) }))).lengthOf(2000);
    expect(refusalOf('X-Reason', () => reasonOf(request({ 'x-reason': 'x'.repeat(1001) })))).equal(
      'X-Reason must have at most 1000 characters.',
    );
  });

  it('Idempotency-Key is 1 to 255 printable characters', () => {
    expect(idempotencyKeyOf(request({}))).equal(null);
    for (const key of ['key 1', '~', 'x'.repeat(255)]) {
      expect(idempotencyKeyOf(request({ 'idempotency-key': key }))).equal(key);
    }
    for (const key of ['', 'x'.repeat(256), 'ä', 'a\tb']) {
      expect(
        refusalOf('Idempotency-Key', () => idempotencyKeyOf(request({ 'idempotency-key': key }))),
        key,
      ).equal('Idempotency-Key must be 1 to 255 printable ASCII characters.');
    }
  });

  it('If-Match is one tag or *, and a weak tag matches nothing', () => {
    expect(ifMatchOf(request({}))).equal(undefined);
    expect(ifMatchOf(request({ 'if-match': '*' }))).equal(undefined);
    expect(ifMatchOf(request({ 'if-match': ' * ' }))).equal(undefined);
    expect(ifMatchOf(request({ 'if-match': '"abc"' }))).equal('abc');
    expect(ifMatchOf(request({ 'if-match': ' "" ' }))).equal('');
    expect(ifMatchOf(request({ 'if-match': 'W/"abc"' }))).equal('W/abc');
    for (const header of ['', 'abc', '"abc', '"a", "b"', '"a"b"', '**']) {
      expect(
        refusalOf('If-Match', () => ifMatchOf(request({ 'if-match': header }))),
        header,
      ).equal('If-Match must be one entity tag in double quotes, or *.');
    }
  });

  it('X-Log-Position-At-Least is a position, optionally with a hash', () => {
    const atLeast = (text: string) => atLeastOf(request({ 'x-log-position-at-least': text }));
    expect(atLeastOf(request({}))).equal(undefined);
    expect(atLeast('0')).deep.equal({ position: 0 });
    expect(atLeast('42-0123abcd')).deep.equal({ position: 42, hash: '0123abcd' });
    expect(atLeast(`1-${'f'.repeat(64)}`)).deep.equal({ position: 1, hash: 'f'.repeat(64) });
    for (const text of ['', '-1', '1.5', '42-', '42-0123abc', `1-${'f'.repeat(65)}`, '42-0123ABCD', '9'.repeat(16)]) {
      expect(
        refusalOf('X-Log-Position-At-Least', () => atLeast(text)),
        text,
      ).equal(
        'X-Log-Position-At-Least must be a position of the log (42), optionally with the hash of its event (42-3f9a…).',
      );
    }
  });

  it('X-Acknowledge is a list of findings by code and place', () => {
    const acknowledged = (text: string) => acknowledgeOf(request({ 'x-acknowledge': text }));
    expect(acknowledgeOf(request({}))).equal(undefined);
    for (const nothing of ['', ' ']) expect(acknowledged(nothing)).equal(undefined);
    expect(acknowledged('LOSES_DATA:articles.title')).deep.equal([{ code: 'LOSES_DATA', place: 'articles.title' }]);
    expect(acknowledged(onTheWire(' A:größe , B_C: ,D:a%2cb:%25.c'))).deep.equal([
      { code: 'A', place: 'größe' },
      { code: 'B_C', place: '' },
      { code: 'D', place: 'a%2Cb:%25.c' },
    ]);
    for (const text of ['A', 'A:a,', ',A:a', 'a:x', 'A1:x', 'A:%', 'A:a,B:%zz', 'A:a.b.c']) {
      expect(
        refusalOf('X-Acknowledge', () => acknowledged(text)),
        text,
      ).equal(`X-Acknowledge must be a comma-separated list of CODE:place; ${INVALID_LOCATION}.`);
    }
  });

  it('User-Agent and address are truncated and sanitized', () => {
    expect(userAgentOf(request({}))).equal(null);
    expect(userAgentOf(request({ 'user-agent': '' }))).equal(null);
    expect(userAgentOf(request({ 'user-agent': 'x'.repeat(600) }))).equal('x'.repeat(512));
    expect(userAgentOf(request({ 'user-agent': onTheWire('😀'.repeat(513)) }))).equal('😀'.repeat(512));
    const { socket } = request({}, '::ffff:192.0.2.1');
    expect(addressOf({ ip: undefined, socket })).equal('192.0.2.1');
    expect(addressOf({ ip: undefined, socket: request({}, '2001:db8::1').socket })).equal('2001:db8::1');
    expect(addressOf({ ip: undefined, socket: request({}).socket })).equal(null);
    // Spellings of proxies. Invalid addresses are ignored.
    for (const [expected, address] of [
      ['198.51.100.7', '198.51.100.7'],
      ['198.51.100.7:4711', '198.51.100.7'],
      ['[2001:db8::2]:4711', '2001:db8::2'],
      ['unknown', '192.0.2.1'],
      ["'; drop", '192.0.2.1'],
    ] as const) {
      expect(addressOf({ ip: expected, socket }), expected).equal(address);
    }
  });
});
