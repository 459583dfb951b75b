import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { createApi } from '../support/api.js';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { onlineOf } from '../support/online.js';
import { createDatabase } from '../support/postgres.js';
import { startService } from '../support/service.js';
import { tamper } from '../support/tamper.js';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

const TITLE = { field: 'title', type: 'string', interface: 'input', schema: {} };
const POLICY_REFUSED = { status: 422, code: 'POLICY_REFUSED' };

describe('the policy and online changes', () => {
  const { api, client, service } = withService({ consistent: true });
  const online = onlineOf({
    client: (...args) => client(...args),
    ok: (...args) => api.ok(...args),
    sql: (...args) => api.sql(...args),
  });

  afterEach(() => api.ok('PUT', '/policy', {}));

  it('require online above a row limit, and then apply it', async () => {
    await online.large('a1', [TITLE], `title = 'n' || i`);
    await api.ok('PUT', '/policy', { online_above_rows: 1_000 });
    const change = { schema: { is_unique: true } };
    const error = await api.refused(POLICY_REFUSED, 'PATCH', '/fields/a1/title', change);
    expect(error.extensions).to.deep.include({ finding: 'NOT_ONLINE', level: 'danger', place: 'a1.title' });
    expect(error.extensions['safer']).to.have.nested.property('request.path', '/fields/a1/title?online');
    const { id } = await online.open('PATCH', '/fields/a1/title', change);
    await online.ended(id, 'applied');
  });

  it('immediately apply changes that do not benefit from online', async () => {
    await api.ok('POST', '/collections', { collection: 'a2', schema: {}, fields: [TITLE] });
    await api.ok('PUT', '/policy', { online_above_rows: 0 });
    const change = { schema: { is_unique: true } };
    await api.refused(POLICY_REFUSED, 'PATCH', '/fields/a2/title', change);
    const diff = await online.diff(({ fields }) => {
      const field = fields.find((each) => each.collection === 'a2' && each.field === 'title');
      Object.assign(field?.schema ?? {}, { is_unique: true });
    });
    type Plan = { warnings: { code: string; action: string }[] };
    const actions = async (mode: string) =>
      (await api.ok<Plan>('POST', `/schema/apply?dry_run${mode}`, diff)).warnings.map(
        ({ code, action }) => `${code} ${action}`,
      );
    expect(await actions('')).to.include('NOT_ONLINE refuse');
    expect(await actions('&online')).not.to.include('NOT_ONLINE refuse');
    await api.ok('PATCH', '/fields/a2/title?online', change);
  });

  it('evaluate a change when it is requested, before a request is opened', async () => {
    await online.large('a3', [TITLE], `title = 'n' || i`);
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
    await api.refused(POLICY_REFUSED, 'DELETE', '/fields/a3/title?online');
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    await api.refused(POLICY_REFUSED, 'DELETE', '/fields/a3/title?online');
    const { data } = await api.ok<{ data: { collections: string[] }[] }>('GET', '/changes?collection=a3');
    expect(data).to.deep.equal([]);
  });

  it('use the acknowledgements of the request when it is applied, and record them', async () => {
    await online.large('a4', [TITLE], `title = 'n' || i`);
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'acknowledge' } });
    const response = await client('/fields/a4/title?online', {
      method: 'DELETE',
      headers: { 'x-acknowledge': 'LOSES_DATA:a4.title' },
    });
    expect(response.status, response.text).to.equal(202);
    await online.ended((response.json as { data: { id: string } }).data.id, 'applied');
    const { data } = await api.ok<{ data: { context: object }[] }>(
      'GET',
      '/history/events?type=field.deleted&collection=a4',
    );
    expect(data[0]?.context).to.deep.include({ acknowledged: [{ code: 'LOSES_DATA', place: 'a4.title' }] });
  });

  it('use a policy that changed in between: the request fails and leaves nothing', async () => {
    await online.large('a5', [TITLE], `title = 'n' || i`);
    const blocking = new pg.Client(service.databaseUrl);
    await blocking.connect();
    try {
      await blocking.query('BEGIN');
      await blocking.query('SELECT 1 FROM a5 LIMIT 1');
      const { id } = await online.open('DELETE', '/fields/a5/title');
      await until('it is prepared, or waits for the reader', async () => {
        const { state, waiting_for } = await online.retrieve(id);
        return state === 'prepared' || waiting_for.length > 0;
      });
      await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
      await blocking.query('ROLLBACK');
      const failed = await online.ended(id, 'failed');
      expect(failed.errors?.[0]?.extensions).to.deep.include({ code: 'POLICY_REFUSED', finding: 'LOSES_DATA' });
      expect(await online.leftBehind()).to.deep.equal([]);
    } finally {
      await blocking.end();
    }
  });
});

describe('the policy of two processes on one database', () => {
  it('is the most recently set one, on either process', async () => {
    const database = await createDatabase('migrated');
    const services = await Promise.all([1, 2].map(() => startService({ DATABASE_URL: database.connectionString })));
    const [one, other] = services.map(createApi);
    try {
      if (one === undefined || other === undefined) throw new Error('two were started');
      for (let round = 0; round < 8; round++) {
        const [setter, changer] = round % 2 === 0 ? [one, other] : [other, one];
        await changer.ok('POST', '/collections', { collection: `c${round}`, schema: {}, fields: [TITLE] });
        await setter.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
        // No read in between could have informed the other process.
        await changer.refused(POLICY_REFUSED, 'DELETE', `/collections/c${round}`);
        await setter.ok('PUT', '/policy', {});
        await changer.ok('DELETE', `/collections/c${round}`);
      }
    } finally {
      await Promise.all([one, other].map(async (api) => api?.stop()));
      await Promise.all(services.map((service) => service.stop()));
      await database.drop();
    }
  });

  it('applies before or after a concurrent change, in log order', async () => {
    const database = await createDatabase('migrated');
    const services = await Promise.all([1, 2].map(() => startService({ DATABASE_URL: database.connectionString })));
    const [one, other] = services.map(createApi);
    try {
      if (one === undefined || other === undefined) throw new Error('two were started');
      for (let round = 0; round < 10; round++) {
        await one.ok('PUT', '/policy', {});
        await one.ok('POST', '/collections', { collection: `d${round}`, schema: {}, fields: [TITLE] });
        const [set, deleted] = await Promise.all([
          one.client('/policy', json({ findings: { LOSES_DATA: 'refuse' } }, 'PUT')),
          other.client(`/collections/d${round}`, { method: 'DELETE' }),
        ]);
        expect(set.status).to.equal(200);
        const order = await one.sql<{ type: string }>(
          `SELECT type FROM service.service_events WHERE type IN ('policy.updated', 'collection.deleted') ORDER BY position DESC LIMIT 2`,
        );
        // Rejected: the policy came first. Applied: it came later.
        if (deleted.status === 422) expect(order[0]?.type).to.equal('policy.updated');
        else
          expect([deleted.status, ...order.map(({ type }) => type)]).to.deep.equal([
            204,
            'policy.updated',
            'collection.deleted',
          ]);
      }
    } finally {
      await Promise.all([one, other].map(async (api) => api?.stop()));
      await Promise.all(services.map((service) => service.stop()));
      await database.drop();
    }
  });
});

describe('the policy in a copied log', () => {
  const { api, service, client } = withService();

  it('is copied, and rejects nothing that was accepted before', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'policy-'));
    const [database, again] = [await createDatabase('empty'), await createDatabase('empty')];
    try {
      await api.ok('POST', '/collections', { collection: 'articles', schema: {}, fields: [TITLE] });
      const policy = { findings: { LOSES_DATA: 'acknowledge', RESERVED_NAME: 'refuse' }, approvals: 3 };
      await api.ok('PUT', '/policy', policy);
      const deleted = await client('/fields/articles/title', {
        method: 'DELETE',
        headers: { 'x-acknowledge': 'LOSES_DATA:articles.title' },
      });
      expect(deleted.status, deleted.text).to.equal(204);
      const file = join(directory, 'log.ndjson');
      await writeFile(file, (await client('/history/export')).text);
      const restored = await dps(['restore', '--file', file], { DATABASE_URL: database.connectionString });
      expect(restored.code, restored.err).to.equal(0);
      const there = await startService({ DATABASE_URL: database.connectionString });
      const other = createApi(there);
      try {
        const { data } = await other.ok<{ data: object }>('GET', '/policy');
        expect(data).to.deep.include(policy);
        expect(await other.ok('GET', '/history/verify')).to.have.nested.property('data.ok', true);
        const order = { collection: 'order', schema: {}, fields: [TITLE] };
        await other.refused(POLICY_REFUSED, 'POST', '/collections', order);
      } finally {
        await other.stop();
        await there.stop();
      }
      // Event by event, including everything rejected before or after.
      const replayed = await dps(['rebuild', 'tables', '--into', again.connectionString], {
        DATABASE_URL: service.databaseUrl,
      });
      expect(replayed.code, replayed.out + replayed.err).to.equal(0);
    } finally {
      await rm(directory, { recursive: true });
      await database.drop();
      await again.drop();
    }
  });

  it('is checked by verification if it was changed by hand', async () => {
    expect(await api.ok('GET', '/history/verify')).to.have.nested.property('data.ok', true);
    await tamper(service.databaseUrl, (db) =>
      db.query(
        `UPDATE service.service_events SET data = jsonb_set(data, '{policy,findings}', '{}') WHERE type = 'policy.updated'`,
      ),
    );
    const { data } = await api.ok<{ data: { ok: boolean; problem?: { position: number } } }>('GET', '/history/verify');
    expect(data.ok).to.equal(false);
  });
});
