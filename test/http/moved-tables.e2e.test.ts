import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { indexesBuilt } from '../support/api.js';
import { catalogText } from '../support/catalog-text.js';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { createDatabase } from '../support/postgres.js';
import { withService } from '../support/with-service.js';

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const KEY = plain('id', 'integer', { is_primary_key: true, has_auto_increment: true });
const SCHEMAS = { DB_SCHEMAS: 'public,billing,archive' };
const TO_BILLING = { to: 'billing.invoices', schema: { schema: 'billing' } };

interface Document {
  collection: string;
  renamed_from?: string;
  meta: { note: string | null };
  schema: {
    name: string;
    schema?: string;
    comment: string | null;
    extras?: { constraints?: object[]; needs?: object[] };
  };
}

interface Snapshot {
  version: number;
  service: string;
  vendor: string;
  collections: Document[];
  fields: { collection: string; field: string }[];
  relations: object[];
  objects?: object[];
}

interface Diff {
  hash: string;
  diff: { collections: { collection: string; diff: object[] }[] };
  warnings?: { code: string; message: string }[];
}

describe('moving a table to another schema', () => {
  const served = withService({ each: true, consistent: true, settings: SCHEMAS });
  const { api, service } = served;

  const places = async () =>
    (
      await api.sql<{ place: string }>(`SELECT n.nspname || '.' || c.relname AS place
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname IN ('public', 'billing', 'archive') AND c.relkind IN ('r', 'p', 'i', 'I', 'S') ORDER BY 1`)
    ).map(({ place }) => place);
  const tables = async () =>
    (
      await api.sql<{ place: string }>(`SELECT schemaname || '.' || tablename AS place FROM pg_tables
       WHERE schemaname IN ('public', 'billing', 'archive') ORDER BY 1`)
    ).map(({ place }) => place);
  const rename = (collection: string, body: object, query = '') =>
    api.ok<{ data: { collection: string; schema: object }; warnings?: object[] }>(
      'POST',
      `/collections/${collection}/rename${query}`,
      body,
    );
  const snapshot = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const isSame = async (sent: object) => {
    const { diff } = await api.ok<{ diff: Record<string, unknown[]> }>('POST', '/schema/diff', sent);
    expect(Object.values(diff).flat()).to.deep.equal([]);
  };
  const noDrift = async () => expect(await api.ok('GET', '/schema/drift')).to.deep.include({ ok: true, tables: [] });

  /** Adopts tables with everything that contains the name of a table or of its sequence. */
  const adopt = async () => {
    await api.sql(`CREATE TYPE state AS ENUM ('open', 'paid');
      CREATE TABLE customers (id serial PRIMARY KEY);
      CREATE TABLE invoices (id serial PRIMARY KEY, number text UNIQUE, total int DEFAULT 0, state state DEFAULT 'open',
        customer int REFERENCES customers, part int, UNIQUE (id, part), CHECK (invoices.total >= 0), CHECK (state <> 'paid' OR total > 0));
      CREATE INDEX totals ON invoices (total) WHERE total > 1;
      CREATE TABLE lines (invoice int, part int, n int DEFAULT nextval('invoices_id_seq'::regclass),
        FOREIGN KEY (invoice, part) REFERENCES invoices (id, part), PRIMARY KEY (invoice, part));
      CREATE TABLE notes (id serial PRIMARY KEY, invoice int REFERENCES invoices);
      INSERT INTO invoices (number, part) VALUES ('a', 1); INSERT INTO lines VALUES (1, 1)`);
    await api.ok('POST', '/schema/adopt', { all: true });
  };

  it('moves everything that belongs to the table, and rewrites what names it', async () => {
    await adopt();
    const before = await api.head();
    const planned = await rename('invoices', TO_BILLING, '?explain');
    const { statements, warnings } = planned as unknown as {
      statements: { sql: string; lock: string }[];
      warnings: { code: string; message: string }[];
    };
    expect(statements[0]).to.include({
      sql: 'ALTER TABLE "public"."invoices" SET SCHEMA "billing"',
      lock: 'ACCESS EXCLUSIVE',
    });
    expect(warnings.find(({ code }) => code === 'BREAKS_CLIENTS')?.message).to.match(
      /^move table invoices to schema billing: applications that use it will fail/,
    );
    expect(await rename('invoices', TO_BILLING, '?dry_run')).to.have.property('accepted', true);
    expect((await rename('invoices', TO_BILLING)).data).to.deep.include({
      collection: 'billing.invoices',
    });
    expect(await api.events(before)).to.deep.equal(['collection.renamed invoices']);
    expect(await places()).to.include.members([
      'billing.invoices',
      'billing.invoices_id_seq',
      'billing.invoices_pkey',
      'billing.totals',
      'public.customers',
      'public.lines',
    ]);
    expect(await api.sql("INSERT INTO billing.invoices (number) VALUES ('b') RETURNING id")).to.deep.equal([{ id: 3 }]);
    const { collections } = await snapshot();
    const schemaOf = (name: string) => collections.find(({ collection }) => collection === name)?.schema;
    expect(schemaOf('billing.invoices')).to.deep.include({ schema: 'billing', name: 'invoices' });
    expect(JSON.stringify(schemaOf('lines'))).to.contain('REFERENCES billing.invoices(id, part)');
    expect(JSON.stringify(schemaOf('lines')?.extras?.needs)).to.contain('"schema":"billing"');
    await noDrift();
    await isSame(await snapshot());
  });

  it('goes back to the time before the move and forward again, and shows both times', async () => {
    await adopt();
    const before = await api.head();
    await rename('invoices', TO_BILLING);
    const after = await api.head();
    await api.goTo(before);
    expect(await tables()).to.include('public.invoices');
    await noDrift();
    await api.goTo(after);
    expect(await tables()).to.include('billing.invoices');
    const past = await api.ok<Snapshot>('GET', `/history/snapshot?at=${before}`);
    expect(past.collections.map(({ collection }) => collection)).to.include('invoices');
    const { data } = await api.ok<{ data: { names: { name: string }[] }[] }>(
      'GET',
      '/history/collections/billing.invoices',
    );
    expect(JSON.stringify(data)).to.contain('"invoices"');
    const { data: batches } = await api.ok<{ data: { summary: string }[] }>('GET', '/history/batches?limit=5');
    expect(batches.at(-1)?.summary ?? '').to.be.a('string');
    expect(await api.sql('SELECT number FROM billing.invoices')).to.deep.equal([{ number: 'a' }]);
  });

  it('renames and moves in the order in which all names are free', async () => {
    const fields = [KEY, plain('total', 'integer', { is_indexed: true, is_unique: true })];
    const created = (collection: string, schema: object = {}) =>
      api.ok('POST', '/collections', { collection, schema, fields });
    await created('a');
    await created('b');
    await created('billing.a', { schema: 'billing' });
    // Both public.b and billing.a block a rename and a move, in any order.
    await api.sql('INSERT INTO public.a (total) VALUES (1); INSERT INTO billing.a (total) VALUES (2)');
    await rename('a', { to: 'billing.b', schema: { schema: 'billing' } });
    expect(await tables()).to.deep.equal(['billing.a', 'billing.b', 'public.b']);
    expect(await places()).to.include.members(['billing.b_total_index', 'billing.b_id_seq', 'billing.b_pkey']);
    // Two tables exchange their schemas.
    const sent = await snapshot();
    const exchanged = sent.collections.map((each) => {
      if (each.collection === 'billing.a') return { ...each, schema: { ...each.schema, schema: 'archive', name: 'b' } };
      return each.collection === 'billing.b' ? { ...each, schema: { ...each.schema, name: 'a' } } : each;
    });
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', { ...sent, collections: exchanged }));
    expect(await tables()).to.deep.equal(['archive.b', 'billing.a', 'public.b']);
    const again = exchanged.map((each) => {
      if (each.collection === 'billing.a') return { ...each, schema: { ...each.schema, schema: 'billing', name: 'a' } };
      return each.collection === 'billing.b'
        ? { ...each, schema: { ...each.schema, schema: 'archive', name: 'b' } }
        : each;
    });
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff', { ...sent, collections: again }));
    const rows = await api.sql('SELECT (SELECT total FROM archive.b) AS b, (SELECT total FROM billing.a) AS a');
    expect(rows).to.deep.equal([{ b: 1, a: 2 }]);
    await noDrift();
  });

  it('keeps the name of the collection, and renames the table alone', async () => {
    await api.ok('POST', '/collections', {
      collection: 'invoices',
      schema: {},
      fields: [KEY, plain('n', 'integer', { is_indexed: true })],
    });
    await rename('invoices', { to: 'invoices', schema: { schema: 'billing' } });
    await rename('invoices', { to: 'invoices', schema: { schema: 'billing', name: 'bills' } });
    expect(await places()).to.deep.equal([
      'billing.bills',
      'billing.bills_id_seq',
      'billing.bills_n_index',
      'billing.bills_pkey',
    ]);
    expect(
      (await api.ok<{ data: { summary: string }[] }>('GET', '/history/batches?limit=1')).data[0]?.summary,
    ).to.equal('moved the table of collection invoices');
    await rename('invoices', { to: 'invoices', schema: { schema: 'archive', name: 'old' } });
    expect(await tables()).to.deep.equal(['archive.old']);
    const position = await api.head();
    expect(
      (await rename('invoices', { to: 'invoices', schema: { schema: 'archive', name: 'old' } })).data.collection,
    ).to.equal('invoices');
    expect(await api.head()).to.equal(position);
    await rename('invoices', { to: 'invoices', schema: { schema: 'public' } });
    expect(await tables()).to.deep.equal(['public.invoices']);
    const { data } = await api.ok<{ data: object[] }>('GET', '/history/collections/invoices');
    expect(data).to.have.length(5);
    await api.goTo(position);
    expect(await tables()).to.deep.equal(['archive.old']);
  });

  it('moves a table by a snapshot, whose diff contains no consequences of the move', async () => {
    await adopt();
    const before = await api.head();
    await rename('invoices', { to: 'invoices', schema: { schema: 'billing' } });
    const sent = await snapshot();
    await api.goTo(before);
    const difference = await api.ok<Diff>('POST', '/schema/diff', sent);
    expect(difference.diff).to.deep.equal({
      collections: [
        {
          collection: 'invoices',
          diff: [
            { kind: 'N', path: ['schema', 'schema'], rhs: 'billing' },
            { kind: 'N', path: ['schema', 'name'], rhs: 'invoices' },
          ],
        },
      ],
      fields: [],
      relations: [],
    });
    expect(difference.warnings?.map(({ code }) => code)).to.include('BREAKS_CLIENTS');
    await api.ok('POST', '/schema/apply', difference);
    expect(await snapshot()).to.deep.equal(sent);
    const collections = [{ collection: 'invoices', schema: { schema: 'archive', name: 'bills' } }];
    const { version, service: release, vendor } = sent;
    const part = { version, service: release, vendor, collections };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff?mode=merge', part));
    expect(await tables()).to.include('archive.bills');
    // Without members, the table stays where it is. Null moves it to the default schema.
    const stays = { ...part, collections: [{ collection: 'invoices', schema: {} }] };
    const nothing = await api.ok<Diff>('POST', '/schema/diff?mode=merge', stays);
    expect(nothing.diff.collections).to.deep.equal([]);
    const back = { ...part, collections: [{ collection: 'invoices', schema: { schema: null } }] };
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/diff?mode=merge', back));
    expect(await tables()).to.include('public.invoices');
    await noDrift();
  });

  it('moves a table with a new name of its collection by files', async () => {
    await api.ok('POST', '/collections', { collection: 'payments', schema: {}, fields: [KEY] });
    const files = await mkdtemp(join(tmpdir(), 'dps-moved-'));
    try {
      const at = { DPS_URL: service.url, DPS_TOKEN: service.adminToken };
      const pulled = await dps(['pull', files], at);
      expect(pulled.code, pulled.err).to.equal(0);
      const file = join(files, 'collections', 'payments.yaml');
      const text = await readFile(file, 'utf8');
      const moved = text
        .replace('collection: payments', 'collection: archive.bills\nrenamed_from: payments')
        .replace('\nschema:\n', '\nschema:\n  schema: archive\n  name: bills\n');
      await writeFile(join(files, 'collections', 'archive%2ebills.yaml'), moved);
      await rm(file);
      const planned = await dps(['plan', files], at);
      expect(planned.out + planned.err).to.contain('archive%2Ebills');
      const pushed = await dps(['push', files, '--yes'], at);
      expect(pushed.code, pushed.err + pushed.out).to.equal(0);
    } finally {
      await rm(files, { recursive: true });
    }
    expect(await tables()).to.deep.equal(['archive.bills']);
    await noDrift();
  });

  it('rejects names that are taken, unmanaged schemas, folders and stale diffs, and changes nothing', async () => {
    await api.ok('POST', '/collections', {
      collection: 'invoices',
      schema: {},
      fields: [KEY, plain('n', 'integer', { is_indexed: true })],
    });
    const path = '/collections/invoices/rename';
    const taken = { status: 409, code: 'ALREADY_EXISTS' };
    for (const [made, dropped, name] of [
      ['TABLE billing.invoices (id int)', 'TABLE billing.invoices', 'invoices'],
      ["TYPE billing.invoices AS ENUM ('a')", 'TYPE billing.invoices', 'invoices'],
      ['SEQUENCE billing.invoices_id_seq', 'SEQUENCE billing.invoices_id_seq', 'invoices_id_seq'],
      [
        'TABLE billing.other (id int); CREATE INDEX invoices_n_index ON billing.other (id)',
        'TABLE billing.other',
        'invoices_n_index',
      ],
    ]) {
      await api.sql(`CREATE ${made}`);
      const { message } = await api.refused(taken, 'POST', path, TO_BILLING);
      expect(message).to.contain(`"${name}" already exists in schema "billing"`);
      await api.sql(`DROP ${dropped}`);
    }
    await api.ok('POST', '/collections', {
      collection: 'bills',
      schema: { schema: 'billing', name: 'invoices' },
      fields: [KEY],
    });
    const { message } = await api.refused({ ...taken, at: 'to' }, 'POST', path, TO_BILLING);
    expect(message).to.contain('table "billing"."invoices" already belongs to collection "bills"');
    const elsewhere = { to: 'invoices', schema: { schema: 'elsewhere' } };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'schema.schema' }, 'POST', path, elsewhere);
    const wrong = { to: 'invoices', schema: { name: 'bills' } };
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD', at: 'schema.name' }, 'POST', path, wrong);
    await api.ok('POST', '/collections', { collection: 'group', schema: null });
    const folder = { status: 400, code: 'INVALID_PAYLOAD', at: 'schema' };
    await api.refused(folder, 'POST', '/collections/group/rename', { to: 'x', schema: { schema: 'billing' } });
    const { hash } = await api.ok<Diff>('POST', '/schema/diff', await snapshot());
    const entries = (...diff: object[]) => ({
      hash,
      diff: { collections: [{ collection: 'invoices', diff }], fields: [], relations: [] },
    });
    const entry = { kind: 'N', path: ['schema', 'schema'], rhs: 'elsewhere' };
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'diff.collections[0].diff[0].rhs' },
      'POST',
      '/schema/apply',
      entries(entry),
    );
    const stale = entries({ kind: 'E', path: ['schema', 'schema'], lhs: 'archive', rhs: 'billing' });
    expect((await api.client('/schema/apply', json(stale, 'POST'))).status).to.equal(409);
    const whole = entries({
      kind: 'E',
      path: ['schema'],
      lhs: { comment: null },
      rhs: { schema: 'billing', name: 'x', comment: null },
    });
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'diff.collections[0]' },
      'POST',
      '/schema/apply',
      whole,
    );
  });

  it('offers a table that was moved by hand as a rename with the new schema, and accepts it', async () => {
    await adopt();
    await api.sql('ALTER TABLE invoices SET SCHEMA billing');
    const { tables: drifted } = await api.ok<{ tables: { table: string; renamed_to?: string }[] }>(
      'GET',
      '/schema/drift',
    );
    expect(drifted).to.have.length(2);
    expect(drifted.find(({ table }) => table === 'invoices')?.renamed_to).to.equal('billing.invoices');
    const before = await api.head();
    await api.ok('POST', '/schema/drift/accept', {});
    expect(await api.events(before)).to.deep.equal(['collection.renamed invoices']);
    await noDrift();
    await isSame(await snapshot());
  });

  it('merges a move with changes of the other side, and reports two different moves', async () => {
    await adopt();
    const base = await api.head();
    const theirs = await snapshot();
    const edited = {
      ...theirs,
      collections: theirs.collections.map((each) =>
        each.collection === 'invoices' ? { ...each, meta: { ...each.meta, note: 'theirs' } } : each,
      ),
    };
    await rename('invoices', TO_BILLING);
    const merged = await api.ok<Diff>('POST', '/schema/merge', { base, theirs: edited });
    await api.ok('POST', '/schema/apply', merged);
    const ours = await snapshot();
    expect(ours.collections.find(({ collection }) => collection === 'billing.invoices')?.meta.note).to.equal('theirs');
    // The other side moves, and this side edits.
    await api.goTo(base);
    await rename('invoices', { to: 'invoices', schema: { schema: 'archive' } });
    const moving = await snapshot();
    await api.goTo(base);
    await api.ok('PATCH', '/collections/lines', { meta: { note: 'ours' } });
    await api.ok('POST', '/schema/apply', await api.ok('POST', '/schema/merge', { base, theirs: moving }));
    expect(await tables()).to.include('archive.invoices');
    await noDrift();
    // Both sides move.
    const head = await api.head();
    await rename('invoices', { to: 'invoices', schema: { schema: 'billing' } });
    const conflicting = await api.client('/schema/merge', json({ base: head, theirs }, 'POST'));
    expect(conflicting.status).to.equal(409);
    expect(conflicting.text).to.contain('"path":["schema"]');
  });

  it('restores tables and fields that were deleted before or after the move', async () => {
    await adopt();
    // The default of this column uses the sequence of the table.
    await api.ok('DELETE', '/fields/lines/n');
    await api.ok('DELETE', '/fields/invoices/number');
    await api.ok('DELETE', '/collections/notes');
    await rename('invoices', TO_BILLING);
    const trash = async () =>
      (await api.ok<{ data: { position: number; collection: string; field: string | null }[] }>('GET', '/trash')).data;
    for (const { position } of (await trash()).reverse().slice(1)) await api.ok('POST', `/trash/${position}/restore`);
    expect(await api.sql('SELECT number FROM billing.invoices')).to.deep.equal([{ number: 'a' }]);
    const [key] = await api.sql<{ def: string }>(
      "SELECT pg_get_constraintdef(oid) AS def FROM pg_constraint WHERE conrelid = 'notes'::regclass AND contype = 'f'",
    );
    expect(key?.def).to.equal('FOREIGN KEY (invoice) REFERENCES billing.invoices(id)');
    const before = await api.head();
    await api.ok('DELETE', '/collections/billing.invoices');
    const [deleted] = await trash();
    await api.ok('POST', `/trash/${deleted?.position}/restore`);
    expect(await api.sql('SELECT number FROM billing.invoices')).to.deep.equal([{ number: 'a' }]);
    await api.ok('DELETE', '/collections/billing.invoices');
    await api.ok('POST', '/schema/apply', await api.ok('GET', `/history/diff?to=${before}`));
    expect(await api.sql('SELECT number FROM billing.invoices')).to.deep.equal([{ number: 'a' }]);
    await isSame(await api.ok('GET', `/history/snapshot?at=${before}`));
    await noDrift();
  });

  it('builds an index after the move that was requested before it', async () => {
    await api.ok('POST', '/collections', { collection: 'invoices', schema: {}, fields: [KEY, plain('n', 'integer')] });
    await api.ok('PATCH', '/fields/invoices/n?concurrentIndexCreation', { schema: { is_indexed: true } });
    await rename('invoices', TO_BILLING);
    await indexesBuilt(api);
    expect(await places()).to.include('billing.invoices_n_index');
  });

  it('moves a partitioned table and a partition alone', async () => {
    await api.sql(`CREATE TABLE days (id int, day date, PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
      CREATE TABLE may PARTITION OF days FOR VALUES FROM ('2026-05-01') TO ('2026-06-01')`);
    await api.ok('POST', '/schema/adopt', { all: true });
    await rename('days', { to: 'billing.days', schema: { schema: 'billing' } });
    expect(await tables()).to.deep.equal(['billing.days', 'public.may']);
    await rename('may', { to: 'archive.may', schema: { schema: 'archive' } });
    expect(await tables()).to.deep.equal(['archive.may', 'billing.days']);
    await api.sql("INSERT INTO billing.days VALUES (1, '2026-05-02')");
    await noDrift();
    await isSame(await snapshot());
  });

  it('is exported as SQL and restored from a backup with the moved table', async () => {
    await adopt();
    await rename('invoices', TO_BILLING);
    await rename('billing.invoices', { to: 'archive.invoices', schema: { schema: 'archive' } });
    const text = async (client: pg.Client) => [
      ...(await catalogText(client, 'public')),
      ...(await catalogText(client, 'archive')),
    ];
    const within = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    };
    const original = await within(service.databaseUrl, text);
    const { text: sql } = await served.client(`/history/snapshot?at=${await api.head()}&export=sql`);
    const folder = await mkdtemp(join(tmpdir(), 'dps-moved-'));
    const databases = [await createDatabase('empty'), await createDatabase('empty')];
    const [exported, restored] = databases.map(({ connectionString }) => connectionString) as [string, string];
    try {
      const created = await within(exported, async (client) => {
        await client.query(sql);
        return text(client);
      });
      expect(created).to.deep.equal(original);
      const file = join(folder, 'backup');
      const taken = await dps(['backup', file, '--verify'], { ...SCHEMAS, DATABASE_URL: service.databaseUrl });
      expect(taken.code, taken.err).to.equal(0);
      const put = await dps(['restore', '--backup', file], { ...SCHEMAS, DATABASE_URL: restored });
      expect(put.code, put.err).to.equal(0);
      expect(
        await within(restored, async (client) => (await client.query('SELECT number FROM archive.invoices')).rows),
      ).to.deep.equal([{ number: 'a' }]);
      expect(await within(restored, text)).to.deep.equal(original);
    } finally {
      for (const database of databases) await database.drop();
      await rm(folder, { recursive: true });
    }
  });
});
