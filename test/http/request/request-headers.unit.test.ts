import { expect } from 'chai';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Refused } from '../../../src/http/errors.js';
import {
  addressOf,
  bearerToken,
  idempotencyKeyOf,
  ifMatchOf,
  reasonOf,
  requestIdOf,
  traceparentOf,
  userAgentOf,
} from '../../../src/http/request/request-headers.js';

const request = (headers: IncomingHttpHeaders, remoteAddress?: string) =>
  ({ headers, socket: { remoteAddress } }) as unknown as IncomingMessage;

/** As Node hands over a header that was sent in UTF-8. */
const onTheWire = (text: string) => Buffer.from(text, 'utf8').toString('latin1');

function refusedPath(act: () => unknown): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof Refused) return error.problems[0]?.path;
    throw error;
  }
  return undefined;
}

describe('request headers', () => {
  it('X-Request-Id is taken when it is sane, and made up otherwise', () => {
    expect(requestIdOf(request({ 'x-request-id': 'a-B_1.2' }))).equal('a-B_1.2');
    for (const id of ['', 'a b', 'a\tb', 'ä', 'x'.repeat(129)]) {
      expect(requestIdOf(request({ 'x-request-id': id })), id).match(/^[0-9a-f-]{36}$/);
    }
    expect(requestIdOf(request({}))).match(/^[0-9a-f-]{36}$/);
  });

  it('traceparent is kept where it is valid, and ignored where it is not', () => {
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

  it('Authorization is a bearer token, or something that is refused', () => {
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
    expect(refusedPath(() => reasonOf(request({ 'x-reason': 'x'.repeat(1001) })))).equal('X-Reason');
  });

  it('Idempotency-Key is 1 to 255 printable characters', () => {
    expect(idempotencyKeyOf(request({}))).equal(null);
    expect(idempotencyKeyOf(request({ 'idempotency-key': 'key 1' }))).equal('key 1');
    for (const key of ['', 'x'.repeat(256), 'ä', 'a\tb']) {
      expect(
        refusedPath(() => idempotencyKeyOf(request({ 'idempotency-key': key }))),
        key,
      ).equal('Idempotency-Key');
    }
  });

  it('If-Match is one tag, or * for none in particular; a weak one matches nothing', () => {
    expect(ifMatchOf(request({}))).equal(undefined);
    expect(ifMatchOf(request({ 'if-match': '*' }))).equal(undefined);
    expect(ifMatchOf(request({ 'if-match': '"abc"' }))).equal('abc');
    expect(ifMatchOf(request({ 'if-match': 'W/"abc"' }))).equal('W/abc');
    for (const header of ['', 'abc', '"abc', '"a", "b"', '"a"b"', '**']) {
      expect(
        refusedPath(() => ifMatchOf(request({ 'if-match': header }))),
        header,
      ).equal('If-Match');
    }
  });

  it('User-Agent and the address are kept short and plain', () => {
    expect(userAgentOf(request({}))).equal(null);
    expect(userAgentOf(request({ 'user-agent': 'x'.repeat(600) }))).lengthOf(512);
    const { socket } = request({}, '::ffff:192.0.2.1');
    expect(addressOf({ ip: undefined, socket })).equal('192.0.2.1');
    expect(addressOf({ ip: undefined, socket: request({}, '2001:db8::1').socket })).equal('2001:db8::1');
    expect(addressOf({ ip: undefined, socket: request({}).socket })).equal(null);
    // What a proxy says, in the spellings that there are; what is no address isn't believed.
    for (const [said, address] of [
      ['198.51.100.7', '198.51.100.7'],
      ['198.51.100.7:4711', '198.51.100.7'],
      ['[2001:db8::2]:4711', '2001:db8::2'],
      ['unknown', '192.0.2.1'],
      ["'; drop", '192.0.2.1'],
    ] as const) {
      expect(addressOf({ ip: said, socket }), said).equal(address);
    }
  });
});
