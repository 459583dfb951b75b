import { expect } from 'chai';
import pg from 'pg';
import { until } from '../support/until.js';
import { withService } from '../support/with-service.js';

interface Sample {
  data: { rows: Record<string, string | null>[] | null; hidden: string[] };
}

const field = (name: string, type: string, more: object = {}) => ({ field: name, type, interface: 'input', ...more });

describe('GET /collections/{id}/sample', () => {
  const { service, api, client } = withService({ settings: { DB_SCHEMAS: 'public,billing' } });
  const sample = (name: string) => api.ok<Sample>('GET', `/collections/${encodeURIComponent(name)}/sample`);

  it('returns at most 20 rows as text, and hides hashed, concealed and binary values', async () => {
    const fields = [
      field('text "it"', 'text', { schema: {} }),
      field('day', 'date', { schema: {} }),
      field('data', 'json', { schema: {} }),
      field('password', 'hash', { schema: {} }),
      field('pin', 'string', { schema: {}, meta: { special: ['conceal'] } }),
      field('file', 'binary', { schema: {} }),
      field('alias', 'alias', { meta: { special: ['alias', 'no-data'] } }),
    ];
    await api.ok('POST', '/collections', { collection: 'people', schema: {}, fields });
    await api.sql(`INSERT INTO people ("text ""it""", day, data, password, pin, file)
      SELECT 'x', '2026-11-26', '{"a":1}', 'secret hash', '1234', 'bytes' FROM generate_series(1, 30)`);
    const { rows, hidden } = (await sample('people')).data;
    expect(hidden).to.have.members(['password', 'pin', 'file']);
    expect(rows).to.have.length(20);
    expect(rows?.[0]).to.deep.include({ 'text "it"': 'x', day: '2026-11-26', data: '{"a":1}' });
    expect(Object.keys(rows?.[0] ?? {})).to.have.members(['id', 'text "it"', 'day', 'data']);
    expect(JSON.stringify(rows)).not.to.match(/secret hash|1234/);
  });

  it('cuts long values, leaves out those above 64 KiB on disk, and shows null', async () => {
    const fields = [field('note', 'text', { schema: {} })];
    await api.ok('POST', '/collections', { collection: 'notes', schema: {}, fields });
    await api.sql(`ALTER TABLE notes ALTER note SET STORAGE EXTERNAL`);
    await api.sql(
      `INSERT INTO notes (note) VALUES (repeat('é', 500)), (repeat('é', 501)), (repeat('x', 70000)), (NULL)`,
    );
    const { rows } = (await sample('notes')).data;
    expect(rows?.map(({ note }) => note)).to.deep.equal(['é'.repeat(500), `${'é'.repeat(500)}…`, '…', null]);
  });

  it('reads a table in another schema, and an empty one', async () => {
    const invoices = { collection: 'billing.invoices', schema: { schema: 'billing' } };
    await api.ok('POST', '/collections', invoices);
    await api.sql('INSERT INTO billing.invoices DEFAULT VALUES');
    expect((await sample('billing.invoices')).data.rows).to.deep.equal([{ id: '1' }]);
    await api.sql('DELETE FROM billing.invoices');
    expect((await sample('billing.invoices')).data).to.deep.equal({ rows: [], hidden: [] });
  });

  it('calls no cast of another user', async () => {
    await api.sql(`CREATE TYPE mood AS ENUM ('fine')`);
    await api.sql(`CREATE FUNCTION shout(mood) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN ''FINE''; END'`);
    await api.sql('CREATE CAST (mood AS text) WITH FUNCTION shout(mood) AS ASSIGNMENT');
    await api.sql(`CREATE TABLE moods (mood mood PRIMARY KEY); INSERT INTO moods VALUES ('fine')`);
    await api.ok('POST', '/schema/adopt', { tables: ['moods'] });
    expect(await api.sql('SELECT mood::text FROM moods')).to.deep.equal([{ mood: 'FINE' }]);
    expect((await sample('moods')).data.rows).to.deep.equal([{ mood: 'fine' }]);
  });

  it('runs no row security policy, and shows no rows if a table forces a policy on the service', async () => {
    await api.ok('POST', '/collections', { collection: 'guarded', schema: {} });
    await api.sql('INSERT INTO guarded DEFAULT VALUES');
    await api.sql(`CREATE TABLE calls (at timestamptz DEFAULT now())`);
    await api.sql(`CREATE FUNCTION spy() RETURNS boolean LANGUAGE plpgsql AS
      'BEGIN INSERT INTO calls DEFAULT VALUES; RETURN true; END'`);
    await api.sql(`CREATE POLICY spying ON guarded USING (spy())`);
    await api.sql('ALTER TABLE guarded ENABLE ROW LEVEL SECURITY; ALTER TABLE guarded FORCE ROW LEVEL SECURITY');
    expect((await sample('guarded')).data).to.deep.equal({ rows: null, hidden: [] });
    expect(await api.sql('SELECT FROM calls')).to.deep.equal([]);
  });

  it('answers while another session has locked the table', async () => {
    await api.ok('POST', '/collections', { collection: 'locked', schema: {} });
    const holder = new pg.Client({ connectionString: service.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE locked IN ACCESS EXCLUSIVE MODE');
      expect((await sample('locked')).data).to.deep.equal({ rows: null, hidden: [] });
    } finally {
      await holder.end();
    }
    await until('the lock is released', async () => (await sample('locked')).data.rows?.length === 0);
  });

  it('is rejected for readers, folders and unknown collections', async () => {
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', {
      email: 'r@example.com',
      role: 'reader',
    });
    const token = (await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {})).data.token;
    expect((await client('/collections/people/sample', { token })).status).to.equal(403);
    await api.ok('POST', '/collections', { collection: 'folder', schema: null });
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'GET', '/collections/folder/sample');
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'GET', '/collections/nobody/sample');
    await api.refused({ status: 400, code: 'INVALID_QUERY' }, 'GET', '/collections/people/sample?limit=5');
  });
});

describe('sample rows with SAMPLES=off', () => {
  const { api } = withService({ settings: { SAMPLES: 'off' } });

  it('are rejected with FORBIDDEN', async () => {
    await api.ok('POST', '/collections', { collection: 'people', schema: {} });
    const off = { status: 403, code: 'FORBIDDEN' };
    const { message } = await api.refused(off, 'GET', '/collections/people/sample');
    expect(message).to.include('SAMPLES=off');
  });
});
