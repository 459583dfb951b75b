import { expect } from 'chai';
import { type Api, createApi } from '../support/api.js';
import { plantDecoys } from '../support/decoys.js';
import { onlineOf } from '../support/online.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';

describe('a database with decoys of PostgreSQL’s operators', () => {
  let database: TestDatabase;
  let service: TestService;
  let api: Api;

  before(async () => {
    database = await createDatabase();
    await plantDecoys(database.connectionString);
    service = await startService({ DATABASE_URL: database.connectionString });
    api = createApi(service);
  });
  after(async () => {
    await api.stop();
    await service.stop();
    await database.drop();
  });

  const column = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });
  const holds = async () => {
    for (const path of ['/projections/verify', '/history/verify', '/schema/drift'])
      expect(JSON.stringify(await api.ok('GET', path)), path).to.contain('"ok":true');
  };

  it('creates, alters, renames and compares a schema', async () => {
    await api.ok('POST', '/collections', [
      { collection: 'authors', schema: { comment: 'who' }, fields: [column('name', 'string', { is_unique: true })] },
      { collection: 'articles', schema: {}, fields: [column('title', 'string'), column('author', 'integer')] },
    ]);
    await api.ok('POST', '/relations', { collection: 'articles', field: 'author', related_collection: 'authors' });
    await api.ok('PATCH', '/fields/articles/title', { schema: { max_length: 90, is_indexed: true, comment: 'it' } });
    await api.ok('PATCH', '/fields/articles/title', { type: 'text', schema: { is_nullable: false } });
    await api.ok('POST', '/fields/authors', column('born', 'date'));
    await api.sql('CREATE TABLE old_authors () INHERITS (authors)');
    await api.ok('PATCH', '/fields/authors/name', { schema: { max_length: 90 } });
    await api.sql('DROP TABLE old_authors');
    await api.ok('POST', '/collections/authors/rename', { to: 'writers' });
    await holds();
    const doctor = await api.ok<{ data: { findings: { code: string }[] } }>('GET', '/server/doctor');
    expect(JSON.stringify(doctor)).not.to.contain('CHECK_FAILED');
  });

  it('restores, purges and shows the past', async () => {
    await api.ok('DELETE', '/collections/articles');
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash');
    await api.ok('POST', `/trash/${data[0]?.position}/restore`, {});
    await api.ok('DELETE', '/fields/writers/born?purge');
    const to = await api.head();
    for (const path of [
      '/history/events',
      '/history/batches?q=writers',
      '/history/changes',
      '/history/collections/writers',
      `/history/diff?from=1&to=${to}`,
      `/history/schema?at=${to}`,
      '/metrics',
      '/projections',
    ])
      await api.ok('GET', path);
    await holds();
  });

  it('adopts tables, and applies online changes and change requests', async () => {
    await api.sql('CREATE TABLE by_hand (id integer PRIMARY KEY, note text DEFAULT NULL, UNIQUE (note))');
    await api.sql('CREATE TABLE large (id integer PRIMARY KEY, note text, code integer)');
    await api.sql('ALTER TABLE large ALTER COLUMN note SET STORAGE PLAIN');
    await api.sql(`INSERT INTO large SELECT i, repeat('x', 6000), i FROM generate_series(1, 1500) AS i`);
    await api.sql('ANALYZE large');
    await api.ok('POST', '/schema/adopt', { tables: ['by_hand', 'large'] });
    await api.ok('POST', '/projections/metadata/rebuild');
    const online = onlineOf(api);
    for (const schema of [{ is_nullable: false }, { is_indexed: true }, { is_unique: true }]) {
      const { id } = await online.open('PATCH', '/fields/large/code', { schema });
      await online.ended(id, 'applied');
    }
    await online.ended((await online.open('DELETE', '/fields/large/code')).id, 'applied');
    await holds();
  });

  it('creates users and logs them in without calling the decoys', async () => {
    const password = 'correct horse battery';
    await api.ok('POST', '/users', { email: 'a@example.com', role: 'author', password });
    await api.ok('POST', '/auth/login', { email: 'A@example.com', password });
    await api.ok('GET', '/users');
  });
});
