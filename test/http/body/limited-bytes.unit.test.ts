import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { ClientGone, type Reading, drain, hasBody, readRaw as readBody } from '../../../src/http/body/limited-bytes.js';
import { RejectedError } from '../../../src/http/errors.js';
import { until } from '../../support/until.js';

/** A request whose body arrives when it is written. */
function request(headers: IncomingHttpHeaders, complete = false): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers, complete }) as unknown as PassThrough & IncomingMessage;
}

/** A body that has already arrived, in chunks. */
function sent(headers: IncomingHttpHeaders, ...chunks: Buffer[]): IncomingMessage {
  const req = request(headers, true);
  for (const chunk of chunks) req.write(chunk);
  req.end();
  return req;
}

function createGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** Unlimited room. */
const SHARE = { take: () => true, untilFree: () => Promise.resolve(), release: () => undefined };

const readRaw = (req: IncomingMessage, limit: number, more: Partial<Reading> = {}): Promise<Buffer> =>
  readBody(req, { limit, share: SHARE, disconnected: new AbortController().signal, ...more });

async function refusalOf(work: Promise<unknown>): Promise<Pick<RejectedError, 'problems' | 'headers'>> {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof RejectedError)) throw error;
  const { problems, headers } = error;
  return { problems, headers };
}

const tooLarge = (limit: number) => ({
  problems: [
    {
      code: 'CONTENT_TOO_LARGE',
      message: `The body exceeds the limit of ${limit} bytes.`,
      details: { limit },
    },
  ],
  headers: [],
});

describe('reading a body', () => {
  it('expects a body if the headers announce one', () => {
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

  it('accepts its last allowed byte, in one piece or several', async () => {
    const [one, two] = [Buffer.from('12345'), Buffer.from('67890')];
    expect(await readRaw(sent({}, one), 5)).to.equal(one);
    expect((await readRaw(sent({ 'content-length': '10' }, one, two), 10)).toString()).to.equal('1234567890');
    expect((await readRaw(sent({}), 10)).length).to.equal(0);
    expect(await refusalOf(readRaw(sent({}, one, two), 9))).to.deep.equal(tooLarge(9));
    expect(await refusalOf(readRaw(request({ 'content-length': '10' }), 9))).to.deep.equal(tooLarge(9));
  });

  it('decodes the body, and limits both its sent and decoded size', async () => {
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

  it("rejects unknown codings with the known ones, and invalid data with the decoder's message", async () => {
    for (const coding of ['zstd', 'gzip, br']) {
      expect(await refusalOf(readRaw(sent({ 'content-encoding': coding }), 10))).to.deep.equal({
        problems: [
          {
            code: 'UNSUPPORTED_MEDIA_TYPE',
            message: `The content encoding "${coding}" is not supported. Use one of gzip, deflate, br, identity.`,
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
          message: 'The body cannot be decoded with its Content-Encoding gzip: incorrect header check.',
        },
      ],
      headers: [],
    });
  });

  const pace = { stallMs: 60_000, freeMs: 60_000, bytesPerSecond: 10, mostMs: 60_000 };
  const closing = (message: string) => ({
    problems: [{ code: 'REQUEST_TIMEOUT', message }],
    headers: ['Connection', 'close'],
  });

  it('times out when nothing arrives for a while', async () => {
    const read = readRaw(request({}), 10, { pace: { ...pace, stallMs: 1_000 } });
    expect(await refusalOf(read)).to.deep.equal(closing('No body data has arrived for 1 seconds.'));
  });

  it('times out when it arrives too slowly, however often a byte arrives', async () => {
    const slow = request({}, true);
    const read = refusalOf(readRaw(slow, 10_000, { pace: { ...pace, freeMs: 100, bytesPerSecond: 100_000 } }));
    let isOver = false;
    void read.finally(() => (isOver = true));
    for (let count = 0; !isOver && count < 5_000; count += 1) {
      slow.write('a');
      await sleep(1);
    }
    const message =
      'The body arrives too slowly. Send at least 100000 bytes per second, and all of it within 5 minutes.';
    expect(await read).to.deep.equal(closing(message));
  });

  it('pauses while there is no room, and that time does not count', async () => {
    const taken: number[] = [];
    const free = createGate();
    const share = { ...SHARE, take: (count: number) => taken.push(count) > 1, untilFree: () => free.opened };
    const req = request({}, true);
    const read = readRaw(req, 100, { share, pace: { ...pace, stallMs: 50, freeMs: 50 } });
    req.write('first');
    await until('the body is kept from coming', () => req.isPaused());
    req.write('second');
    await sleep(120);
    expect(taken).to.deep.equal([5]);
    free.open();
    req.end();
    expect(String(await read)).to.equal('firstsecond');
    expect(taken).to.deep.equal([5, 6]);
  });

  it('ends when the client disconnects', async () => {
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      for (const error of [undefined, new Error('ECONNRESET')]) {
        const hungUp = request(headers);
        const reading = readRaw(hungUp, 10).catch((thrown: unknown) => thrown);
        hungUp.destroy(error);
        expect(await reading)
          .instanceOf(ClientGone)
          .and.have.property('message', 'the client disconnected');
      }
    }
  });

  it('discards the rest of a rejected encoded body', async () => {
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

  it('leaves no listener or timer, and handles later connection errors', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
    // The test's own limit starts here.
    await Promise.resolve();
    const before = timers();
    for (const headers of [{}, { 'content-encoding': 'gzip' }]) {
      const req = request(headers, true);
      const heard = () => ['data', 'end', 'close'].map((event) => req.listenerCount(event));
      const unheard = heard();
      req.end(gzipSync('1'));
      await readRaw(req, 100);
      // Others may end in the meantime.
      expect(timers()).to.be.at.most(before);
      expect(heard()).to.deep.equal(unheard);
      req.emit('error', new Error('ECONNRESET'));
    }
  });
});
