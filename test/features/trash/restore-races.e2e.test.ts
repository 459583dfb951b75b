import { expect } from 'chai';
import pg from 'pg';
import { type Api, createApi } from '../../support/api.js';
import { json, type Reply } from '../../support/client.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { keepInLog } from '../../support/tamper.js';
import { until } from '../../support/until.js';

const column = (field: string) => ({ field, type: 'string', interface: 'input', schema: {} });

describe('restores during concurrent changes', () => {
  let database: TestDatabase;
  let services: TestService[];
  let one: Api;
  let other: Api;

  beforeEach(async () => {
    database = await createDatabase('migrated');
    const settings = { DATABASE_URL: database.connectionString, LOCK_TIMEOUT: '30s' };
    services = [await startService(settings), await startService(settings)];
    [one, other] = services.map((service) => createApi(service)) as [Api, Api];
    await one.ok('POST', '/collections', {
      collection: 'articles',
      schema: {},
      fields: [column('title'), column('body')],
    });
    await one.sql(`INSERT INTO articles (title, body) VALUES ('a', 'b')`);
  });
  afterEach(async () => {
    for (const api of [one, other]) await api.stop();
    for (const service of services) await service.stop();
    await database.drop();
  });

  const gone = async (path: string): Promise<number> => {
    await one.ok('DELETE', path);
    return (await one.ok<{ data: { position: number }[] }>('GET', '/trash')).data[0]!.position;
  };
  const restore = (api: Api, position: number): Promise<Reply> => api.client(`/trash/${position}/restore`, json({}));
  const isRight = async (): Promise<void> => {
    const { data } = await other.ok<{ data: { ok: boolean } }>('GET', '/projections/verify');
    expect(data, JSON.stringify(data)).to.include({ ok: true });
  };

  /** A reader blocks the restore of a field while `work` runs. */
  const whileItWaits = async (position: number, work: () => Promise<unknown>): Promise<Reply> => {
    const reader = new pg.Client(database.connectionString);
    await reader.connect();
    try {
      await reader.query('BEGIN; SELECT FROM articles');
      // The restore waits in the queue of the table for LOCK_WAIT only, and then until the reader's transaction ends.
      const waits = (): number => services[0]?.log().split('a change is waiting for a lock').length ?? 0;
      const before = waits();
      const restored = restore(one, position);
      await until('it waits', () => waits() > before);
      await work();
      await reader.query('COMMIT');
      return await restored;
    } finally {
      await reader.end();
    }
  };

  it('report a concurrent purge and its time', async () => {
    const position = await gone('/fields/articles/title');
    const reply = await whileItWaits(position, () => other.ok('DELETE', `/trash/${position}`));
    expect([reply.status, reply.text.includes('it was purged at')], reply.text).to.deep.equal([404, true]);
    expect((await one.client(`/trash/${position}`)).status).to.equal(404);
    await isRight();
  });

  it('handle an expiry during the restore', async () => {
    const position = await gone('/fields/articles/title');
    const reply = await whileItWaits(position, async () => {
      await keepInLog(other, 'now()');
      await other.sql('UPDATE service.service_trash SET kept_until = now()');
      await other.ok('POST', '/collections', { collection: 'news', schema: {} });
      await until('it is purged', async () => (await other.client(`/trash/${position}`)).status === 404);
    });
    expect([reply.status, reply.text.includes('it was purged at')], reply.text).to.deep.equal([404, true]);
    await isRight();
  });

  it('handle a concurrent restore by another process', async () => {
    const position = await gone('/collections/articles');
    const replies = await Promise.all([restore(one, position), restore(other, position), restore(one, position)]);
    expect(replies.map(({ status }) => status)).to.have.members([200, 404, 404]);
    for (const { status, text } of replies) if (status === 404) expect(text).to.contain('it was restored at');
    expect(await one.sql('SELECT title, body FROM articles')).to.deep.equal([{ title: 'a', body: 'b' }]);
    await isRight();
  });

  it('handle a concurrent deletion, rename or key change to the table', async () => {
    const position = await gone('/fields/articles/title');
    // Changes to the table wait too, and see the effect of the first one.
    const replies = await Promise.all([
      restore(one, position),
      other.client('/collections/articles/rename', json({ to: 'posts' })),
      restore(other, position),
    ]);
    expect(replies.filter(({ status }) => status === 200)).to.have.length(2);
    expect(await one.sql('SELECT title FROM posts')).to.deep.equal([{ title: 'a' }]);
    const again = await gone('/fields/posts/title');
    const [restored, deleted] = await Promise.all([
      restore(one, again),
      other.client('/collections/posts', { method: 'DELETE' }),
    ]);
    expect(deleted.status).to.equal(204);
    expect(restored.status, restored.text).to.be.oneOf([200, 409]);
    await isRight();
  });

  it('create a new table instead of one dropped from the trash by hand', async () => {
    const then = await one.head();
    const position = await gone('/collections/articles');
    const before = await one.ok<object>('GET', `/history/diff?to=${then}`);
    await one.sql(`DROP TABLE service_trash_s1.articles`);
    const stale = await one.client('/schema/apply', json(before));
    expect([stale.status, stale.codes]).to.deep.equal([409, ['SCHEMA_CHANGED']]);
    const diff = await one.ok<{ warnings: { code: string }[] }>('GET', `/history/diff?to=${then}`);
    expect(diff.warnings.map(({ code }) => code))
      .to.include('DATA_NOT_RESTORED')
      .and.not.include('DATA_RESTORED');
    await one.ok('POST', '/schema/apply', diff);
    expect(await one.sql('SELECT count(*)::int AS n FROM articles')).to.deep.equal([{ n: 0 }]);
    const { data } = await one.ok<{ data: { differences: { where: string }[] } }>('GET', '/projections/verify');
    expect(data.differences.map(({ where }) => where)).to.deep.equal(['trash']);
    await one.ok('DELETE', `/trash/${position}`);
    await isRight();
  });

  it('tolerate foreign schemas and objects where the trash would be', async () => {
    const head = await one.head();
    await one.sql(`CREATE SCHEMA service_trash_${head + 1}`);
    const refused = await one.client('/fields/articles/title', { method: 'DELETE' });
    expect(refused.status, refused.text).to.be.within(400, 499);
    expect(await one.sql('SELECT title FROM articles')).to.deep.equal([{ title: 'a' }]);
    await one.sql(`DROP SCHEMA service_trash_${head + 1}`);
    const position = await gone('/fields/articles/title');
    await one.sql(`CREATE VIEW service_trash_${position}.odd AS SELECT 1 AS a`);
    const inUse = await restore(one, position);
    expect([inUse.status, inUse.codes], inUse.text).to.deep.equal([409, ['IN_USE']]);
    await one.sql(`DROP VIEW service_trash_${position}.odd`);
    expect((await restore(one, position)).status).to.equal(200);
    await isRight();
  });
});
