import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Client, type Reply, clientOf, json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { type TestService, startService } from '../support/service.js';
import { type Cluster, type Server, startCluster } from '../support/standby.js';
import { until } from '../support/until.js';

const PRIMARY_URL = 'https://primary.example.com';

describe('a service that reads from a standby', () => {
  let cluster: Cluster;
  let standby: Server;
  let writer: TestService;
  let reader: TestService;
  /** Another service on the standby, which does not wait long for a position. */
  let impatient: TestService;
  let write: Client;
  let read: Client;
  let readNow: Client;

  before(async () => {
    cluster = await startCluster();
    writer = await startService({ DATABASE_URL: cluster.primary.connectionString });
    standby = await cluster.addStandby();
    const settings = { DATABASE_URL: standby.connectionString, PRIMARY_URL };
    reader = await startService({ ...settings, POSITION_TIMEOUT: '15s' });
    impatient = await startService({ ...settings, POSITION_TIMEOUT: '700ms' });
    [write, read, readNow] = [clientOf(writer), clientOf(reader), clientOf(impatient)];
  });

  after(async () => {
    await reader?.stop();
    await impatient?.stop();
    await writer?.stop();
    await cluster?.stop();
  });

  const create = async (collection: string): Promise<string> => {
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const reply = await write('/collections', json({ collection, schema: {}, fields }));
    expect(reply.status, reply.text).to.equal(200);
    return reply.headers.get('x-log-position') ?? '';
  };
  const atLeast = (place: string, path = '/collections'): Promise<Reply> =>
    read(path, { headers: { 'x-log-position-at-least': place } });
  const lagOf = ({ headers }: Reply): number => Number(headers.get('x-log-lag') ?? Number.NaN);

  it('waits for the requested position of the primary, and reports its possible age', async () => {
    for (let number = 1; number <= 5; number += 1) {
      const position = await create(`written_${number}`);
      const reply = await atLeast(position, `/collections/written_${number}`);
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.headers.get('x-log-position')).to.equal(position);
      expect(lagOf(reply)).to.be.at.least(0);
    }
    await until('it has caught up', async () => lagOf(await read('/collections')) === 0);
    expect((await write('/collections')).headers.get('x-log-lag')).to.equal(null);
  });

  it('returns the same responses as the primary', async () => {
    const position = await create('same');
    await until('the projections have caught up', async () => {
      const { data } = (await atLeast(position, '/projections')).json as { data: { lag: number }[] };
      return data.every(({ lag }) => lag === 0);
    });
    const paths = [
      '/collections',
      '/collections/same',
      '/fields',
      '/fields/same',
      '/fields/same/title',
      '/relations',
      '/relations/same',
      '/schema/snapshot',
      '/schema/snapshot?export=yaml',
      '/history/events',
      '/history/events/1',
      '/history/batches',
      '/history/collections/same',
      '/history/snapshot?at=2',
      '/history/snapshot?at=2&export=sql',
      '/history/diff?from=1&to=now',
      '/history/export',
      '/history/verify',
      '/users',
      '/users/me',
      '/projections',
    ];
    for (const path of paths) {
      const [here, there] = [await atLeast(position, path), await write(path)];
      expect(here.status, `${path}: ${here.text}`).to.equal(200);
      // The members of a diff are ordered as the process first saw them.
      if (path.startsWith('/history/diff')) expect(here.json, path).to.deep.equal(there.json);
      else expect(here.text, path).to.equal(there.text);
    }
    for (const path of ['/metrics', '/server/info', '/server/health', '/server/ping', '/server/openapi.json', '/']) {
      expect((await read(path)).status, path).to.be.oneOf([200, 302, 404]);
    }
  });

  it('compares a snapshot, because that POST only reads', async () => {
    const { text } = await read('/schema/snapshot');
    const reply = await read('/schema/diff', { ...json(undefined), body: text });
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.json).to.have.nested.property('diff.collections').that.deep.equals([]);
  });

  it('streams new events of the log', async () => {
    const ended = new AbortController();
    const answer = await fetch(`${reader.url}/history/stream`, {
      headers: { authorization: `Bearer ${reader.adminToken}` },
      signal: ended.signal,
    });
    const position = await create('streamed');
    let text = '';
    for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString();
      if (text.includes(`id: ${position}-`)) break;
    }
    ended.abort();
    expect(text).to.contain('"collection":"streamed"');
  });

  it('rejects writes and locks, and names the primary', async () => {
    const email = { email: reader.adminEmail, password: reader.adminPassword };
    const requests: [string, string, unknown?][] = [
      ['POST', '/collections', { collection: 'x', schema: {} }],
      ['PATCH', '/collections/same', { meta: { note: 'x' } }],
      ['DELETE', '/collections/same'],
      ['POST', '/schema/apply', {}],
      ['POST', '/schema/apply?dry_run', {}],
      ['POST', '/schema/drift/accept?dry_run', {}],
      ['GET', '/schema/drift'],
      ['GET', '/projections/verify'],
      ['POST', '/projections/metadata/rebuild'],
      ['POST', '/history/acknowledge'],
      ['POST', '/users', { email: 'ada@example.com', role: 'reader' }],
      ['POST', '/auth/login', email],
      ['POST', '/auth/refresh', { refresh_token: 'x' }],
      ['POST', '/auth/logout', { refresh_token: 'x' }],
    ];
    for (const [method, path, body] of requests) {
      const reply = await read(path, body === undefined ? { method } : json(body, method));
      expect([reply.status, reply.codes], `${method} ${path}: ${reply.text}`).to.deep.equal([503, ['READ_ONLY']]);
      expect(reply.json).to.have.nested.property('errors[0].extensions.primary', PRIMARY_URL);
      expect(reply.headers.get('retry-after')).to.equal('5');
    }
    expect((await read('/collections', { ...json({}), token: 'unknown' })).status).to.equal(401);
  });

  it('accepts a new token and rejects a revoked one as soon as the change has arrived', async () => {
    const { data: user } = (
      await write('/users', json({ email: 'grace@example.com', role: 'auditor', password: 'correct horse battery' }))
    ).json as { data: { id: string } };
    const build = (await write(`/users/${user.id}/tokens`, json({ name: 'one' }))).json as {
      data: { id: string; token: string };
    };
    const position = await create('after_token');
    const headers = { 'x-log-position-at-least': position };
    expect((await read('/history/events', { token: build.data.token, headers })).status).to.equal(200);
    await write(`/users/${user.id}/tokens/${build.data.id}`, { method: 'DELETE' });
    const revoked = await create('after_revocation');
    const reply = await read('/history/events', {
      token: build.data.token,
      headers: { 'x-log-position-at-least': revoked },
    });
    expect(reply.status).to.equal(401);
  });

  it('accepts a session that began on the primary', async () => {
    const login = await write('/auth/login', json({ email: writer.adminEmail, password: writer.adminPassword }));
    const { data } = login.json as { data: { access_token: string } };
    const headers = { 'x-log-position-at-least': await create('after_login') };
    expect((await read('/collections', { token: data.access_token, headers })).status).to.equal(200);
  });

  it('waits for a position for a limited time on every process, and only for known callers', async () => {
    for (const [send, limit] of [
      [readNow, 700],
      [write, 5_000],
    ] as const) {
      const started = performance.now();
      const reply = await send('/collections', { headers: { 'x-log-position-at-least': '999999' } });
      expect([reply.status, reply.codes], reply.text).to.deep.equal([503, ['UNAVAILABLE']]);
      expect(reply.headers.get('retry-after')).to.match(/^\d+$/);
      expect(reply.text).to.contain('did not reach position 999999');
      expect(performance.now() - started).to.be.at.least(limit - 20);
    }
    const diff = { ...json({}), headers: { ...json({}).headers, 'x-log-position-at-least': '999999' } };
    expect((await readNow('/schema/diff', diff)).text).to.contain('did not reach position 999999');
    const first = await Promise.race([
      write('/collections', { headers: { 'x-log-position-at-least': '999999' } }),
      write('/collections', { headers: { 'x-log-position-at-least': '999999' }, token: 'unknown' }),
    ]);
    expect(first.status).to.equal(401);
  });

  it('does not make requests without a token wait', async () => {
    for (const send of [read, write])
      for (const headers of [{}, { authorization: 'Basic eDp5' }] as Record<string, string>[]) {
        const request = { token: null, headers: { ...headers, 'x-log-position-at-least': '999999' } };
        // The other request waits for the position.
        const waiting = send('/collections', { headers: { 'x-log-position-at-least': '999999' } });
        const reply = await Promise.race([waiting, send('/collections', request)]);
        expect(reply.status, reply.text).to.equal(401);
      }
    const unknown = await readNow('/collections', {
      token: 'unknown',
      headers: { 'x-log-position-at-least': '999999' },
    });
    expect([unknown.status, unknown.text.includes('ends at')], unknown.text).to.deep.equal([503, false]);
  });

  it('checks the hash of a position, and reports another log', async () => {
    const position = await create('hashed');
    const { data } = (await write(`/history/events/${position}`)).json as { data: { hash: string } };
    for (const place of [`${position}-${data.hash}`, `${position}-${data.hash.slice(0, 12)}`]) {
      expect((await atLeast(place)).status, place).to.equal(200);
    }
    const other = await atLeast(`${position}-0123456789abcdef`);
    expect([other.status, other.codes]).to.deep.equal([409, ['DIVERGED']]);
    for (const wrong of ['', 'x', '-1', '42-', '42-xyz', '1e3', '9'.repeat(20)]) {
      expect((await atLeast(wrong)).status, wrong).to.equal(400);
    }
  });

  it('reports its age while replay is paused, waits, and continues', async () => {
    await until('it has caught up', async () => lagOf(await read('/collections')) === 0);
    await standby.pause();
    const position = await create('while_paused');
    await sleep(1_200);
    const paused = await read('/collections/while_paused');
    expect(paused.status).to.equal(404);
    expect(lagOf(paused)).to.be.at.least(1);
    expect((await readNow('/collections', { headers: { 'x-log-position-at-least': position } })).status).to.equal(503);
    expect(lagOf(await read('/collections'))).to.be.greaterThan(1.7);
    const waiting = atLeast(position, '/collections/while_paused');
    await sleep(100);
    await standby.resume();
    const reply = await waiting;
    expect([reply.status, reply.headers.get('x-log-position')]).to.deep.equal([200, position]);
    await until('it has caught up', async () => lagOf(await read('/collections')) === 0);
  });

  it('shows its role and lag in metrics and health', async () => {
    const metrics = (await read('/metrics')).text;
    expect(metrics).to.match(/^dps_standby 1$/m);
    expect(metrics).to.match(/^dps_log_lag_seconds [\d.]+$/m);
    expect((await write('/metrics')).text).to.match(/^dps_standby 0$/m);
    for (const path of ['/server/live', '/server/ready', '/server/health'])
      expect((await read(path, { token: null })).status).to.equal(200);
  });

  it('reports lag, paused replay and read-only mode through dps', async () => {
    const environment = { DATABASE_URL: standby.connectionString, DPS_URL: reader.url, DPS_TOKEN: reader.adminToken };
    const run = (...args: string[]) => dps(args, environment);
    const status = await run('status');
    expect([status.code, status.err]).to.deep.equal([0, '']);
    expect(status.out).to.match(/^standby {3}at most [\d.]+ s behind its primary$/m);
    expect(JSON.parse((await run('status', '--json')).out)).to.have.nested.property('database.standby', true);
    const healthy = await run('doctor');
    expect(healthy.code, healthy.out).to.equal(0);
    expect(healthy.out)
      .to.match(/^ok +standby follows its primary$/m)
      .and.match(/^skipped +notifications$/m);
    await standby.pause();
    const paused = await run('doctor');
    await standby.resume();
    expect(paused.out).to.contain('REPLAY_PAUSED');
    let refused = paused;
    // On a busy machine, the standby may answer too late.
    await until('the standby answers', async () => {
      refused = await run('users', 'add', 'x@example.com', '--role', 'reader');
      return !refused.err.includes('is not reachable');
    });
    expect(refused.code).to.equal(2);
    expect(refused.err).to.match(/^The database is read-only: .+ Send the change to the primary\.$/m);
    expect((await run('verify')).code).to.equal(0);
    const applied = await dps(['apply', '-', '--yes'], environment, {
      stdin: (await read('/schema/snapshot')).text,
    });
    expect(applied.code, applied.err).to.equal(0);
  });

  it('has written nothing and tried nothing that PostgreSQL rejects', async () => {
    expect(reader.log()).not.to.match(/"level":"(?:warn|error)"/);
    expect(reader.log()).not.to.match(/read-only transaction|during recovery/);
  });
});
