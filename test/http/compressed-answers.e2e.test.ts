import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Plain {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

describe('compressed responses', () => {
  const { service, api } = withService();
  before(async () => {
    for (const name of ['a', 'b', 'c']) await api.ok('POST', '/collections', { collection: name, schema: {} });
  });

  const send = (path: string, headers: Record<string, string>, method = 'GET', body = ''): Promise<Plain> =>
    new Promise((resolve, reject) => {
      const authorization = `Bearer ${service.adminToken}`;
      const sent = request(service.url + path, { method, headers: { authorization, ...headers } }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });

  for (const path of [
    '/schema/snapshot',
    '/collections',
    '/fields',
    '/schema/snapshot?export=xml',
    '/history/snapshot',
    '/server/openapi.json',
  ]) {
    it(`a response of ${path} has the same content in every coding, each with its own tag`, async () => {
      const plain = await send(path, {});
      const gzip = await send(path, { 'accept-encoding': 'gzip' });
      const br = await send(path, { 'accept-encoding': 'gzip;q=0.9, br' });
      expect([plain, gzip, br].map(({ headers }) => headers['content-encoding'])).deep.equal([undefined, 'gzip', 'br']);
      expect(gunzipSync(gzip.body).equals(plain.body)).equal(true);
      expect(brotliDecompressSync(br.body).equals(plain.body)).equal(true);
      expect(new Set([plain, gzip, br].map(({ headers }) => headers.etag)).size).equal(3);
      for (const { headers, body } of [plain, gzip, br]) {
        expect(headers.vary).equal('Authorization, Accept-Encoding');
        expect(headers['content-length']).equal(String(body.length));
        for (const accepted of ['', 'br', 'gzip']) {
          const again = await send(path, { 'accept-encoding': accepted, 'if-none-match': String(headers.etag) });
          expect([again.status, again.headers.etag]).deep.equal([304, headers.etag]);
        }
      }
    });
  }

  it('a response to HEAD has the headers of GET', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const [get, head] = [await send('/fields', headers), await send('/fields', headers, 'HEAD')];
    expect(head.body.length).equal(0);
    for (const name of ['etag', 'content-length', 'content-encoding', 'vary']) {
      expect(head.headers[name], name).equal(get.headers[name]).not.equal(undefined);
    }
  });

  it('include responses that are not cached', async () => {
    const snapshot = await send('/schema/snapshot', {});
    const { service: release, vendor } = JSON.parse(snapshot.body.toString()) as { service: string; vendor: string };
    const collections = Array.from({ length: 50 }, (_, index) => ({ collection: `folder ${index}`, schema: null }));
    const body = JSON.stringify({ version: 1, service: release, vendor, collections });
    const headers = { 'content-type': 'application/json', 'accept-encoding': 'br' };
    const { headers: got, body: bytes } = await send('/schema/diff?mode=merge', headers, 'POST', body);
    expect(got).include({ 'content-encoding': 'br', 'content-length': String(bytes.length) });
    expect(JSON.parse(brotliDecompressSync(bytes).toString()))
      .property('hash')
      .equal(snapshot.headers.etag?.slice(1, -1));
    const log = await send('/history/events', { 'accept-encoding': 'gzip' });
    expect(JSON.parse(gunzipSync(log.body).toString()))
      .property('data')
      .length.above(2);
  });

  it('have no tag that If-Match accepts: that is the hash of the snapshot alone', async () => {
    const { headers: coded } = await send('/schema/snapshot', { 'accept-encoding': 'gzip' });
    const { headers: plain } = await send('/schema/snapshot', {});
    const patch = (tag: unknown) =>
      send(
        '/collections/a',
        { 'content-type': 'application/json', 'if-match': String(tag) },
        'PATCH',
        '{"meta":{"note":"x"}}',
      );
    expect((await patch(coded.etag)).status).equal(412);
    expect((await patch(plain.etag)).status).equal(200);
  });

  it('exclude small bodies and streams, and a client that accepts no coding gets an error', async () => {
    const ping = await send('/server/ping', { 'accept-encoding': 'gzip' });
    expect(ping.headers).not.property('content-encoding');
    const log = await send('/history/export', { 'accept-encoding': 'gzip' });
    expect(log.headers).not.property('content-encoding');
    const refused = await send('/collections', { 'accept-encoding': '*;q=0' });
    expect(refused.status).equal(406);
    expect(JSON.parse(refused.body.toString())).nested.property('errors[0].extensions.code', 'NOT_ACCEPTABLE');
  });

  it('get that error before their change is made', async () => {
    const headers = { 'content-type': 'application/json', 'accept-encoding': '*;q=0' };
    expect((await send('/collections', headers, 'POST', '{"collection":"unasked","schema":{}}')).status).equal(406);
    expect((await send('/collections/unasked', {})).status).equal(404);
  });
});
