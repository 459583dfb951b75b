import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evolve } from '../../../src/schema/fold/evolve.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import type { StoredEvent } from '../../../src/schema/model/events.js';
import { type Api, createApi } from '../../support/api.js';
import { dps } from '../../support/dps.js';
import { createDatabase, type TestDatabase } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { withService } from '../../support/with-service.js';

interface Entry {
  position: number;
  collection: string;
  field: string | null;
  identity: string;
}

interface Answer {
  data: { collection: string };
  warnings?: { code: string; message: string }[];
}

const column = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
const alias = { field: 'articles', type: 'alias', interface: 'list', schema: null, meta: { special: ['o2m'] } };

describe('a database created from a log', () => {
  const { api, client, service } = withService();
  let directory: string;
  let entries: ReadonlyMap<string, Entry>;
  let start: number;
  let purged: number;
  const databases: TestDatabase[] = [];
  const services: TestService[] = [];
  const apis: Api[] = [];

  const remove = async (path: string): Promise<void> => api.ok('DELETE', path);

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'replayed-'));
    await api.ok('POST', '/collections', {
      collection: 'authors',
      schema: {},
      fields: [column('name', 'string'), alias],
    });
    await api.ok('POST', '/collections', {
      collection: 'articles',
      schema: {},
      fields: [
        column('title', 'string', { is_nullable: false }),
        column('kind', 'string', { is_nullable: false, default_value: 'a' }),
        column('author', 'integer'),
      ],
      meta: { group: 'authors' },
    });
    await api.ok('POST', '/collections', { collection: 'gone', schema: {} });
    await api.ok('POST', '/relations', {
      many_collection: 'articles',
      many_field: 'author',
      one_collection: 'authors',
      one_field: 'articles',
    });
    await api.sql(`INSERT INTO authors (name) VALUES ('x'); INSERT INTO articles (title, author) VALUES ('t', 1)`);
    start = await api.head();
    for (const path of ['/fields/articles/title', '/fields/articles/kind', '/collections/authors', '/collections/gone'])
      await remove(path);
    const { data } = await api.ok<{ data: Entry[] }>('GET', '/trash');
    entries = new Map(data.map((entry) => [entry.field ?? entry.collection, entry]));
    purged = entries.get('gone')!.position;
    await remove(`/trash/${purged}`);
  });
  afterEach(async () => {
    for (const each of apis.splice(0)) await each.stop();
    for (const each of services.splice(0)) await each.stop();
    for (const each of databases.splice(0)) await each.drop();
  });
  after(() => rm(directory, { recursive: true }));

  const serve = async (database: TestDatabase): Promise<Api> => {
    const started = await startService({ DATABASE_URL: database.connectionString });
    services.push(started);
    const created = createApi(started);
    apis.push(created);
    return created;
  };
  const empty = async (): Promise<TestDatabase> => {
    const database = await createDatabase();
    databases.push(database);
    return database;
  };
  /** Replays all DDL of the log, event by event. */
  const replayed = async (from = service): Promise<Api> => {
    const database = await empty();
    const ran = await dps(['rebuild', 'tables', '--into', database.connectionString], {
      DATABASE_URL: from.databaseUrl,
    });
    expect(ran.code, ran.out + ran.err).to.equal(0);
    return serve(database);
  };
  /** Creates the tables in their final form. */
  const exported = async (): Promise<Api> => {
    const database = await empty();
    const file = join(directory, 'log.ndjson');
    await writeFile(file, (await client('/history/export')).text);
    const ran = await dps(['restore', '--file', file], { DATABASE_URL: database.connectionString });
    expect(ran.code, ran.err).to.equal(0);
    return serve(database);
  };

  const folded = async (source: Api): Promise<State> => {
    const log = (await source.client('/history/export')).text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as StoredEvent);
    return log.reduce((state, event) => evolve(state, event), initialState());
  };
  const codes = ({ warnings = [] }: Pick<Answer, 'warnings'>): string[] => warnings.map(({ code }) => code);
  const isRight = async (source: Api): Promise<void> => {
    const { data } = await source.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, JSON.stringify(data)).to.include({ ok: true });
  };
  const at = (name: string): number => entries.get(name)!.position;

  for (const [mode, make] of [
    ['replayed', () => replayed()],
    ['restored from an export', exported],
  ] as const) {
    it(`restores former objects empty, and reports it: ${mode}`, async () => {
      const other = await make();
      expect((await other.ok<{ data: unknown[] }>('GET', '/trash')).data).to.deep.equal([]);
      await other.sql('INSERT INTO articles DEFAULT VALUES');
      const path = `/trash/${at('title')}/restore`;
      const refused = await other.refused({ status: 422, code: 'DATABASE_REFUSED' }, 'POST', path, {});
      expect(refused.message).to.match(/^1 row has no value for "title", which is restored empty/);
      const without = { without: ['articles_title_not_null'] };
      const plan = await other.ok<Answer>('POST', `${path}?dry_run`, without);
      expect(codes(plan)).to.deep.equal(['DATA_NOT_RESTORED']);
      expect(codes(await other.ok<Answer>('POST', path, without))).to.deep.equal(['DATA_NOT_RESTORED']);
      const again = await other.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', path, {});
      expect(again.message).to.contain('it was restored at');
      expect(codes(await other.ok<Answer>('POST', `/trash/${at('kind')}/restore`))).to.deep.equal([
        'DATA_NOT_RESTORED',
      ]);
      expect(await other.sql('SELECT title, kind FROM articles')).to.deep.equal([{ title: null, kind: 'a' }]);

      const gone = await other.refused({ status: 404, code: 'NOT_FOUND' }, 'POST', `/trash/${purged}/restore`, {});
      expect(gone.extensions['purged_at']).to.match(/^20/);
      const target = ['--url', services[0]!.url, '--token', services[0]!.adminToken];
      const ran = await dps(['trash', 'restore', ...target, '--as', 'people', String(at('authors'))], {});
      expect([ran.code, ran.out]).to.deep.equal([0, 'people was restored.']);
      expect(ran.err).to.contain('DATA_NOT_RESTORED people: ').and.to.contain('this database was rebuilt from its log');
      expect(await other.sql('SELECT count(*)::int AS n FROM people')).to.deep.equal([{ n: 0 }]);
      const relation = await other.ok<{ data: object }>('GET', '/relations/articles/author');
      expect(relation.data).to.include({ one_collection: 'people', one_field: 'articles' });
      await isRight(other);
      const { collections } = await folded(other);
      expect(collections.get('people')?.identities.collection).to.equal(entries.get('authors')?.identity);
      expect(collections.get('articles')?.identities.fields.get('title')).to.equal(entries.get('title')?.identity);
      // From now on, deletions are kept here too, and the log can be replayed again.
      await other.sql(`INSERT INTO people (name) VALUES ('y')`);
      await other.ok('DELETE', '/collections/people');
      const [kept] = (await other.ok<{ data: Entry[] }>('GET', '/trash')).data;
      expect(codes(await other.ok<Answer>('POST', `/trash/${kept?.position}/restore`))).to.deep.equal([]);
      expect(await other.sql('SELECT name FROM people')).to.deep.equal([{ name: 'y' }]);
      const third = await replayed(services[0]);
      expect((await third.client('/schema/snapshot')).text).to.equal((await other.client('/schema/snapshot')).text);
      await isRight(third);
    });

    it(`reverts to the same objects, empty, and lists them in the plan: ${mode}`, async () => {
      const other = await make();
      const diff = await other.ok<Answer & { diff: { collections: object[]; fields: object[] } }>(
        'GET',
        `/history/diff?to=${start}`,
      );
      const messagesOf = (diff.warnings ?? []).filter(({ code }) => code.startsWith('DATA_'));
      expect(messagesOf.map(({ code, message }) => `${code} ${message.split(':')[0]}`)).to.have.members([
        'DATA_NOT_RESTORED restore table authors',
        'DATA_NOT_RESTORED create table gone',
        'DATA_NOT_RESTORED restore column kind of articles',
        'DATA_NOT_RESTORED restore column title of articles',
      ]);
      expect(JSON.stringify(diff.diff)).not.to.contain('"restores"');
      const plan = await other.ok<Answer>('POST', '/schema/apply?dry_run', diff);
      expect((plan.warnings ?? []).filter(({ code }) => code.startsWith('DATA_'))).to.have.deep.members(messagesOf);
      await other.ok('POST', '/schema/apply', diff);
      // The id of a relation is the position of its event.
      const withoutIds = (text: string) => text.replaceAll(/\{"id":\d+,/g, '{');
      const then = await client(`/history/snapshot?at=${start}`);
      expect(withoutIds((await other.client('/schema/snapshot')).text)).to.equal(withoutIds(then.text));
      await isRight(other);
      const { collections } = await folded(other);
      expect(collections.get('authors')?.identities.collection).to.equal(entries.get('authors')?.identity);
      expect(collections.get('articles')?.identities.fields.get('title')).to.equal(entries.get('title')?.identity);
      expect(collections.get('gone')?.identities.collection).not.to.equal(entries.get('gone')?.identity);
    });
  }
});
