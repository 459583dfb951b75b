import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { json } from '../support/client.js';
import { dps } from '../support/dps.js';
import { type TestDatabase, createDatabase, query } from '../support/postgres.js';
import { startProxy } from '../support/proxy.js';
import { untilAwaited } from '../support/until.js';
import { createWire } from '../support/wire.js';
import { withService } from '../support/with-service.js';

const ARTICLES = {
  collection: 'articles',
  schema: {},
  fields: [
    { field: 'title', type: 'string', interface: 'input' },
    { field: 'words', type: 'integer', interface: 'input' },
  ],
};
const TITLES = 'CREATE VIEW titles WITH (security_barrier = true) AS SELECT id, title FROM articles WHERE words > 10';
const LENGTHS = 'CREATE MATERIALIZED VIEW lengths AS SELECT words, count(*) AS articles FROM articles GROUP BY words';
const INDEX = { name: 'lengths_words', unique: true, definition: 'USING btree (words)' };
const CATALOG = `SELECT c.relname, c.reloptions, pg_get_viewdef(c.oid) AS query, obj_description(c.oid) AS comment,
    (SELECT array_agg(indexdef ORDER BY indexdef) FROM pg_indexes WHERE tablename = c.relname) AS indexes
  FROM pg_class c WHERE c.relname IN ('titles', 'lengths', 'by_hand')
  UNION ALL SELECT p.proname, p.proconfig, pg_get_functiondef(p.oid), obj_description(p.oid), NULL FROM pg_proc p
   WHERE p.pronamespace = 'public'::regnamespace ORDER BY 1`;
const FUNCTION = {
  kind: 'function',
  definition: `CREATE FUNCTION long_titles(above integer) RETURNS SETOF text STABLE SET work_mem = '1MB'
    BEGIN ATOMIC SELECT title FROM titles WHERE id > above; END`,
  comment: 'Long ones',
};

interface Change {
  data: { id: string; plan: string; state: string };
}

describe('requests about views and functions', () => {
  const { api, service } = withService({ settings: { OBJECTS: 'on' }, each: true, consistent: true });

  const send = (path: string, body: object, headers: Record<string, string>, method = 'POST') =>
    api.client(path, { ...json(body, method), headers: { 'content-type': 'application/json', ...headers } });
  const view = { kind: 'view', definition: TITLES };

  beforeEach(() => api.ok('POST', '/collections', ARTICLES));

  it('are carried out only if If-Match names the current schema', async () => {
    const { headers } = await api.client('/schema/snapshot');
    const ifMatch = headers.get('etag') ?? '';
    expect((await send('/objects', view, { 'if-match': ifMatch })).status).to.equal(200);
    const changes = { comment: 'Long articles' };
    const stale = await send('/objects/view/titles', changes, { 'if-match': ifMatch }, 'PATCH');
    expect([stale.status, ...stale.codes]).to.deep.equal([412, 'PRECONDITION_FAILED']);
    const now = (await api.client('/schema/snapshot')).headers.get('etag') ?? '';
    expect((await send('/objects/view/titles', changes, { 'if-match': now }, 'PATCH')).status).to.equal(200);
  });

  it('are carried out once per Idempotency-Key, with the same response', async () => {
    const before = await api.head();
    const first = await send('/objects', view, { 'idempotency-key': 'once' });
    const second = await send('/objects', view, { 'idempotency-key': 'once' });
    expect([first.status, second.status, second.text]).to.deep.equal([200, 200, first.text]);
    expect(await api.head()).to.equal(before + 1);
    const other = await send('/objects', { ...view, comment: 'Other' }, { 'idempotency-key': 'once' });
    expect([other.status, ...other.codes]).to.deep.equal([409, 'IDEMPOTENCY_MISMATCH']);
  });

  it('are planned and compared again if another session creates a view again at the same moment', async () => {
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW titles AS SELECT title FROM articles' });
    const other = new pg.Client({ connectionString: service.databaseUrl });
    await other.connect();
    try {
      await other.query('BEGIN; DROP VIEW titles; CREATE VIEW titles AS SELECT title FROM articles');
      const planning = send('/fields/articles/words?explain=true', { type: 'bigInteger' }, {}, 'PATCH');
      await untilAwaited('titles', api.sql);
      await other.query('COMMIT');
      const { status, text } = await planning;
      expect(status, text).to.equal(200);
      await other.query('BEGIN; DROP VIEW titles; CREATE VIEW titles AS SELECT title FROM articles');
      const comparing = api.ok('GET', '/schema/drift');
      await untilAwaited('titles', api.sql);
      await other.query('COMMIT');
      expect(await comparing).to.include({ ok: true });
    } finally {
      await other.end();
    }
  });

  it('can be proposed, approved and applied as a change request', async () => {
    await api.ok('PUT', '/policy', { author_may_approve: true });
    const snapshot = await api.ok<object>('GET', '/schema/snapshot');
    const objects = [FUNCTION, { ...view, comment: 'Long articles' }];
    const diff = await api.ok<object>('POST', '/schema/diff', { ...snapshot, objects });
    const { data } = await api.ok<Change>('POST', '/changes', { title: 'Add a view and a function', diff });
    expect(await api.sql(CATALOG)).to.deep.equal([]);
    await api.ok('POST', `/changes/${data.id}/approve`, { plan: data.plan });
    await api.ok('POST', `/changes/${data.id}/apply`);
    expect((await api.ok<Change>('GET', `/changes/${data.id}`)).data.state).to.equal('applied');
    expect(await api.ok('GET', '/objects/view/titles')).to.deep.include({
      data: { kind: 'view', id: 'titles', definition: TITLES, comment: 'Long articles' },
    });
    expect(await api.ok('GET', '/objects/function/long_titles(integer)')).to.deep.equal({
      data: { id: 'long_titles(integer)', ...FUNCTION },
    });
  });

  describe('that a backup or an export contains', () => {
    let directory: string;
    const databases: TestDatabase[] = [];

    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'dps-objects-test-'));
    });
    after(async () => {
      for (const database of databases) await database.drop();
      await rm(directory, { recursive: true, force: true });
    });

    async function restored(...args: string[]): Promise<object[]> {
      const target = await createDatabase();
      databases.push(target);
      const { code, err } = await dps(['restore', ...args], { DATABASE_URL: target.connectionString, OBJECTS: 'on' });
      expect(code, err).to.equal(0);
      return query(target.connectionString, CATALOG);
    }

    it('are restored unchanged from a backup or an export, even after adoption and accepted drift', async () => {
      await api.ok('POST', '/objects', view);
      await api.ok('POST', '/objects', { kind: 'materialized_view', definition: LENGTHS, indexes: [INDEX] });
      await api.ok('POST', '/objects', FUNCTION);
      await api.sql(
        `CREATE FUNCTION counted() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM by_hand); END'`,
      );
      await api.sql(
        `CREATE VIEW by_hand AS SELECT title, counted() AS titles FROM titles; COMMENT ON VIEW titles IS 'By hand'`,
      );
      await api.ok('POST', '/schema/adopt', { all: true });
      await api.ok('POST', '/schema/drift/accept', {});
      const expected = await api.sql(CATALOG);
      expect(expected).to.have.length(5);
      const file = join(directory, 'backup.dps');
      const taken = await dps(['backup', file], { DATABASE_URL: service.databaseUrl, OBJECTS: 'on' });
      expect(taken.code, taken.err).to.equal(0);
      expect(taken.out + taken.err).not.to.match(/by_hand|counted|long_titles/);
      expect(await restored('--backup', file)).to.deep.equal(expected);
    });
  });

  it('show what depends on an object, managed or not', async () => {
    await api.ok('POST', '/objects', view);
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW first AS SELECT id FROM titles' });
    await api.ok('POST', '/objects', FUNCTION);
    await api.ok('POST', '/objects', { kind: 'type', definition: "CREATE TYPE mood AS ENUM ('happy', 'sad')" });
    await api.ok('POST', '/objects', { kind: 'sequence', definition: 'CREATE SEQUENCE numbers' });
    await api.sql(`CREATE VIEW by_hand AS SELECT title FROM titles;
      CREATE FUNCTION mentions() RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT title FROM titles LIMIT 1); END';
      CREATE TABLE moods (now mood, before mood[], number integer DEFAULT nextval('numbers'))`);
    const dependents = async (path: string) =>
      (await api.ok<{ data: object[] }>('GET', `/objects/${path}/dependents`)).data.map((each) =>
        Object.values(each).join(' '),
      );
    expect(await dependents('view/titles')).to.deep.equal([
      'function public.long_titles(integer) catalog',
      'view public.by_hand catalog',
      'view public.first catalog',
      'function public.mentions text',
    ]);
    expect(await dependents('type/mood')).to.deep.equal([
      'table column public.moods.before catalog',
      'table column public.moods.now catalog',
    ]);
    expect(await dependents('sequence/numbers')).to.deep.equal(['default value for public.moods.number catalog']);
    expect(await dependents(`function/${encodeURIComponent('long_titles(integer)')}`)).to.deep.equal([]);
    const missing = await api.client('/objects/view/nothing/dependents');
    expect([missing.status, ...missing.codes]).to.deep.equal([404, 'NOT_FOUND']);
  });

  it('show the history of an object under all its names, in pages', async () => {
    const path = '/objects/view';
    await api.ok('POST', '/objects', view);
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW others AS SELECT id FROM articles' });
    await api.ok('PATCH', `${path}/titles`, { comment: 'Long articles' });
    await api.ok('POST', `${path}/titles/rename`, { to: 'headings' });
    // Another view gets the former name.
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW titles AS SELECT title FROM articles' });
    await api.ok('PATCH', `${path}/headings`, { definition: TITLES.replace('titles', 'headings').replace('10', '20') });
    await api.ok('DELETE', `${path}/headings`);
    interface Page {
      data: { type: string; subject: { id: string }; diff: { objects: { id: string; diff: object[] }[] } }[];
      meta: { next: number | null; lives: { names: { name: string }[] }[] };
    }
    const read = (id: string, query = '') => api.ok<Page>('GET', `/history/objects/view/${id}${query}`);
    const { data, meta } = await read('headings');
    expect(data.map(({ type, subject }) => `${type} ${subject.id}`)).to.deep.equal([
      'object.created titles',
      'object.updated titles',
      'object.renamed titles',
      'object.updated headings',
      'object.deleted headings',
    ]);
    expect(data.map(({ diff }) => diff.objects.map(({ id }) => id))).to.deep.equal([
      ['titles'],
      ['titles'],
      ['headings'],
      ['headings'],
      ['headings'],
    ]);
    expect(meta.lives.map(({ names }) => names.map(({ name }) => name))).to.deep.equal([['titles', 'headings']]);
    expect((await read('titles')).data).to.have.length(6);
    const pages = [];
    for (let after: number | null = 0; after !== null;) {
      const page: Page = await read('headings', `?limit=2&after=${after}`);
      pages.push(...page.data);
      after = page.meta.next;
    }
    expect(pages).to.deep.equal(data);
    const missing = await api.client('/history/objects/view/nothing');
    expect([missing.status, ...missing.codes]).to.deep.equal([404, 'NOT_FOUND']);
  });

  it('list only the objects of a PostgreSQL schema', async () => {
    await api.ok('POST', '/objects', view);
    const idsIn = async (schema: string) =>
      (await api.ok<{ data: { id: string }[] }>('GET', `/objects?schema=${schema}`)).data.map(({ id }) => id);
    expect(await idsIn('public')).to.deep.equal(['titles']);
    expect(await idsIn('billing')).to.deep.equal([]);
  });
});

describe('a diff with definitions that are spelled differently', () => {
  const wire = createWire();
  const closing: (() => Promise<void>)[] = [];

  const { api } = withService({
    settings: async () => {
      const database = await createDatabase();
      const proxy = await startProxy(database.connectionString);
      proxy.intercept((sent, connection) => {
        wire.feed(sent, connection);
        return 'pass';
      });
      closing.push(proxy.close, database.drop);
      return { OBJECTS: 'on', DATABASE_URL: proxy.connectionString };
    },
  });
  after(async () => {
    for (const close of closing) await close();
  });

  it('asks PostgreSQL to compare them once, and again after a change by hand', async () => {
    await api.ok('POST', '/collections', ARTICLES);
    await api.ok('POST', '/objects', { kind: 'view', definition: TITLES });
    await api.ok('POST', '/objects', { kind: 'materialized_view', definition: LENGTHS });
    const snapshot = await api.ok<{ objects: { definition: string }[] }>('GET', '/schema/snapshot');
    const objects = snapshot.objects.map(({ definition, ...each }) => ({
      ...each,
      definition: definition.replace('words', 'articles.words'),
    }));
    const diff = async () => (await api.ok<{ diff: object }>('POST', '/schema/diff', { ...snapshot, objects })).diff;
    const scratch = () =>
      wire
        .take()
        .flat(2)
        .filter((text) => /SAVEPOINT|CREATE VIEW pg_temp/.test(text));
    wire.take();
    expect(await diff()).to.deep.equal({ collections: [], fields: [], relations: [] });
    expect(scratch()).to.have.length.greaterThan(0);
    expect(await diff()).to.deep.equal({ collections: [], fields: [], relations: [] });
    expect(scratch()).to.deep.equal([]);
    await api.sql('ALTER TABLE articles ADD COLUMN by_hand integer');
    await diff();
    expect(scratch()).to.have.length.greaterThan(0);
  });
});
