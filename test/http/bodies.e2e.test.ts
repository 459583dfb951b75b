import { EventEmitter } from 'node:events';
import { Agent, request } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { json, sendRaw } from '../support/client.js';

const MIB = 1024 * 1024;

describe('request bodies', () => {
  let snapshot: Record<string, unknown>;

  const { service, client: send } = withService({ settings: { MAX_BODY: '2mb' } });
  before(async () => {
    snapshot = (await send('/schema/snapshot')).json as Record<string, unknown>;
  });

  const diff = (body: string | Buffer | FormData, type?: string, headers: Record<string, string> = {}) =>
    send('/schema/diff', { method: 'POST', body, headers: { ...(type && { 'content-type': type }), ...headers } });

  const upload = (...files: [content: string, name: string, type: string][]) => {
    const form = new FormData();
    for (const [content, name, type] of files) form.append('file', new Blob([content], { type }), name);
    return diff(form);
  };

  it('a schema can be sent as JSON, YAML, or a form with one such file', async () => {
    const text = JSON.stringify(snapshot);
    const yaml = (await send('/schema/snapshot?export=yaml')).text;
    const accepted = [
      await diff(text, 'application/json'),
      await diff(text, 'Application/JSON; charset="UTF-8"'),
      await diff(`\ufeff${text}`, 'application/json'),
      await diff(JSON.stringify({ data: snapshot }), 'application/json'),
      await diff(yaml, 'application/yaml'),
      await diff(yaml, 'text/yaml'),
      await diff(yaml, 'application/x-yaml'),
      await diff(yaml, 'text/x-yaml'),
      await upload([text, 'a.json', 'application/json']),
      await upload([yaml, 'a.txt', 'text/yaml']),
      await upload([yaml, 'a.yml', '']),
      await upload([`\ufeff${text}`, 'snapshot', '']),
    ];
    expect(accepted.map(({ status, text: body }) => (status === 200 ? 200 : body))).deep.equal(accepted.map(() => 200));
  });

  it('the service rejects other types, charsets and codings', async () => {
    const text = JSON.stringify(snapshot);
    const refused = [
      await diff(text, 'text/plain'),
      await diff(text, 'application/vnd.api+json'),
      await diff(text, 'application/x-www-form-urlencoded'),
      await diff(text, 'application/json; charset=utf-16'),
      await diff(Buffer.from(text), undefined),
      await diff(gzipSync(text), 'application/json', { 'content-encoding': 'zstd' }),
      await diff(gzipSync(gzipSync(text)), 'application/json', { 'content-encoding': 'gzip, gzip' }),
      await upload([text, 'a.png', 'image/png']),
      await send('/collections', { method: 'POST', body: 'collection: a', headers: { 'content-type': 'text/yaml' } }),
    ];
    expect(refused.map(({ status, codes }) => [status, ...codes])).deep.equal(
      refused.map(() => [415, 'UNSUPPORTED_MEDIA_TYPE']),
    );
  });

  it('the service rejects empty and unreadable bodies', async () => {
    const deep = '['.repeat(100) + ']'.repeat(100);
    const refused = [
      await diff('', 'application/json'),
      await diff('  ', 'application/json'),
      await diff('{', 'application/json'),
      await diff('{"a":1}{"b":2}', 'application/json'),
      await diff(Buffer.from([0x7b, 0xff, 0x7d]), 'application/json'),
      await diff('null', 'application/json'),
      await diff('[]', 'application/json'),
      await diff(deep, 'application/json'),
      await diff('"\\u0000"', 'application/json'),
      await diff('{"a":"\\ud800"}', 'application/json'),
      await diff('{"a":1e999}', 'application/json'),
      await diff('a: 1\na: 2', 'application/yaml'),
      await diff('a: !!js/function x', 'application/yaml'),
      await diff(deep, 'application/yaml'),
      await upload(),
      await upload(['{}', 'a.json', 'application/json'], ['{}', 'b.json', 'application/json']),
      await diff('x', 'multipart/form-data'),
      await send('/collections', { method: 'POST' }),
      await send('/collections', json(null)),
      await send('/collections', json(7)),
      await send('/changes/6f1c1a52-6d0f-4c57-9d2e-0a1b2c3d4e5f/apply', json(null)),
    ];
    expect(refused.map(({ status, codes }) => [status, codes[0]])).deep.equal(
      refused.map(() => [400, 'INVALID_PAYLOAD']),
    );
  });

  it('cannot change a prototype', async () => {
    await diff('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}', 'application/json');
    await diff('__proto__: {polluted: 1}', 'application/yaml');
    const create = '{"collection":"p","schema":{},"__proto__":{"polluted":1}}';
    const { status, text } = await send('/collections', {
      method: 'POST',
      body: create,
      headers: { 'content-type': 'application/json' },
    });
    expect(status).equal(400);
    expect(text).include('__proto__');
    expect(({} as Record<string, unknown>)['polluted']).equal(undefined);
  });

  describe('that are too large', () => {
    const big = (bytes: number) => JSON.stringify({ collection: 'x', schema: null, note: 'x'.repeat(bytes) });

    it('are rejected with the limit', async () => {
      const { status, json: body } = await send('/collections', { ...json({}), body: big(MIB) });
      expect(status).equal(413);
      expect(body).nested.include({ 'errors[0].extensions.limit': MIB });
      expect((await diff(big(2 * MIB), 'application/json')).status).equal(413);
      expect((await upload([big(2 * MIB), 'a.json', 'application/json'])).status).equal(413);
    });

    it('are rejected without a declared length, and the client receives the response', async () => {
      const chunk = Buffer.alloc(64 * 1024, 0x20);
      let left = 64;
      const stream = new ReadableStream({
        pull(controller) {
          if (left-- > 0) controller.enqueue(chunk);
          else controller.close();
        },
      });
      const headers = { 'content-type': 'application/json' };
      expect((await send('/collections', { method: 'POST', headers, body: stream })).status).equal(413);
    });

    it('are accepted up to the limit', async () => {
      const exact = big(MIB - Buffer.byteLength(big(0)));
      expect(Buffer.byteLength(exact)).equal(MIB);
      expect((await send('/collections', { ...json({}), body: exact })).status).equal(200);
    });
  });

  describe('that are compressed', () => {
    const codings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, 'X-GZIP': gzipSync };

    for (const [coding, compress] of Object.entries(codings)) {
      it(`are read with ${coding}`, async () => {
        const headers = { 'content-encoding': coding };
        const text = JSON.stringify(snapshot);
        expect((await diff(compress(text), 'application/json', headers)).status).equal(200);
        const folder = { collection: `folder ${coding}`, schema: null };
        const small = { ...json(folder), body: compress(JSON.stringify(folder)) };
        small.headers = { ...small.headers, ...headers };
        expect((await send('/collections', small)).status).equal(200);
      });

      it(`are rejected with ${coding} if they are truncated or invalid`, async () => {
        const compressed = compress(JSON.stringify(snapshot));
        for (const body of [compressed.subarray(0, compressed.length - 8), Buffer.from('{}'), Buffer.alloc(0)]) {
          const { status, codes } = await diff(body, 'application/json', { 'content-encoding': coding });
          expect([status, codes[0]]).deep.equal([400, 'INVALID_PAYLOAD']);
        }
      });

      it(`are limited by their decoded size with ${coding}`, async () => {
        const bomb = compress(Buffer.alloc(32 * MIB, 0x20));
        expect(bomb.length).below(MIB);
        // Only buffers: the heap of JavaScript may grow at any time.
        const before = process.memoryUsage().arrayBuffers;
        const { status, codes } = await diff(bomb, 'application/json', { 'content-encoding': coding });
        expect([status, codes[0]]).deep.equal([413, 'CONTENT_TOO_LARGE']);
        expect(process.memoryUsage().arrayBuffers - before).below(30 * MIB);
      });
    }

    it('are read from forms, and an unknown coding is rejected with the known ones', async () => {
      const body = ['--x', 'Content-Disposition: form-data; name="f"; filename="a.json"', '', JSON.stringify(snapshot)];
      const form = gzipSync([...body, '--x--', ''].join('\r\n'));
      const type = 'multipart/form-data; boundary=x';
      expect((await diff(form, type, { 'content-encoding': 'gzip' })).status).equal(200);
      const { headers } = await diff(form, type, { 'content-encoding': 'compress' });
      expect(headers.get('accept-encoding')).equal('gzip, deflate, br, identity');
    });
  });

  it('have no effect if the client disconnects while sending', async () => {
    const head = [
      'POST /collections HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${service.adminToken}`,
      'Content-Type: application/json',
    ];
    const part = '{"collection":"half","schema":{}';
    await sendRaw(service.url, [...head, 'Content-Length: 1000', '', part].join('\r\n'), { hangUp: true });
    await sendRaw(service.url, [...head, 'Transfer-Encoding: chunked', '', '20', part, ''].join('\r\n'), {
      hangUp: true,
    });
    expect((await send('/collections/half')).status).equal(404);
    expect(service.log()).not.include('"level":"error"');
  });

  it('leave no listeners on a connection with many requests', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const warnings: string[] = [];
    const onWarning = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', onWarning);
    const ask = (): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${service.adminToken}`, 'content-type': 'application/json' };
        const pending = request(`${service.url}/schema/diff`, { method: 'POST', agent, headers }, (answer) =>
          answer.resume().on('end', () => resolve(answer.statusCode)),
        );
        pending.on('error', reject).end(JSON.stringify(snapshot));
      });
    try {
      for (let each = 0; each < 2 * EventEmitter.defaultMaxListeners; each++) expect(await ask()).equal(200);
      expect(warnings).deep.equal([]);
    } finally {
      process.off('warning', onWarning);
      agent.destroy();
    }
  });
});
