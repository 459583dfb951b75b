import { expect } from 'chai';
import pg from 'pg';
import { advisoryKey } from '../../../src/postgres/locked-session.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';
import { type Reply, json } from '../../support/client.js';

interface Projection {
  name: string;
  kind: string;
  position: number;
  lag: number;
  status: string;
  last_error: Record<string, unknown> | null;
  updated_at: string | null;
  rebuilding: object | null;
}

describe('/projections and /metrics', () => {
  let pool: pg.Pool;
  let auditor: string;

  const { service, client } = withService({ atEnd: () => pool.end() });
  before(async () => {
    pool = new pg.Pool({ connectionString: service.databaseUrl, max: 2 });
  });

  async function tokenOf(role: string): Promise<string> {
    const user = await client('/users', json({ email: `${role}@example.com`, name: role, role }));
    const { id } = (user.json as { data: { id: string } }).data;
    const created = await client(`/users/${id}/tokens`, json({ name: 'test' }));
    return (created.json as { data: { token: string } }).data.token;
  }

  const list = async (): Promise<Projection[]> => ((await client('/projections')).json as { data: Projection[] }).data;
  const rebuild = (name: string): Promise<Reply> => client(`/projections/${name}/rebuild`, { method: 'POST' });
  const dataOf = (reply: Reply): Record<string, unknown> => (reply.json as { data: Record<string, unknown> }).data;

  it('list the projections before the first event, and follow', async () => {
    const before = await list();
    expect(before.map(({ name, kind, position }) => [name, kind, position])).to.deep.equal([
      ['tables', 'transactional', 0],
      ['metadata', 'transactional', 0],
      ['trash', 'transactional', 0],
      ['change-requests', 'transactional', 0],
      ['indexes', 'after-commit', 0],
    ]);
    await client('/collections', json({ collection: 'articles', schema: {} }));
    await until('the builder of indexes has passed it', async () => (await list()).every(({ lag }) => lag === 0));
    for (const projection of await list()) {
      expect(projection).to.include({ position: 1, status: 'running', last_error: null });
      expect(Date.parse(projection.updated_at ?? '')).to.be.closeTo(Date.now(), 60_000);
    }
    auditor = await tokenOf('auditor');
  });

  it('are available to auditors, and rebuilds to admins', async () => {
    const reader = await tokenOf('reader');
    for (const path of ['/projections', '/projections/verify', '/metrics']) {
      expect((await client(path, { token: auditor })).status, path).to.equal(200);
      expect((await client(path, { token: reader })).status, path).to.equal(403);
      expect((await client(path, { token: null })).status, path).to.equal(401);
    }
    expect((await client('/projections/metadata/rebuild', { method: 'POST', token: auditor })).status).to.equal(403);
  });

  it('list differences between fold, rows and catalog, and a rebuild fixes the rows', async () => {
    expect(dataOf(await client('/projections/verify'))).to.include({ ok: true });
    await pool.query(`update service.service_collections set meta = meta || '{"note": "forged"}'`);
    await pool.query('alter table articles add column secret text');
    const { ok, differences } = dataOf(await client('/projections/verify'));
    expect(ok).to.equal(false);
    expect(differences).to.deep.equal([
      { where: 'metadata', collection: 'articles', member: 'meta.note', expected: null, found: 'forged' },
      { where: 'catalog', collection: 'articles', field: 'secret', member: 'column', expected: null, found: 'text' },
    ]);
    const rebuilt = await rebuild('metadata');
    expect(rebuilt.status, rebuilt.text).to.equal(200);
    expect(Number(rebuilt.headers.get('x-log-position'))).to.equal((await list())[0]?.position);
    expect(dataOf(rebuilt)).to.include({
      name: 'metadata',
      position: Number(rebuilt.headers.get('x-log-position')),
      replaced: 1,
      collections: 1,
      fields: 1,
    });
    expect((await list()).map(({ rebuilding }) => rebuilding)).to.deep.equal([null, null, null, null, null]);
    expect((dataOf(await client('/projections/verify'))['differences'] as unknown[]).length).to.equal(1);
    await pool.query('comment on table articles is $$forged$$');
    const mended = dataOf(await rebuild('tables'));
    expect(mended).to.deep.equal({
      name: 'tables',
      position: Number(rebuilt.headers.get('x-log-position')),
      made: ['comment on table articles'],
      left: [{ statement: 'drop column articles.secret', reason: 'it drops an object or may lose values' }],
      differences: [
        { where: 'catalog', collection: 'articles', field: 'secret', member: 'column', expected: null, found: 'text' },
      ],
    });
    await pool.query('alter table articles drop column secret');
    expect(dataOf(await client('/projections/verify'))).to.include({ ok: true });
  });

  it('reject unknown projections and a second rebuild', async () => {
    expect((await rebuild('nothing')).codes).to.deep.equal(['NOT_FOUND']);
    expect((await rebuild('constructor')).codes).to.deep.equal(['NOT_FOUND']);
    expect((await client('/projections/metadata/rebuild')).status).to.equal(405);
    // The first one waits for the log's lock, so that it cannot end before the others begin.
    const holder = await pool.connect();
    const location = { database: new URL(service.databaseUrl).pathname.slice(1), schema: 'public' };
    await holder.query('SELECT pg_advisory_lock($1)', [advisoryKey(location, 'log')]);
    const replies: Reply[] = [];
    const all = [1, 2, 3].map(async () => void replies.push(await rebuild('metadata')));
    try {
      await until('two are rejected', () => replies.length === 2);
    } finally {
      holder.release(true);
    }
    await Promise.all(all);
    expect(replies.map(({ status, codes }) => [status, ...codes])).to.deep.equal([
      [409, 'IN_USE'],
      [409, 'IN_USE'],
      [200],
    ]);
  });

  it('report a failed projection, keep serving, and resume it on request', async () => {
    const body = { field: 'body', type: 'text', schema: {}, meta: { interface: 'input' } };
    await client('/collections', json({ collection: 'pages', schema: {}, fields: [body] }));
    // Random, so that it cannot be compressed: too large for a B-tree.
    const fill = `insert into pages (body) select string_agg(md5(random()::text), '') from generate_series(1, 1000)`;
    await pool.query(fill);
    const patch = await client(
      '/fields/pages/body?concurrentIndexCreation',
      json({ schema: { is_indexed: true } }, 'PATCH'),
    );
    const position = Number(patch.headers.get('x-log-position'));
    await until('the builder stops', async () => (await list()).some(({ status }) => status === 'failed'));
    expect((await rebuild('indexes')).codes).to.deep.equal(['DATABASE_REFUSED']);

    const stopped = (await list()).find(({ name }) => name === 'indexes');
    expect(stopped?.last_error).to.include({ position, collection: 'pages', field: 'body', sqlstate: '54000' });
    expect(stopped?.last_error?.['event']).to.include({ type: 'field.updated', actor: 'Admin' });
    expect(stopped?.last_error?.['next']).to.contain('/projections/indexes/rebuild');
    const health = await client('/server/health', { token: null });
    expect(health.status).to.equal(503);
    expect(health.text).to.contain(`indexes at event ${position} (SQLSTATE 54000)`).and.not.contain('pages');
    expect((await client('/server/ready', { token: null })).status).to.equal(503);
    expect((await client('/server/live', { token: null })).status).to.equal(200);
    const metrics = (await client('/metrics')).text;
    expect(metrics).to.contain('dps_projection_failed{projection="indexes"} 1');

    const served = await client('/collections', json({ collection: 'meanwhile', schema: {} }));
    expect(served.status).to.equal(200);
    await pool.query('truncate pages');
    const again = await rebuild('indexes');
    expect(again.status, again.text).to.equal(200);
    expect(dataOf(again)).to.include({ position: position + 1, lag: 0 });
    for (const path of ['/server/health', '/server/ready']) expect((await client(path)).status).to.equal(200);
    expect(dataOf(await client('/projections/verify'))).to.include({ ok: true });
  });

  describe('/metrics', () => {
    let text: string;

    before(async () => {
      await client('/collections', json({ collection: 'articles', schema: {} }));
      await client('/collections/articles');
      const reply = await client('/metrics');
      expect(reply.headers.get('content-type')).to.contain('text/plain; version=0.0.4');
      ({ text } = reply);
    });

    const value = (sample: string): number => {
      const line = text.split('\n').find((each) => each.startsWith(`${sample} `));
      if (line === undefined) throw new Error(`no ${sample} in\n${text}`);
      return Number(line.slice(sample.length));
    };

    it('counts requests by route template and status, with their duration', () => {
      const labels = 'method="GET",route="/collections/:id",status="200"';
      expect(value(`dps_http_request_duration_seconds_count{${labels}}`)).to.be.above(0);
      expect(value(`dps_http_request_duration_seconds_sum{${labels}}`)).to.be.above(0);
      expect(value(`dps_http_request_duration_seconds_bucket{le="30",${labels}}`)).to.be.above(0);
    });

    it('counts commands by outcome', () => {
      expect(value('dps_commands_total{command="create-collection",outcome="accepted",code=""}')).to.be.above(0);
      expect(
        value('dps_commands_total{command="create-collection",outcome="rejected",code="ALREADY_EXISTS"}'),
      ).to.equal(1);
      expect(value('dps_events_appended_total')).to.equal(value('dps_log_head_position'));
    });

    it('shows positions, sizes, the pool and the listener', () => {
      expect(value('dps_state_position')).to.equal(value('dps_log_head_position'));
      expect(value('dps_projection_lag_events{projection="metadata"}')).to.equal(0);
      expect(value('dps_state_objects{kind="collection"}')).to.equal(3);
      expect(value('dps_rendered_answers')).to.be.above(0);
      expect(value('dps_rendered_bytes')).to.be.above(0);
      expect(value('dps_database_pool_connections{state="idle"}')).to.be.above(0);
      expect(value('dps_database_pool_waiting_requests')).to.equal(0);
      expect(value('dps_listener_connected')).to.equal(1);
      expect(text).to.match(/^dps_info\{release="[^"]+",database_version="\d+[^"]*"\} 1$/m);
      expect(value('process_resident_memory_bytes')).to.be.above(0);
    });

    it('follows the naming conventions: every metric has help text, a unit, and the suffix total where it applies', () => {
      const names = [...text.matchAll(/^# TYPE (dps_\S+) (\S+)$/gm)].map(([, name = '', type = '']) => ({
        name,
        type,
      }));
      expect(names.length).to.be.above(10);
      for (const { name, type } of names) {
        expect(text).to.contain(`# HELP ${name} `);
        expect(name.endsWith('_total'), name).to.equal(type === 'counter');
        if (type === 'histogram') expect(name).to.match(/_seconds$/);
      }
    });
  });
});
