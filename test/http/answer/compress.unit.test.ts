import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { jsonAnswer, jsonBytesAnswer, noContent, largeJsonAnswer } from '../../../src/http/answer/answer.js';
import { encodeAnswer } from '../../../src/http/answer/representation.js';

const requestWith = (coding?: string) =>
  ({ headers: coding === undefined ? {} : { 'accept-encoding': coding } }) as unknown as IncomingMessage;

const LARGE = { text: 'x'.repeat(1_400) };

describe('a response for one request', () => {
  it('has JSON headers and is not cached', async () => {
    const headers = ['Content-Type', 'application/json; charset=utf-8'];
    const end = ['Content-Length', '8', 'Cache-Control', 'no-store'];
    expect(jsonAnswer(201, { ü: 1 }, ['Location', '/a'])).to.deep.equal({
      status: 201,
      headers: [...headers, 'Location', '/a', ...end],
      body: '{"ü":1}',
    });
    const bytes = Buffer.from('{"ü":1}');
    expect(jsonBytesAnswer(202, bytes)).to.deep.equal({ status: 202, headers: [...headers, ...end], body: bytes });
    expect(await largeJsonAnswer({ ü: 1 })).to.deep.equal({ status: 200, headers: [...headers, ...end], body: bytes });
    expect(noContent()).to.deep.equal({ status: 204, headers: ['Cache-Control', 'no-store'], body: null });
    expect(noContent(7)).to.deep.equal({ ...noContent(), position: 7 });
  });

  it('is encoded if requested and large enough, and keeps its other headers', async () => {
    const plain = { ...jsonAnswer(404, LARGE, ['Location', '/a']), position: 7 };
    for (const [coding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const { body, headers, ...rest } = await encodeAnswer(requestWith(coding), plain);
      const bytes = body as Buffer;
      expect(rest).to.deep.equal({ status: 404, position: 7 });
      expect(decode(bytes).toString()).to.equal(JSON.stringify(LARGE));
      const type = 'application/json; charset=utf-8';
      expect(headers.join(', ')).to.equal(
        `Content-Encoding, ${coding}, Content-Length, ${bytes.length}, Vary, Accept-Encoding, Content-Type, ${type}, Location, /a, Cache-Control, no-store`,
      );
    }
  });

  it('is not encoded if it is small, empty, unrequested, or already encoded', async () => {
    const large = jsonAnswer(200, LARGE);
    const tagged = { ...large, headers: [...large.headers, 'ETag', '"x"'] };
    const cases: [coding: string | undefined, answer: typeof large][] = [
      [undefined, large],
      ['identity', large],
      ['zstd', large],
      ['gzip', jsonAnswer(200, { a: 1 })],
      ['gzip', { status: 204, headers: [], body: null }],
      ['gzip', tagged],
    ];
    for (const [coding, answer] of cases) expect(await encodeAnswer(requestWith(coding), answer)).to.equal(answer);
  });
});
