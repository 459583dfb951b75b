import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ClientGone, drain, expectedLength, hasBody, readRaw } from '../../../src/http/body/limited-bytes.js';
import { Refused } from '../../../src/http/errors.js';

/** A request whose body comes when it is written. */
function request(headers: IncomingHttpHeaders, complete = false): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers, complete }) as unknown as PassThrough & IncomingMessage;
}

/** One that has come, chunk by chunk. */
function sent(headers: IncomingHttpHeaders, ...chunks: Buffer[]): IncomingMessage {
  const req = request(headers, true);
  for (const chunk of chunks) req.write(chunk);
  req.end();
  return req;
}

async function refusalOf(work: Promise<unknown>): Promise<Pick<Refused, 'problems' | 'headers'>> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof Refused)) throw error;
  const { problems, headers } = error;
  return { problems, headers };
}

const tooLarge = (limit: number) => ({
  problems: [
    {
      code: 'CONTENT_TOO_LARGE',
      message: `The body is larger than the ${limit} bytes that are taken here.`,
      details: { limit },
    },
  ],
  headers: [],
});

describe('the bytes of a body', () => {
  it('are there as the headers say', () => {
    for (const [headers, there] of [
      [{}, false],
      [{ 'content-length': '0' }, false],
      [{ 'content-length': '1' }, true],
      [{ 'transfer-encoding': 'chunked' }, true],
      [{ 'content-length': '0', 'transfer-encoding': 'chunked' }, true],
    ] as const) {
      expect(hasBody(request(headers)), JSON.stringify(headers)).to.equal(there);
    }
  });

  it('are expected as many as are told, else as many as are taken', async () => {
    for (const [headers, length] of [
      [{ 'content-length': '7' }, 7],
      [{ 'content-length': '10' }, 10],
      [{ 'content-length': '7', 'content-encoding': 'identity' }, 7],
      [{ 'content-length': '7', 'content-encoding': 'gzip' }, 10],
      [{ 'transfer-encoding': 'chunked' }, 10],
    ] as const) {
      expect(expectedLength(request(headers), 10), JSON.stringify(headers)).to.equal(length);
    }
    const longer = { 'content-length': '11', 'content-encoding': 'gzip' };
    expect(await refusalOf(Promise.resolve().then(() => expectedLength(request(longer), 10)))).to.deep.equal(
      tooLarge(10),
    );
  });

  it('are read to the last that is taken, in one piece or several', async () => {
    const [one, two] = [Buffer.from('12345'), Buffer.from('67890')];
    expect(await readRaw(sent({}, one), 5)).to.equal(one);
    expect((await readRaw(sent({ 'content-length': '10' }, one, two), 10)).toString()).to.equal('1234567890');
    expect((await readRaw(sent({}), 10)).length).to.equal(0);
    expect(await refusalOf(readRaw(sent({}, one, two), 9))).to.deep.equal(tooLarge(9));
    expect(await refusalOf(readRaw(request({ 'content-length': '10' }), 9))).to.deep.equal(tooLarge(9));
  });

  it('are decoded, and counted as what they come to as well as sent', async () => {
    const text = Buffer.from('x'.repeat(1_000));
    for (const [coding, bytes] of [
      ['gzip', gzipSync(text)],
      ['x-gzip', gzipSync(text)],
      [' GZIP ', gzipSync(text)],
      ['deflate', deflateSync(text)],
      ['br', brotliCompressSync(text)],
      ['identity', text],
      ['', text],
    ] as const) {
      const read = (limit: number) => readRaw(sent({ 'content-encoding': coding }, bytes), limit);
      expect((await read(1_000)).equals(text), coding).to.equal(true);
      expect(await refusalOf(read(999)), coding).to.deep.equal(tooLarge(999));
    }
    const random = gzipSync(Buffer.from('ab'));
    expect(random.length).to.be.greaterThan(20);
    expect(await refusalOf(readRaw(sent({ 'content-encoding': 'gzip' }, random), 20))).to.deep.equal(tooLarge(20));
  });

  it('in another coding are refused with those that are taken, and what is none by its words', async () => {
    for (const coding of ['zstd', 'gzip, br']) {
      expect(await refusalOf(readRaw(sent({ 'content-encoding': coding }), 10))).to.deep.equal({
        problems: [
          {
            code: 'UNSUPPORTED_MEDIA_TYPE',
            message: `The content coding "${coding}" is not supported: send one of gzip, deflate, br, identity.`,
            details: { content_encoding: coding },
          },
        ],
        headers: ['Accept-Encoding', 'gzip, deflate, br, identity'],
      });
    }
    expect(await refusalOf(readRaw(sent({ 'content-encoding': 'gzip' }, Buffer.from('{}')), 10))).to.deep.equal({
      problems: [
        {
          code: 'INVALID_PAYLOAD',
          message: 'The body is not what its Content-Encoding gzip says: incorrect header check.',
        },
      ],
      headers: [],
    });
  });

  it('are given up when nothing comes for a while, and not while some come', async () => {
    const read = refusalOf(readRaw(request({}), 10, 600));
    const slow = request({}, true);
    const whole = readRaw(slow, 10, 400);
    for (const part of ['a', 'b', 'c', 'd']) {
      await sleep(150);
      slow.write(part);
    }
    slow.end();
    expect(String(await whole)).to.equal('abcd');
    expect(await read).to.deep.equal({
      problems: [{ code: 'REQUEST_TIMEOUT', message: 'Nothing came of the body for 1 seconds.' }],
      headers: ['Connection', 'close'],
    });
  });

  it('are given up when the client hangs up', async () => {
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      for (const error of [undefined, new Error('ECONNRESET')]) {
        const hungUp = request(headers);
        const reading = readRaw(hungUp, 10).catch((thrown: unknown) => thrown);
        hungUp.destroy(error);
        expect(await reading)
          .instanceOf(ClientGone)
          .and.have.property('message', 'the client hung up');
      }
    }
  });

  it('that are refused in a coding are read away to their end', async () => {
    const large = request({ 'content-encoding': 'gzip' });
    const read = refusalOf(readRaw(large, 100));
    large.write(gzipSync('x'.repeat(100_000)));
    expect(await read).to.deep.equal(tooLarge(100));
    drain(large);
    await new Promise((resolve) => setImmediate(resolve));
    const ended = new Promise((resolve) => large.once('end', resolve));
    for (let each = 0; each < 10; each += 1) large.write(Buffer.alloc(100_000));
    large.end();
    await ended;
  });

  it('leave nothing behind that waits for more, or that a connection that breaks later would end', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    // The test's own limit counts from here on.
    await Promise.resolve();
    const before = timers();
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      const req = request(headers, true);
      const heard = () => ['data', 'end', 'close'].map((event) => req.listenerCount(event));
      const unheard = heard();
      req.end(gzipSync('1'));
      await readRaw(req, 100);
      expect(timers()).to.equal(before);
      expect(heard()).to.deep.equal(unheard);
      req.emit('error', new Error('ECONNRESET'));
    }
  });
});
