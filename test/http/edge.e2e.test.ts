import { expect } from 'chai';
import { withService } from '../support/with-service.js';
import { json, sendRaw } from '../support/client.js';

describe('the HTTP API', () => {
  const { service, client: send } = withService();

  describe('routes', () => {
    it('return 404 for unknown paths before any other check', async () => {
      for (const path of ['/', '/nope', '/Collections', '/collections/a/b', '/schema', '/collections//']) {
        const { status, codes } = await send(path, { token: null });
        expect([status, ...codes], path).deep.equal([404, 'ROUTE_NOT_FOUND']);
      }
    });

    it('list their methods in the header Allow', async () => {
      const put = await send('/collections', { method: 'PUT', token: null });
      expect([put.status, ...put.codes]).deep.equal([405, 'METHOD_NOT_ALLOWED']);
      expect(put.headers.get('allow')).equal('GET, PATCH, POST, HEAD, OPTIONS');
      const options = await send('/collections/x', { method: 'OPTIONS', token: null });
      expect([options.status, options.headers.get('allow'), options.text]).deep.equal([
        204,
        'GET, PATCH, DELETE, HEAD, OPTIONS',
        '',
      ]);
      expect((await send('/schema/diff')).headers.get('allow')).equal('POST, OPTIONS');
    });

    it('respond to HEAD like GET without a body', async () => {
      const [get, head] = [await send('/collections'), await send('/collections', { method: 'HEAD' })];
      expect(head.status).equal(200);
      expect(head.text).equal('');
      for (const name of ['etag', 'content-length', 'content-type', 'x-log-position']) {
        expect(head.headers.get(name), name).equal(get.headers.get(name));
      }
    });

    it('accept a trailing slash, and reject malformed percent-encodings', async () => {
      expect((await send('/collections/')).status).equal(200);
      for (const path of ['/collections/%', '/collections/%zz', '/collections/%ff']) {
        const answer = await sendRaw(
          service.url,
          `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.adminToken}\r\nConnection: close\r\n\r\n`,
        );
        expect(answer, path).match(/^HTTP\/1\.1 400 /);
      }
    });
  });

  describe('callers', () => {
    it('need a token except for health and login', async () => {
      for (const path of ['/collections', '/collections/x', '/schema/snapshot', '/server/info', '/users']) {
        const { status, codes, headers } = await send(path, { token: null });
        expect([status, ...codes], path).deep.equal([401, 'UNAUTHENTICATED']);
        expect(headers.get('www-authenticate')).match(/^Bearer realm=/);
      }
      expect((await send('/server/ping', { token: null })).text).equal('pong');
      expect((await send('/server/health', { token: null })).json).nested.include({ status: 'ok' });
      expect((await send('/collections', { token: 'wrong' })).status).equal(401);
      const basic = { authorization: 'Basic YTpi' };
      expect((await send('/collections', { token: null, headers: basic })).status).equal(401);
    });

    it('are checked for their role before query and body', async () => {
      const tokens: Record<string, string> = {};
      for (const role of ['auditor', 'reader']) {
        const user = (await send('/users', json({ email: `${role}@example.com`, role }))).json as {
          data: { id: string };
        };
        const created = (await send(`/users/${user.data.id}/tokens`, json({}))).json as { data: { token: string } };
        tokens[role] = created.data.token;
      }
      for (const role of ['auditor', 'reader']) {
        const token = tokens[role] ?? '';
        expect((await send('/collections', { token })).status).equal(200);
        expect((await send('/collections/service_users', { token })).status).equal(200);
        expect((await send('/server/info', { token })).status).equal(200);
        for (const path of ['/schema/snapshot?nope', '/users']) {
          const { status, codes } = await send(path, { token });
          expect([status, ...codes], path).deep.equal([403, 'FORBIDDEN']);
        }
        const body = { method: 'POST', token, body: 'nonsense', headers: { 'content-type': 'text/plain' } };
        for (const path of ['/collections', '/schema/diff', '/schema/apply', '/users']) {
          expect((await send(path, body)).status, path).equal(403);
        }
      }
    });
  });

  describe('reads', () => {
    it('return 304 to clients with the current response', async () => {
      await send('/collections', json({ collection: 'tagged', schema: null }));
      const paths = ['/collections', '/collections/tagged', '/schema/snapshot', '/schema/snapshot?export=csv'];
      for (const path of paths) {
        const { headers } = await send(path);
        const tag = headers.get('etag') ?? '';
        expect(tag).match(/^"[\w-]+"$/);
        expect(headers.get('cache-control')).equal('no-cache');
        const again = await send(path, { headers: { 'if-none-match': tag } });
        expect([again.status, again.text, again.headers.get('etag')]).deep.equal([304, '', tag]);
        await send('/collections/tagged', json({ meta: { note: path } }, 'PATCH'));
        expect((await send(path, { headers: { 'if-none-match': tag } })).status, path).equal(200);
      }
    });

    it('have the request id and the position', async () => {
      const { headers } = await send('/collections', { headers: { 'x-request-id': 'mine-1' } });
      expect(headers.get('x-request-id')).equal('mine-1');
      expect(Number(headers.get('x-log-position'))).greaterThan(0);
      expect((await send('/nope', { headers: { 'x-request-id': 'a b' } })).headers.get('x-request-id')).match(
        /^[0-9a-f-]{36}$/,
      );
    });
  });

  describe('writes', () => {
    const hashNow = async () => ((await send('/schema/snapshot')).headers.get('etag') ?? '').slice(1, -1);

    it('happen only if If-Match names the current schema', async () => {
      const hash = await hashNow();
      const create = (name: string, ifMatch: string) =>
        send('/collections', {
          ...json({ collection: name, schema: null }),
          headers: { 'content-type': 'application/json', 'if-match': ifMatch },
        });
      expect((await create('matched', `"${hash}"`)).status).equal(200);
      const stale = await create('stale', `"${hash}"`);
      expect([stale.status, ...stale.codes]).deep.equal([412, 'PRECONDITION_FAILED']);
      expect((await create('weak', `W/"${await hashNow()}"`)).status).equal(412);
      expect((await create('any', '*')).status).equal(200);
      expect((await create('malformed', hash)).status).equal(400);
    });

    it('happen once per Idempotency-Key, and repeat the response byte for byte', async () => {
      const create = (body: object, key = 'once') =>
        send('/collections', {
          ...json(body),
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
        });
      const [first, second] = [
        await create({ collection: 'once', schema: {} }),
        await create({ collection: 'once', schema: {} }),
      ];
      expect(first.status).equal(200);
      expect([second.status, second.text]).deep.equal([200, first.text]);
      expect(second.headers.get('x-log-position')).equal(first.headers.get('x-log-position'));
      const other = await create({ collection: 'other', schema: {} });
      expect([other.status, ...other.codes]).deep.equal([409, 'IDEMPOTENCY_MISMATCH']);
      const refused = await create({ collection: 'once', schema: {} }, 'refused');
      expect(refused.status).equal(409);
      expect((await create({ collection: 'once', schema: {} }, 'refused')).text).equal(refused.text);
      const removed = { method: 'DELETE', headers: { 'idempotency-key': 'removal' } };
      expect((await send('/collections/once', removed)).status).equal(204);
      expect((await send('/collections/once', removed)).status).equal(204);
      expect((await send('/collections/once', { method: 'DELETE' })).status).equal(404);
    });

    it('use exact names, with any characters', async () => {
      const names = [
        'a b',
        'a/b',
        "it's",
        '"',
        'constructor',
        '__proto__',
        'select',
        '%2F',
        'a?b#c',
        '😀',
        'a\\b',
        '+',
      ];
      for (const collection of names) {
        expect((await send('/collections', json({ collection, schema: {} }))).status, collection).equal(200);
        const path = `/collections/${encodeURIComponent(collection)}`;
        const read = (await send(path)).json as { data: { collection: string } };
        expect(read.data.collection).equal(collection);
        expect((await send(path, json({ collection, meta: { note: collection } }, 'PATCH'))).status).equal(200);
        const only = await send(`/schema/snapshot?includeCollections=${encodeURIComponent(quoted(collection))}`);
        expect((only.json as { collections: unknown[] }).collections).lengthOf(1);
        expect((await send(path, { method: 'DELETE' })).status).equal(204);
      }
    });

    const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  });

  it("logs one line per change without the request's content", async () => {
    await send('/collections', {
      ...json({ collection: 'sécret-name', schema: null }),
      headers: { 'content-type': 'application/json', 'x-request-id': 'logged', 'x-reason': 'sécret-reason' },
    });
    const lines = service.log().split('\n');
    const line = lines.find((each) => each.includes('"request_id":"logged"') && each.includes('"message":"request"'));
    expect(JSON.parse(line ?? '{}')).include({ method: 'POST', route: '/collections', status: 200, level: 'info' });
    expect(service.log()).not.include('sécret-reason').not.include(service.adminToken);
  });
});
