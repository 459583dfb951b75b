import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Api, createApi } from '../../support/api.js';
import { json } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';
import { type TestService, startService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';

interface Comparison {
  ahead: number | null;
  behind: number | null;
  conflicts: number;
  error: { code: string; message: string } | null;
  checked_at: string;
}

interface Environment {
  id: string;
  name: string;
  url: string;
  has_token: boolean;
  base: { log: string; position: number } | null;
  comparison: Comparison | null;
}

interface Diff {
  hash: string;
  diff: { collections: object[]; fields: { collection: string; field: string }[]; relations: object[] };
}

describe('environments', () => {
  const { service, api, client } = withService({
    settings: { WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1', MAX_BODY: '1mb' },
  });
  let there: TestService;
  let remote: Api;
  let hostile: Receiver;

  before(async () => {
    there = await startService();
    remote = createApi(there);
    hostile = await startReceiver();
  });
  after(async () => {
    await hostile?.stop();
    await remote?.stop();
    await there?.stop();
  });
  afterEach(async () => {
    for (const { id } of (await api.ok<{ data: Environment[] }>('GET', '/environments')).data)
      await api.ok('DELETE', `/environments/${id}`);
  });

  let count = 0;
  const unique = (): string => `t${(count += 1)}`;
  const connect = async (more: object = {}): Promise<Environment> => {
    const body = { name: unique(), url: there.url, token: there.adminToken, ...more };
    return (await api.ok<{ data: Environment }>('POST', '/environments', body)).data;
  };
  const get = async (id: string): Promise<Environment> =>
    (await api.ok<{ data: Environment }>('GET', `/environments/${id}`)).data;
  const compare = async (id: string): Promise<Comparison> =>
    (await api.ok<{ data: Comparison }>('POST', `/environments/${id}/test`)).data;
  const countsOf = async (id: string) => {
    const { ahead, behind, conflicts, error } = await compare(id);
    return [ahead, behind, conflicts, error?.code ?? null];
  };
  const collection = { schema: {}, fields: [{ field: 'title', type: 'string', interface: 'input' }] };
  /** Creates a collection on both sides, which the base contains after a comparison. */
  const shared = async (id: string): Promise<string> => {
    const name = unique();
    for (const each of [api, remote]) await each.ok('POST', '/collections', { collection: name, ...collection });
    expect(await countsOf(id)).to.deep.equal([0, 0, 0, null]);
    return name;
  };
  const fieldsOf = ({ diff }: Diff): string[] => diff.fields.map(({ collection: name, field }) => `${name}.${field}`);
  const merge = (id: string, body: object = {}): Promise<Diff> => api.ok('POST', `/environments/${id}/merge`, body);

  it('counts the changes of both sides since the last common schema, and merges those of the environment', async () => {
    const { id } = await connect();
    const name = await shared(id);
    for (const field of ['a', 'b', 'c']) await api.ok('POST', `/fields/${name}`, { field, type: 'string' });
    await remote.ok('POST', `/fields/${name}`, { field: 'pages', type: 'integer' });
    expect(await countsOf(id)).to.deep.equal([3, 1, 0, null]);

    const merged = await merge(id);
    expect(fieldsOf(merged)).to.deep.equal([`${name}.pages`]);
    await api.ok('POST', '/schema/apply', merged);
    expect(await countsOf(id)).to.deep.equal([3, 0, 0, null]);
    expect((await get(id)).base).to.include({ log: 'environment' });

    // The common schema contains "pages", so its deletion is a change and not a missing field.
    await remote.ok('DELETE', `/fields/${name}/pages`);
    expect(await countsOf(id)).to.deep.equal([3, 1, 0, null]);
    await api.ok('POST', '/schema/apply', await merge(id));
    expect(await countsOf(id)).to.deep.equal([3, 0, 0, null]);
    await api.ok('DELETE', `/collections/${name}`);
    await remote.ok('DELETE', `/collections/${name}`);
  });

  it('reports that the environment has all changes after they were applied there', async () => {
    const { id } = await connect();
    const name = await shared(id);
    const note = (text: string | null) => ({ meta: { note: text } });
    await api.ok('PATCH', `/collections/${name}`, note('here'));
    await remote.ok('POST', `/fields/${name}`, { field: 'there', type: 'string' });
    expect(await countsOf(id)).to.deep.equal([1, 1, 0, null]);
    await remote.ok('PATCH', `/collections/${name}`, note('here'));
    expect(await countsOf(id)).to.deep.equal([0, 1, 0, null]);
    expect((await get(id)).base).to.deep.equal({ log: 'own', position: await api.head() });
    await remote.ok('PATCH', `/collections/${name}`, note('there'));
    const merged = await merge(id);
    expect([merged.diff.collections.length, fieldsOf(merged)]).to.deep.equal([1, [`${name}.there`]]);
    for (const each of [api, remote]) await each.ok('DELETE', `/collections/${name}`);
  });

  it('shows conflicts with their three values, and resolves them like any other merge', async () => {
    const { id } = await connect();
    const name = await shared(id);
    await api.ok('PATCH', `/collections/${name}`, { meta: { note: 'ours' } });
    await remote.ok('PATCH', `/collections/${name}`, { meta: { note: 'theirs' } });
    await remote.ok('POST', `/fields/${name}`, { field: 'extra', type: 'string' });
    expect(await countsOf(id)).to.deep.equal([0, 1, 1, null]);
    const { status, json: body } = await client(`/environments/${id}/merge`, json({}));
    const { errors } = body as { errors: { extensions: Record<string, unknown> }[] };
    expect(status).to.equal(409);
    expect(errors.map(({ extensions }) => extensions)).to.deep.equal([
      {
        code: 'MERGE_CONFLICT',
        kind: 'changed',
        place: { part: 'collections', collection: name, path: ['meta', 'note'] },
        base: null,
        ours: 'ours',
        theirs: 'theirs',
      },
    ]);
    const resolve = [{ place: errors[0]?.extensions['place'], take: 'theirs' }];
    await api.ok('POST', '/schema/apply', await merge(id, { resolve }));
    expect(await countsOf(id)).to.deep.equal([0, 0, 0, null]);
    for (const each of [api, remote]) await each.ok('DELETE', `/collections/${name}`);
  });

  it('deletes nothing while no common schema is known, and starts from the one that an admin names', async () => {
    const name = unique();
    for (const each of [api, remote]) await each.ok('POST', '/collections', { collection: name, ...collection });
    const both = await api.head();
    await api.ok('POST', `/fields/${name}`, { field: 'here', type: 'string' });
    await remote.ok('DELETE', `/fields/${name}/title`);
    await remote.ok('POST', `/fields/${name}`, { field: 'there', type: 'string' });
    const { id } = await connect();
    expect(await countsOf(id)).to.deep.equal([2, 1, 0, null]);
    expect(fieldsOf(await merge(id))).to.deep.equal([`${name}.there`]);
    const { data } = await api.appends<{ data: Environment }>(
      ['environment.updated null'],
      'PATCH',
      `/environments/${id}`,
      { base: both },
    );
    expect(data.base).to.deep.equal({ log: 'own', position: both });
    expect(await countsOf(id)).to.deep.equal([1, 2, 0, null]);
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'base' }, 'PATCH', `/environments/${id}`, {
      base: 1_000_000,
    });
    for (const each of [api, remote]) await each.ok('DELETE', `/collections/${name}`);
  });

  it('records every change as an event without the token or the path', async () => {
    const secret = 'dps_a-secret-token-of-another-instance';
    const before = await api.head();
    const { id, url } = await connect({ name: 'staging', url: `${hostile.url}/`, token: secret });
    expect(url).to.equal(hostile.url);
    await api.ok('PATCH', `/environments/${id}`, { token: `${secret}2`, name: 'test' });
    await api.ok('PATCH', `/environments/${id}`, { name: 'test' });
    await api.ok('DELETE', `/environments/${id}`);
    const { data } = await api.ok<{ data: { type: string; data: object; subject: object; position: number }[] }>(
      'GET',
      '/history/events?subject=environment&order=asc&limit=100',
    );
    const events = data.filter(({ position }) => position > before);
    const origin = new URL(hostile.url).origin;
    expect(events.map(({ type, data: payload }) => [type, payload])).to.deep.equal([
      ['environment.created', { name: 'staging', origin }],
      ['environment.updated', { name: 'test', token: 'replaced' }],
      ['environment.deleted', {}],
    ]);
    for (const event of events) expect(event.subject).to.deep.equal({ kind: 'environment', id });
    const { data: batches } = await api.ok<{ data: { summary: string; first_position: number }[] }>(
      'GET',
      '/history/batches?subject=environment',
    );
    const summaries = batches.filter((batch) => batch.first_position > before).map(({ summary }) => summary);
    expect(summaries).to.deep.equal(['deleted', 'updated', 'created'].map((verb) => `${verb} environment “test”`));
    const stored = await api.sql<{ text: string }>('SELECT e::text AS text FROM service.service_events e');
    const texts = [...stored.map(({ text }) => text), service.log()];
    expect(texts.some((text) => text.includes(secret))).to.equal(false);
  });

  it('never sends a stored token to a new address', async () => {
    const { id } = await connect();
    const path = `/environments/${id}`;
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'token' }, 'PATCH', path, { url: hostile.url });
    await api.ok('PATCH', path, { url: hostile.url, token: 'other' });
    hostile.received.length = 0;
    await compare(id);
    const sent = new Set(hostile.received.map(({ headers }) => headers.authorization));
    expect([...sent]).to.deep.equal(['Bearer other']);
  });

  it('never sends a new token to the former address, even during a comparison', async () => {
    const reject = (response: ServerResponse): void => void response.writeHead(404).end();
    hostile.respond = reject;
    const { id } = await connect({ url: hostile.url, token: 'former' });
    await until('the first comparison ends', async () => (await get(id)).comparison !== null);
    hostile.received.length = 0;
    const arrived = new Promise<ServerResponse>((resolve) => (hostile.respond = resolve));
    const comparing = compare(id);
    const response = await arrived;
    hostile.respond = reject;
    await api.ok('PATCH', `/environments/${id}`, { url: there.url, token: there.adminToken });
    const data = { release: '0.1.0', vendor: 'postgres', position: 1, hash: 'a'.repeat(64) };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }));
    expect((await comparing).error?.message).to.equal(
      'The environment was changed or deleted in the meantime. Try again.',
    );
    const sent = new Set(hostile.received.map(({ headers }) => headers.authorization));
    expect([...sent]).to.deep.equal(['Bearer former']);
  });

  it('rejects a merge if the token can read only some collections', async () => {
    const { id } = await connect();
    const name = await shared(id);
    const { data: user } = await remote.ok<{ data: { id: string } }>('GET', '/users/me');
    const scope = { collections: ['nothing_*'] };
    const { data } = await remote.ok<{ data: { token: string } }>('POST', `/users/${user.id}/tokens`, {
      name: 'scoped',
      scope,
    });
    await api.ok('PATCH', `/environments/${id}`, { token: data.token });
    expect(await countsOf(id)).to.deep.equal([null, null, 0, 'token_rejected']);
    const { message } = await api.refused(
      { status: 409, code: 'INVALID_STATE' },
      'POST',
      `/environments/${id}/merge`,
      {},
    );
    expect(message).to.contain('for all collections');
    for (const each of [api, remote]) await each.ok('DELETE', `/collections/${name}`);
  });

  it('rejects names that exist, addresses that are not allowed, and tokens that no header can contain', async () => {
    const { name } = await connect();
    const body = { name: unique(), url: there.url, token: 'token' };
    const at = (path: string) => ({ status: 400, code: 'INVALID_PAYLOAD', at: path });
    await api.refused({ status: 409, code: 'ALREADY_EXISTS', at: 'name' }, 'POST', '/environments', { ...body, name });
    for (const url of [
      'https://10.0.0.1',
      'https://[::ffff:169.254.169.254]',
      'http://198.41.0.4',
      'ftp://example.com',
      'https://user:secret@example.com',
      'https://example.com/?',
      'https://example.com/#part',
      'no address',
    ])
      await api.refused(at('url'), 'POST', '/environments', { ...body, url });
    for (const token of ['', 'two words', 'line\r\nx-header: 1', 'é'])
      await api.refused(at('token'), 'POST', '/environments', { ...body, token });
  });

  it('limits the number of environments', async () => {
    for (let index = 0; index < 20; index += 1) await connect({ url: 'https://staging.invalid' });
    const body = { name: unique(), url: there.url, token: 'token' };
    await api.refused({ status: 409, code: 'INVALID_STATE' }, 'POST', '/environments', body);
  });

  it('are for admins', async () => {
    const { id } = await connect();
    const password = 'correct horse battery';
    const user = { email: `${unique()}@example.com`, password, role: 'author' };
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', user);
    const { data: issued } = await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {
      name: 'x',
    });
    for (const [path, method] of [
      ['/environments', 'GET'],
      [`/environments/${id}`, 'GET'],
      [`/environments/${id}/test`, 'POST'],
      [`/environments/${id}/merge`, 'POST'],
    ] as const) {
      const reply = await client(path, { method, token: issued.token });
      expect([reply.status, reply.codes], path).to.deep.equal([403, ['FORBIDDEN']]);
    }
  });

  it('needs the token again after a restore from a backup', async () => {
    const { id } = await connect();
    await api.sql('UPDATE service.service_environments SET token = NULL WHERE id = $1', [id]);
    expect(await get(id)).to.include({ has_token: false });
    const { error } = await compare(id);
    expect(error?.message).to.match(/^The environment has no token, .* Enter its token again\.$/);
  });

  describe('that cannot be compared', () => {
    const refusal = async (more: object): Promise<Comparison['error']> => {
      const { id } = await connect(more);
      const { error, ahead, behind } = await compare(id);
      expect([ahead, behind]).to.deep.equal([null, null]);
      await api.refused({ status: 409, code: 'INVALID_STATE' }, 'POST', `/environments/${id}/merge`);
      return error;
    };
    const answer = (response: ServerResponse, status: number, headers: Record<string, string>, body = ''): void =>
      void response.writeHead(status, headers).end(body);
    const JSON_TYPE = { 'content-type': 'application/json' };
    const info = (more: object = {}): string => {
      const data = { release: '0.1.0', vendor: 'postgres', position: 1, hash: 'a'.repeat(64), ...more };
      return JSON.stringify({ data });
    };

    it('is reported as unreachable', async () => {
      const closed = await startReceiver();
      await closed.stop();
      expect(await refusal({ url: closed.url })).to.deep.equal({
        code: 'unreachable',
        message: 'The environment refused the connection.',
      });
    });

    it('reports that the token is rejected, and never repeats it', async () => {
      const token = 'dps_not-a-token-of-that-instance';
      const error = await refusal({ token });
      expect(error?.code).to.equal('token_rejected');
      expect(JSON.stringify(error)).to.not.contain(token);
    });

    it('reports that the token lacks privileges', async () => {
      const { data } = await remote.ok<{ data: { id: string } }>('POST', '/users', {
        email: 'reader@example.com',
        password: 'correct horse battery',
        role: 'reader',
      });
      const { data: issued } = await remote.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {
        name: 'reader',
      });
      const error = await refusal({ token: issued.token });
      expect(error?.message).to.match(
        /^The token does not allow reading the schema and the history of the environment\./,
      );
    });

    it('reports that it is this service', async () => {
      expect((await refusal({ url: service.url, token: service.adminToken }))?.code).to.equal('same_instance');
    });

    it('reports that the release is older or newer, and repeats no other text', async () => {
      const releases: [release: string, expected: RegExp][] = [
        ['0.0.9', /^The environment runs release 0\.0\.9, which is older than release /],
        ['99.0.0', /^The environment runs release 99\.0\.0, which is newer than release /],
        ['secret', /^The environment does not run release /],
      ];
      for (const [release, expected] of releases) {
        hostile.respond = (response) => answer(response, 200, JSON_TYPE, info({ release }));
        const error = await refusal({ url: hostile.url });
        expect(error?.code).to.equal('other_release');
        expect(error?.message).to.match(expected).and.not.contain('secret');
      }
    });

    it('reports that another program answers, and repeats nothing of its response', async () => {
      const token = 'dps_secret';
      const bodies: [headers: Record<string, string>, body: string][] = [
        [{ 'content-type': 'text/html' }, `<h1>Sign in with ${token}</h1>`],
        [JSON_TYPE, `{"error": "${token}"}`],
        [JSON_TYPE, `no JSON ${token}`],
        [JSON_TYPE, info({ hash: token })],
        [JSON_TYPE, `{"a":`.repeat(20_000)],
        [{ ...JSON_TYPE, 'content-encoding': 'gzip' }, token],
      ];
      for (const [headers, body] of bodies) {
        hostile.respond = (response) => answer(response, 200, headers, body);
        const error = await refusal({ url: hostile.url, token });
        expect(error).to.deep.equal({
          code: 'not_this_service',
          message: 'The server at this address is not a Data Platform Service. Check the address.',
        });
      }
    });

    it('follows no redirect', async () => {
      hostile.received.length = 0;
      hostile.respond = (response) => answer(response, 302, { location: `${service.url}/server/info` });
      expect((await refusal({ url: hostile.url }))?.message).to.match(
        /responded with 302\. Redirects are not followed\./,
      );
      const paths = new Set(hostile.received.map(({ path }) => path));
      expect([...paths]).to.deep.equal(['/hook/server/info']);
    });

    it('reads no more of a response than a request may have', async () => {
      let written = 0;
      const chunk = Buffer.alloc(64 * 1024, ' ');
      hostile.respond = async (response) => {
        response
          .setMaxListeners(0)
          .on('error', () => undefined)
          .writeHead(200, JSON_TYPE);
        while (!response.destroyed && written < 2 ** 30) {
          written += chunk.length;
          if (!response.write(chunk))
            await new Promise((resolve) => response.once('drain', resolve).once('close', resolve));
        }
        response.destroy();
      };
      const { id } = await connect({ url: hostile.url });
      expect((await compare(id)).error?.message).to.match(/^The response of the environment exceeds 1048576 bytes\./);
      expect(written).to.be.below(2 ** 27);
    });

    it('does not repeat names of an invalid schema in its status', async () => {
      const name = 'dps_secret';
      hostile.respond = (response, { path }) => {
        if (path.endsWith('/server/info')) return answer(response, 200, JSON_TYPE, info());
        const disposition = 'attachment; filename="snapshot-20261121-074501-184-3dd83ede.json"';
        const fields = [{ collection: name, field: name, type: name }];
        const snapshot = { version: 1, service: '0.1.0', vendor: 'postgres', collections: [], fields, relations: [] };
        answer(response, 200, { ...JSON_TYPE, 'content-disposition': disposition }, JSON.stringify(snapshot));
      };
      const { id } = await connect({ url: hostile.url });
      const { error } = await compare(id);
      expect(error?.code).to.equal('not_comparable');
      expect(error?.message).to.not.contain(name);
    });
  });

  it('lists environments immediately while one of them never answers', async () => {
    hostile.respond = () => undefined;
    hostile.received.length = 0;
    const { id: silent } = await connect({ url: hostile.url });
    const { id } = await connect();
    await until('the other environment is compared', async () => {
      const { data } = await api.ok<{ data: Environment[] }>('GET', '/environments');
      expect(data.find((each) => each.id === silent)?.comparison).to.equal(null);
      return data.find((each) => each.id === id)?.comparison?.error === null;
    });
    expect(hostile.received).to.have.length(1);
  });

  it('are listed and compared by "dps environments", whose diff "dps apply" accepts', async () => {
    const run = (...line: string[]) => dps(line, { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    expect((await run('environments')).out).to.equal('No environments.');
    const { name } = await connect();
    const both = { collection: unique(), schema: {}, fields: [] };
    for (const each of [api, remote]) await each.ok('POST', '/collections', both);
    await run('environments', 'compare', name);
    await remote.ok('POST', `/fields/${both.collection}`, { field: 'pages', type: 'integer' });
    const folder = await mkdtemp(join(tmpdir(), 'dps-environments-'));
    const file = join(folder, 'changes.json');
    const differing = await run('environments', 'compare', name, '--output', file);
    expect(differing).to.include({ code: 1, err: '' });
    expect(differing.out).to.contain('1 behind').and.to.contain(`+ field ${both.collection}.pages`);
    expect((await run('apply', file, '--yes')).code).to.equal(0);
    expect((await run('environments', 'compare', name)).out).not.to.contain('pages');
    expect((await run('environments')).out)
      .to.contain(name)
      .and.to.contain(there.url);
    const nothing = await run('environments', 'compare', name, '--output', file);
    expect(nothing.err).to.contain('There is no diff');
    expect((await run('environments', 'compare', 'missing')).err).to.contain('does not exist');
    await rm(folder, { recursive: true });
  });
});
