import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  encode,
  readAcceptEncoding,
  codingFor,
  representationAnswer,
  requireAcceptable,
} from '../../../src/http/answer/representation.js';
import { RejectedError } from '../../../src/http/errors.js';
import { SharedBytes, bytes, toBuffer } from '../../../src/kernel/bytes.js';
import { renderInChunks } from '../../../src/reads/rendered-cache.js';
import { runToEnd } from '../../../src/kernel/resumable.js';

const toRendered = (content: string) => runToEnd(renderInChunks(bytes([content])));

const small = { ...toRendered('{"ü":1}'), etag: '"abc"', type: 'application/json', position: 7 };
const text = JSON.stringify(Array.from({ length: 500 }, (_, index) => ({ index })));
const large = { ...toRendered(text), etag: '"abc"', type: 'application/json' };

const CACHING = ['Cache-Control', 'no-cache', 'Vary', 'Authorization, Accept-Encoding'];

/** @param headers names in lower case */
const answerTo = async (headers: Record<string, string>, subject = large) => {
  const { status, body, headers: list } = await representationAnswer(subject, { headers });
  const named = Object.fromEntries(list.flatMap((name, index) => (index % 2 === 0 ? [[name, list[index + 1]]] : [])));
  return { status, body: body as Buffer | null, headers: named };
};

describe('bytes in several parts', () => {
  it('are one gzip stream with the same bytes, even when parts were compressed for another body', async () => {
    const part = fc.uint8Array({ maxLength: 3_000 }).map((each) => Buffer.from(each));
    const lists = fc
      .uniqueArray(part, { minLength: 1, maxLength: 6, comparator: 'IsStrictlyEqual' })
      .chain((parts) => fc.array(fc.array(fc.constantFrom(...parts)), { minLength: 2, maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(lists, async (bodies) => {
        for (const parts of bodies) {
          const zipped = toBuffer(await encode(new SharedBytes(parts), 'gzip'));
          expect(gunzipSync(zipped).equals(Buffer.concat(parts))).to.equal(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('are encoded as a whole in other codings', async () => {
    const parts = Array.from({ length: 20 }, (_, index) => Buffer.from(`${text} ${index}`));
    const encoded = toBuffer(await encode(new SharedBytes(parts), 'br'));
    expect(brotliDecompressSync(encoded)).to.deep.equal(Buffer.concat(parts));
  });
});

describe('representationAnswer', () => {
  it('sends the bytes with an ETag and cache headers', () => {
    expect(representationAnswer(small, { headers: {} })).deep.equal({
      status: 200,
      headers: ['Content-Type', 'application/json', 'Content-Length', '8', 'ETag', '"abc"', ...CACHING],
      body: small.body,
      position: 7,
    });
  });

  it('sends 304 to a client that has the bytes', async () => {
    for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', '*', ' * ', '"x",W/"abc" ']) {
      const { status, body, headers } = await answerTo({ 'if-none-match': header }, small);
      expect({ status, body, tag: headers['ETag'] }, header).deep.equal({ status: 304, body: null, tag: '"abc"' });
    }
  });

  it('sends the bytes to a client that has different ones', async () => {
    for (const header of ['"x"', 'abc', '"ab"', '', '"abc', '"abc-zstd"']) {
      expect((await answerTo({ 'if-none-match': header })).status, header).equal(200);
    }
  });

  it('encodes the bytes as requested, with one tag per coding', async () => {
    const plain = await answerTo({});
    const gzip = await answerTo({ 'accept-encoding': 'gzip, deflate' });
    const br = await answerTo({ 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(plain.headers).include({ ETag: '"abc"' }).not.property('Content-Encoding');
    expect(gzip.headers).include({
      ETag: '"abc-gzip"',
      'Content-Encoding': 'gzip',
      Vary: 'Authorization, Accept-Encoding',
    });
    expect(br.headers).include({
      ETag: '"abc-br"',
      'Content-Encoding': 'br',
      'Content-Length': String(br.body?.length),
    });
    expect(gunzipSync(gzip.body as Buffer).toString()).equal(text);
    expect(brotliDecompressSync(br.body as Buffer).toString()).equal(text);
  });

  it('encodes the bytes once for concurrent and later requests', async () => {
    const bodies = await Promise.all(
      ['gzip', 'x-gzip', 'gzip;q=0.2'].map((coding) => answerTo({ 'accept-encoding': coding })),
    );
    expect(new Set(bodies.map(({ body }) => body)).size).equal(1);
  });

  it('accepts the tag of any coding, and returns it', async () => {
    for (const tag of ['"abc"', '"abc-gzip"', '"abc-br"']) {
      for (const coding of ['', 'br', 'gzip']) {
        const { status, headers } = await answerTo({ 'accept-encoding': coding, 'if-none-match': `"x", ${tag}` });
        expect([status, headers['ETag']]).deep.equal([304, tag]);
      }
    }
    const { headers } = await answerTo({ 'accept-encoding': 'br', 'if-none-match': '"abc", "abc-br"' });
    expect(headers['ETag']).equal('"abc-br"');
  });

  it('does not encode small bodies, unless the client rejects that', async () => {
    expect([codingFor('br', 1_399), codingFor('br', 1_400), codingFor(undefined, 9_999)]).deep.equal([
      null,
      'br',
      null,
    ]);
    expect((await answerTo({ 'accept-encoding': 'br' }, small)).headers).not.property('Content-Encoding');
    const { headers } = await answerTo({ 'accept-encoding': 'br, identity;q=0' }, small);
    expect(headers).include({ 'Content-Encoding': 'br' });
    for (const nothing of ['identity;q=0', '*;q=0', 'zstd, *;q=0']) {
      expect(() => requireAcceptable({ 'accept-encoding': nothing }), nothing)
        .throw(RejectedError)
        .property('problems')
        .deep.equal([
          {
            code: 'NOT_ACCEPTABLE',
            message: 'Accept-Encoding excludes every supported encoding. Accept identity or one of br, gzip.',
            path: 'Accept-Encoding',
          },
        ]);
    }
    for (const some of [undefined, '', 'identity', 'identity;q=0, gzip']) {
      requireAcceptable(some === undefined ? {} : { 'accept-encoding': some });
    }
  });

  it('parses quality weights', () => {
    const CASES = [
      ['', true, null],
      ['identity', true, null],
      ['zstd', true, null],
      ['br', true, 'br'],
      ['gzip;q=0.5', true, 'gzip'],
      ['gzip, br;q=0.9', true, 'gzip'],
      ['gzip;q=0.8, br;q=0.9', true, 'br'],
      ['*', true, 'br'],
      ['br;q=0, *', true, 'gzip'],
      ['br;q=0', true, null],
      ['GZIP ; Q=1', true, 'gzip'],
      ['gzip;q=0.5, identity', true, null],
      ['gzip, identity;q=0.5', true, 'gzip'],
      ['gzip, *;q=0', false, 'gzip'],
      ['gzip;q=7', true, null],
    ] as const;
    for (const [header, identity, coding] of CASES) {
      expect(readAcceptEncoding(header), header).deep.equal({ identity, coding });
    }
  });
});
