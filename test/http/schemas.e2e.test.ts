import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { indexesBuilt } from '../support/api.js';
import { catalogText } from '../support/catalog-text.js';
import { expectConsistent } from '../support/consistent.js';
import { dps } from '../support/dps.js';
import { createDatabase } from '../support/postgres.js';
import { startService } from '../support/service.js';
import { withService } from '../support/with-service.js';

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const KEY = plain('id', 'integer', { is_primary_key: true, has_auto_increment: true });

async function withPg<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

interface Shown {
  data: { collection: string; schema: { name: string; schema?: string; sql: string } };
}

describe('collections in several schemas', () => {
  const { api, service } = withService({ each: true, consistent: true, settings: { DB_SCHEMAS: 'public,billing' } });

  const invoices = { collection: 'billing.invoices', schema: { schema: 'billing' }, fields: [KEY] };
  const tables = () =>
    api.sql<{ t: string }>(
      `SELECT schemaname || '.' || tablename AS t FROM pg_tables WHERE schemaname IN ('public', 'billing') ORDER BY 1`,
    );
  const tableNames = async () => (await tables()).map(({ t }) => t);

  it('creates the schema at the start, and a table in it with the names of that table', async () => {
    const { data } = await api.ok<Shown>('POST', '/collections', {
      ...invoices,
      fields: [KEY, plain('number', 'string', { is_unique: true }), plain('total', 'decimal', { is_indexed: true })],
    });
    expect(data.schema).to.include({ schema: 'billing', name: 'invoices' });
    expect(data.schema.sql).to.match(/^CREATE TABLE "billing"."invoices"/);
    expect(await tableNames()).to.deep.equal(['billing.invoices']);
    const names = await api.sql<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = 'billing'::regnamespace ORDER BY 1`,
    );
    expect(names.map(({ relname }) => relname)).to.include.members(['invoices_id_seq', 'invoices_pkey']);
  });

  it('names a collection after its table unless the request names it otherwise', async () => {
    const { collection: _, ...unnamed } = invoices;
    const named = { ...unnamed, schema: { schema: 'billing', name: 'payments' } };
    expect((await api.ok<Shown>('POST', '/collections', named)).data.collection).to.equal('billing.payments');
    const other = { collection: 'refunds', schema: { schema: 'billing', name: 'returned' }, fields: [KEY] };
    expect((await api.ok<Shown>('POST', '/collections', other)).data.schema.name).to.equal('returned');
    expect(await tableNames()).to.deep.equal(['billing.payments', 'billing.returned']);
  });

  it('can have the same table name in both schemas, with separate rows, indexes and sequences', async () => {
    const fields = [KEY, plain('total', 'integer', { is_indexed: true, is_unique: true })];
    await api.ok('POST', '/collections', { ...invoices, fields });
    await api.ok('POST', '/collections', { collection: 'invoices', schema: {}, fields });
    await api.ok('PATCH', '/fields/billing.invoices/total', { schema: { is_indexed: false } });
    await api.ok('PATCH', '/fields/invoices/total', { type: 'bigInteger' });
    await api.sql('INSERT INTO billing.invoices (total) VALUES (1); INSERT INTO public.invoices (total) VALUES (2)');
    await api.ok('DELETE', '/collections/billing.invoices');
    await api.ok('DELETE', '/collections/invoices');
    expect(await tableNames()).to.deep.equal([]);
    const { data } = await api.ok<{ data: { position: number; collection: string }[] }>('GET', '/trash');
    expect(data.map(({ collection }) => collection).sort()).to.deep.equal(['billing.invoices', 'invoices']);
    for (const { position } of data) await api.ok('POST', `/trash/${position}/restore`);
    expect(await api.sql('SELECT total FROM billing.invoices UNION ALL SELECT total::int FROM invoices')).to.deep.equal(
      [{ total: 1 }, { total: 2 }],
    );
  });

  it('deletes tables of one name in both schemas in one change, and restores both', async () => {
    await api.ok('POST', '/collections', invoices);
    await api.ok('POST', '/collections', { collection: 'invoices', schema: {}, fields: [KEY] });
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    const empty = { ...snapshot, collections: [], fields: [], relations: [] };
    await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', empty));
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    for (const { position } of data) await api.ok('POST', `/trash/${position}/restore`);
    expect(await tableNames()).to.deep.equal(['billing.invoices', 'public.invoices']);
  });

  it('rejects a second collection for a table, and a name that exists, with ALREADY_EXISTS', async () => {
    await api.ok('POST', '/collections', invoices);
    const second = { collection: 'bills', schema: { schema: 'billing', name: 'invoices' }, fields: [KEY] };
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections', second);
    const dotted = { collection: 'billing.invoices', schema: {}, fields: [KEY] };
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections', dotted);
    const unmanaged = { collection: 'x', schema: { schema: 'elsewhere' }, fields: [KEY] };
    const wrong = { status: 400, code: 'INVALID_PAYLOAD', at: 'schema.schema' };
    const { message } = await api.refused(wrong, 'POST', '/collections', unmanaged);
    expect(message).to.match(/"public" or "billing".*DB_SCHEMAS/);
    await api.sql('CREATE TABLE billing.taken (id int)');
    const taken = { collection: 'billing.taken', schema: { schema: 'billing' }, fields: [KEY] };
    await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections', taken);
    await api.sql('DROP TABLE billing.taken');
  });

  it('names the default schema in requests, and never in answers', async () => {
    const { data } = await api.ok<Shown>('POST', '/collections', { collection: 'a', schema: { schema: 'public' } });
    expect(data.schema).not.to.have.property('schema');
  });

  it('shows what PostgreSQL knows about each table, without the foreign keys of managed tables', async () => {
    await api.ok('POST', '/collections', { ...invoices, fields: [KEY, plain('of', 'integer')] });
    await api.ok('POST', '/collections', { collection: 'invoices', schema: {}, fields: [KEY] });
    const relation = { collection: 'billing.invoices', field: 'of', related_collection: 'invoices', schema: {} };
    await api.ok('POST', '/relations', relation);
    await api.sql('CREATE VIEW billing.numbers AS SELECT id FROM billing.invoices');
    await api.sql('CREATE TABLE billing.elsewhere (id int REFERENCES public.invoices)');
    type Table = { data: { constraints: { kind: string }[]; dependents: { kind: string; name: string }[] } };
    const billing = await api.ok<Table>('GET', '/collections/billing.invoices/table');
    expect(billing.data.constraints.map(({ kind }) => kind)).to.include.members(['primary key', 'foreign key']);
    expect(billing.data.dependents).to.deep.equal([{ kind: 'view', name: 'billing.numbers', by: 'catalog' }]);
    const { data } = await api.ok<Table>('GET', '/collections/invoices/table');
    expect(data.dependents.map(({ name }) => name)).to.deep.equal(['billing.elsewhere, elsewhere_id_fkey']);
    await api.sql('DROP VIEW billing.numbers');
    await api.sql('DROP TABLE billing.elsewhere');
  });

  it('can have relations across schemas in both directions', async () => {
    await api.ok('POST', '/collections', {
      collection: 'customers',
      schema: {},
      fields: [KEY, plain('last', 'integer')],
    });
    await api.ok('POST', '/collections', { ...invoices, fields: [KEY, plain('customer', 'integer')] });
    const relation = (collection: string, field: string, related: string) => ({
      collection,
      field,
      related_collection: related,
      schema: { on_delete: 'CASCADE' },
    });
    await api.ok('POST', '/relations', relation('billing.invoices', 'customer', 'customers'));
    await api.ok('POST', '/relations', relation('customers', 'last', 'billing.invoices'));
    const keys = await api.sql(`SELECT conrelid::regclass::text AS t, pg_get_constraintdef(oid) AS def
      FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text ~ 'customers|invoices' ORDER BY 1`);
    expect(keys).to.deep.equal([
      { t: 'billing.invoices', def: 'FOREIGN KEY (customer) REFERENCES customers(id) ON DELETE CASCADE' },
      { t: 'customers', def: 'FOREIGN KEY (last) REFERENCES billing.invoices(id) ON DELETE CASCADE' },
    ]);
    await expectConsistent(service.databaseUrl);
  });

  it('applies its own snapshot without a change, and a snapshot to an empty instance exactly', async () => {
    await api.ok('POST', '/collections', { collection: 'customers', schema: {} });
    await api.ok('POST', '/collections', {
      ...invoices,
      fields: [KEY, plain('customer', 'integer', { is_indexed: true })],
    });
    const relation = { collection: 'billing.invoices', field: 'customer', related_collection: 'customers', schema: {} };
    await api.ok('POST', '/relations', relation);
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    const texts = async () => {
      const client = { query: (text: string, values: unknown[]) => api.sql(text, values).then((rows) => ({ rows })) };
      return [...(await catalogText(client as never, 'billing')), ...(await catalogText(client as never, 'public'))];
    };
    const before = await texts();
    const same = await api.ok<{ diff: Record<string, unknown[]> }>('POST', '/schema/diff', snapshot);
    expect(Object.values(same.diff).flat()).to.deep.equal([]);
    await api.ok('DELETE', '/collections/billing.invoices?purge');
    await api.ok('DELETE', '/collections/customers?purge');
    await api.ok('POST', '/schema/apply', await api.ok<object>('POST', '/schema/diff', snapshot));
    expect(await texts()).to.deep.equal(before);
  });

  it('adopts tables of all schemas with their types, sequences and foreign keys', async () => {
    await api.sql(`CREATE TYPE billing.state AS ENUM ('open', 'paid');
      CREATE TABLE public.clients (id serial PRIMARY KEY, state billing.state);
      CREATE TABLE billing.bills (id serial PRIMARY KEY, client int REFERENCES public.clients, state billing.state DEFAULT 'open',
        CHECK (state <> 'paid'::billing.state OR client IS NOT NULL));
      CREATE TABLE billing.lines (bill int REFERENCES billing.bills, n int, PRIMARY KEY (bill, n));
      CREATE TABLE public.notes (bill int, n int, FOREIGN KEY (bill, n) REFERENCES billing.lines)`);
    const report = await api.ok<{ adopted: string[]; refused: unknown[]; not_represented: unknown[] }>(
      'POST',
      '/schema/adopt',
      { all: true },
    );
    expect(report.adopted.sort()).to.deep.equal(['billing.bills', 'billing.lines', 'clients', 'notes']);
    expect([report.refused, report.not_represented]).to.deep.equal([[], []]);
    const drift = await api.ok<{ ok: boolean; tables: unknown[] }>('GET', '/schema/drift');
    expect(drift).to.deep.include({ ok: true });
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    const same = await api.ok<{ diff: Record<string, unknown[]> }>('POST', '/schema/diff', snapshot);
    expect(Object.values(same.diff).flat()).to.deep.equal([]);
    await expectConsistent(service.databaseUrl);
  });

  it('finds, repairs and accepts drift in every schema', async () => {
    await api.ok('POST', '/collections', { ...invoices, fields: [KEY, plain('total', 'integer')] });
    await api.sql('ALTER TABLE billing.invoices ALTER total TYPE bigint; CREATE TABLE billing.other (id int)');
    const found = await api.ok<{
      tables: { table: string; differences: { repair: { database: { sql: string }[] } }[] }[];
      unmanaged: string[];
    }>('GET', '/schema/drift');
    expect(found.unmanaged).to.include('billing.other');
    expect(found.tables.map(({ table }) => table)).to.deep.equal(['billing.invoices']);
    expect(found.tables[0]?.differences[0]?.repair.database[0]?.sql).to.match(/ALTER TABLE "billing"."invoices"/);
    await api.ok('POST', '/schema/drift/accept', {});
    expect((await api.ok<{ ok: boolean }>('GET', '/schema/drift')).ok).to.equal(true);
    await api.sql('DROP TABLE billing.other');
  });

  it('keeps the schema and the name of a table in files, which another service accepts', async () => {
    await api.ok('POST', '/collections', {
      ...invoices,
      collection: 'named',
      schema: { schema: 'billing', name: 'other' },
    });
    const directory = await mkdtemp(join(tmpdir(), 'dps-files-'));
    const second = await startService({ DB_SCHEMAS: 'public,billing' });
    try {
      const at = (url: string) => ({ DPS_URL: url, DPS_TOKEN: service.adminToken });
      for (const [verb, url] of [
        ['pull', service.url],
        ['push', second.url],
      ] as const) {
        const { code, err } = await dps(
          [verb, directory, ...(verb === 'push' ? ['--yes', '--base', 'now'] : [])],
          at(url),
        );
        expect(code, err).to.equal(0);
      }
      const [there] = await withPg(
        second.databaseUrl,
        async (client) => (await client.query('TABLE billing.other')).fields,
      );
      expect(there?.name).to.equal('id');
      await expectConsistent(second.databaseUrl);
    } finally {
      await second.stop();
      await rm(directory, { recursive: true });
    }
  });

  it('rejects a name of more than 63 bytes, and deletes and restores a table with a shorter one', async () => {
    const longest = `billing.${'x'.repeat(55)}`;
    const at = { status: 400, code: 'INVALID_PAYLOAD', at: 'collection' };
    await api.refused(at, 'POST', '/collections', { ...invoices, collection: `${longest}x` });
    await api.ok('POST', '/collections', { ...invoices, collection: longest });
    await api.ok('DELETE', `/collections/${longest}`);
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash?limit=1');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`);
    expect(await tableNames()).to.include(longest);
  });
});

describe('the database of several schemas', () => {
  const SCHEMAS = { DB_SCHEMAS: 'public,billing' };
  const served = withService({ settings: SCHEMAS });
  const { api, service } = served;

  before(async () => {
    const fields = [KEY, plain('total', 'integer', { is_indexed: true }), plain('customer', 'integer')];
    await api.ok('POST', '/collections', { collection: 'customers', schema: {} });
    await api.ok('POST', '/collections?concurrentIndexCreation', {
      collection: 'billing.invoices',
      schema: { schema: 'billing' },
      fields,
    });
    await api.ok('POST', '/collections', { collection: 'invoices', schema: {}, fields });
    const relation = { collection: 'billing.invoices', field: 'customer', related_collection: 'customers', schema: {} };
    await api.ok('POST', '/relations', relation);
    await indexesBuilt(api);
    await api.sql(`INSERT INTO customers DEFAULT VALUES; INSERT INTO invoices (total) VALUES (7);
      INSERT INTO billing.invoices (total, customer) VALUES (1, 1), (2, 1)`);
  });

  const inEmptyDatabase = async (work: (url: string) => Promise<void>): Promise<void> => {
    const database = await createDatabase('empty');
    try {
      await work(database.connectionString);
    } finally {
      await database.drop();
    }
  };

  it('is backed up with verification, and restored with rows and sequences', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dps-schemas-'));
    try {
      const file = join(folder, 'backup');
      const taken = await dps(['backup', file, '--verify'], { ...SCHEMAS, DATABASE_URL: service.databaseUrl });
      expect(taken.code, taken.err).to.equal(0);
      await inEmptyDatabase(async (url) => {
        const missing = await dps(['restore', '--backup', file], { DATABASE_URL: url });
        expect(missing.code).to.equal(2);
        expect(missing.err).to.contain('The schema "billing" is missing from DB_SCHEMAS');
      });
      await inEmptyDatabase(async (url) => {
        const restored = await dps(['restore', '--backup', file], { ...SCHEMAS, DATABASE_URL: url });
        expect(restored.code, restored.err).to.equal(0);
        const { rows } = await withPg(url, (client) =>
          client.query(`SELECT sum(total)::int AS total, nextval('billing.invoices_id_seq')::int AS next
            FROM billing.invoices`),
        );
        expect(rows[0]).to.include({ total: 3, next: 3 });
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is exported as SQL that creates the same catalog', async () => {
    const { text } = await served.client(`/history/snapshot?at=${await api.head()}&export=sql`);
    await inEmptyDatabase((url) =>
      withPg(url, async (client) => {
        await client.query(text);
        const original = (schema: string) => withPg(service.databaseUrl, (own) => catalogText(own, schema));
        for (const schema of ['public', 'billing'])
          expect(await catalogText(client, schema)).to.deep.equal(await original(schema));
      }),
    );
  });

  it('goes back to an earlier position with the rows of deleted tables', async () => {
    const before = await api.head();
    await api.ok('PATCH', '/fields/billing.invoices/total', { type: 'bigInteger' });
    await api.ok('POST', '/collections/billing.invoices/rename', { to: 'bills' });
    await api.ok('DELETE', '/collections/bills');
    const back = await api.ok<object>('GET', `/history/diff?to=${before}`);
    await api.ok('POST', '/schema/apply', back);
    await expectConsistent(service.databaseUrl);
    const left = await api.ok<{ diff: Record<string, unknown[]> }>('GET', `/history/diff?to=${before}`);
    expect(Object.values(left.diff).flat()).to.deep.equal([]);
    expect(await api.sql('SELECT sum(total)::int AS total FROM billing.invoices')).to.deep.equal([{ total: 3 }]);
  });

  it('fails to start without a schema of the log, or with another default, and names the setting', async () => {
    const url = service.databaseUrl;
    const refused = (settings: Record<string, string>) =>
      startService({ DATABASE_URL: url, ...settings }).then(
        async (started) => {
          await started.stop();
          return 'started';
        },
        (error: unknown) => String(error),
      );
    expect(await refused({})).to.match(/"billing" is missing from DB_SCHEMAS.*"billing.invoices"/);
    expect(await refused({ DB_SCHEMAS: 'billing,public' })).to.match(/is the default schema.*DB_SCHEMAS/);
  });
});
