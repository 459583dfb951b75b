import { expect } from 'chai';
import pg from 'pg';
import { json } from '../../support/client.js';
import { column, onlineOf } from '../../support/online.js';
import { until } from '../../support/until.js';
import { type Api, createApi } from '../../support/api.js';
import { type Clock, makeClock } from '../../support/clock.js';
import { expectConsistent } from '../../support/consistent.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { type Snapshot, dataOf, diffOf, open, rejectionOf, without } from './people.js';

interface Waiting {
  state: string;
  waiting_for: { pid: number; application_name: string; age_seconds: number; collection?: string; object?: object }[];
}

describe('a scheduled change request', () => {
  let database: TestDatabase;
  let clock: Clock;
  let service: TestService;
  let api: Api;
  const admin: Api['client'] = (path, send) => api.client(path, send);

  before(async () => {
    database = await createDatabase('migrated');
    clock = await makeClock(database.connectionString);
    service = await startService({ DATABASE_URL: database.connectionString, LOCK_TIMEOUT: '3s', OBJECTS: 'on' });
    api = createApi(service);
  });
  after(async () => {
    try {
      await expectConsistent(database.connectionString);
    } finally {
      await api?.stop();
      await service?.stop();
      await database.drop();
    }
  });

  /** Schedules a request, and carries it out while another transaction blocks it. */
  const blockedBy = async (statement: string, change: (snapshot: Snapshot) => void, subject: object): Promise<void> => {
    await clock.set('0');
    const { id } = await open(admin, { title: 'Less', diff: await diffOf(admin, change) });
    const show = async () => dataOf<Waiting>(await admin(`/changes/${id}`));
    const response = await admin(`/changes/${id}/apply`, json({ at: new Date(Date.now() + 3_600_000).toISOString() }));
    expect(response.status, response.text).to.equal(202);
    expect((await show()).waiting_for).to.deep.equal([]);
    const reporter = new pg.Client({ connectionString: database.connectionString, application_name: 'a long report' });
    await reporter.connect();
    try {
      await reporter.query('BEGIN');
      await reporter.query(statement);
      await clock.set('1 hour');
      await admin(`/changes/${id}/comment`, json({ comment: 'It is time' }));
      await until('it says who is in the way', async () => (await show()).waiting_for.length > 0);
      const { state, waiting_for: waiting } = await show();
      expect(state).to.equal('scheduled');
      const [{ pid, age_seconds: _, ...shown } = {}] = waiting;
      expect(shown).to.deep.equal({ application_name: 'a long report', ...subject });
      expect(pid).to.be.a('number');
      // Comments do not hide it.
      await admin(`/changes/${id}/comment`, json({ comment: 'Who is that?' }));
      expect((await show()).waiting_for).to.have.length(1);
    } finally {
      await reporter.end();
    }
    await until('it is applied', async () => (await show()).state === 'applied');
    expect((await show()).waiting_for).to.deep.equal([]);
  };

  it('shows the transaction that blocks it until that ends', async () => {
    await api.ok('POST', '/collections', {
      collection: 'pages',
      schema: {},
      fields: [column('title'), column('body')],
    });
    await blockedBy('SELECT count(*) FROM pages', without('pages', 'body'), { collection: 'pages' });
    expect(rejectionOf(await admin('/fields/pages/body'))).to.equal('404 NOT_FOUND');
  });

  it('shows the transaction that blocks a view', async () => {
    const view = { kind: 'view', id: 'recent' };
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW recent AS SELECT 1 AS id' });
    const redefine = ({ objects = [] }: Snapshot): void => {
      for (const each of objects) each.definition = each.definition.replace('1', '2');
    };
    await blockedBy('SELECT FROM recent', redefine, { object: view });
  });

  it('does not wait for preparations of other requests', async () => {
    await clock.set('0');
    const online = onlineOf(api);
    const names = ['big1', 'big2', 'big3', 'big4'];
    for (const name of names) await online.large(name, [column('title')], `title = 'n' || i`);
    await api.ok('POST', '/collections', { collection: 'small', schema: {}, fields: [column('body')] });
    const reporter = new pg.Client({ connectionString: database.connectionString });
    await reporter.connect();
    try {
      await reporter.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      for (const name of names) await reporter.query(`SELECT FROM ${name} LIMIT 1`);
      const builds = [];
      for (const name of names)
        builds.push(await online.open('PATCH', `/fields/${name}/title`, { schema: { is_indexed: true } }));
      const isBuilt = async (id: string) => (await online.retrieve(id)).steps.some(({ state }) => state === 'running');
      for (const { id } of builds) await until('its index is built', () => isBuilt(id));
      const { id } = await open(admin, { title: 'Small', diff: await diffOf(admin, without('small', 'body')) });
      await api.ok('POST', `/changes/${id}/apply`, { at: new Date(Date.now() + 3_600_000).toISOString() });
      await clock.set('1 hour');
      await admin(`/changes/${id}/comment`, json({ comment: 'It is time' }));
      await until('it is applied', async () => (await online.retrieve(id)).state === 'applied');
      for (const build of builds) expect((await online.retrieve(build.id)).state).to.equal('preparing');
      await reporter.query('ROLLBACK');
      for (const build of builds) await online.ended(build.id, 'applied');
    } finally {
      await reporter.end();
    }
  });

  it('is found even if its time passes between the two queries', async () => {
    await clock.set('0');
    const { id } = await open(admin, { title: 'No title', diff: await diffOf(admin, without('pages', 'title')) });
    const response = await admin(`/changes/${id}/apply`, json({ at: new Date(Date.now() + 3_600_000).toISOString() }));
    expect(response.status, response.text).to.equal(202);
    await clock.setOnceAsked('service_changes', '61 minutes');
    await until('it is applied', async () => dataOf<Waiting>(await admin(`/changes/${id}`)).state === 'applied');
  });
});
