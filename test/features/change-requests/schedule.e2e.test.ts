import { expect } from 'chai';
import { type Api, createApi } from '../../support/api.js';
import { json } from '../../support/client.js';
import { type Clock, makeClock } from '../../support/clock.js';
import { expectConsistent } from '../../support/consistent.js';
import { column, onlineOf } from '../../support/online.js';
import { type TestDatabase, createDatabase } from '../../support/postgres.js';
import { type TestService, startService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { type Person, dataOf, diffOf, newPerson, noted, open, rejectionOf, show, without } from './people.js';

const HOUR = 3_600_000;

describe('scheduled change requests', () => {
  let database: TestDatabase;
  let clock: Clock;
  /** Two processes on one database. */
  let services: TestService[];
  let api: Api;
  let other: Person;
  const admin: Api['client'] = (path, send) => api.client(path, send);

  before(async () => {
    database = await createDatabase('migrated');
    clock = await makeClock(database.connectionString);
    services = [];
    for (let each = 0; each < 2; each++) services.push(await startService({ DATABASE_URL: database.connectionString }));
    api = createApi(services[0] as TestService);
    for (const collection of ['articles', 'pages'])
      await api.ok('POST', '/collections', { collection, schema: {}, fields: [column('title'), column('body')] });
    other = await newPerson(admin, 'other', 'admin');
  });
  afterEach(async () => {
    await clock.set('0');
    await api.ok('PUT', '/policy', {});
  });
  after(async () => {
    try {
      await expectConsistent(database.connectionString);
    } finally {
      await api?.stop();
      for (const service of services) await service.stop();
      await database.drop();
    }
  });

  /**
   * By the database's clock.
   * @param by advances the machine's clock if no database clock is set
   */
  const inTime = (milliseconds: number): string => new Date(Date.now() + milliseconds).toISOString();
  let notes = 0;
  const proposed = async (edit = noted('articles', `note ${++notes}`)): Promise<{ id: string; plan: string }> => {
    const opened = await open(admin, { title: 'Later', diff: await diffOf(admin, edit) });
    const approved = await other.send(`/changes/${opened.id}/approve`, json({ plan: opened.plan }));
    expect(approved.status, approved.text).to.equal(200);
    return opened;
  };
  const at = (id: string, milliseconds: number, send = admin) =>
    send(`/changes/${id}/apply`, json({ at: inTime(milliseconds) }));
  const scheduled = async (id: string, milliseconds: number, send = admin): Promise<void> => {
    const answer = await at(id, milliseconds, send);
    expect(answer.status, answer.text).to.equal(202);
    expect(dataOf(answer)).to.include({ id, state: 'scheduled' });
    expect(answer.headers.get('location')).to.equal(`/changes/${id}`);
  };
  const stateOf = async (id: string): Promise<string> => (await show(admin, id)).state;
  const becomes = (id: string, state: string): Promise<void> =>
    until(`${id} is ${state}`, async () => (await stateOf(id)) === state);
  const note = async (name: string): Promise<unknown> =>
    dataOf<{ meta: { note: string } }>(await admin(`/collections/${name}`)).meta.note;
  const types = async (id: string): Promise<string[]> =>
    dataOf<{ type: string }[]>(await admin(`/history/events?subject=change:${id}`)).map(({ type }) => type);
  /** Makes all processes check for due work. */
  const look = async (id: string): Promise<void> => {
    await api.ok('POST', `/changes/${id}/comment`, { comment: 'look' });
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  /**
   * No process is notified of the new time. Each checks it regularly, so the request may run before the comment of
   * `look`.
   */
  const jump = async (ahead: string, id: string): Promise<void> => {
    await clock.set(ahead);
    await look(id);
  };
  const errorsOf = async (id: string): Promise<string[] | undefined> =>
    (await show(admin, id)).errors?.map(({ extensions }) => extensions.code);

  it('are applied once at their time, attributed to the person who scheduled them', async () => {
    const { id } = await proposed();
    const text = `note ${notes}`;
    const before = Date.now();
    await scheduled(id, HOUR, other.send);
    const at = Date.parse((await show(admin, id)).scheduled_at ?? '');
    expect(at).to.be.within(before + HOUR, Date.now() + HOUR);
    await look(id);
    expect(await note('articles')).to.not.equal(text);
    // Each process checks the clock regularly, because it may have been set.
    await clock.set('61 minutes');
    await becomes(id, 'applied');
    expect(await note('articles')).to.equal(text);
    expect(await types(id)).to.deep.equal([
      'change.opened',
      'change.approved',
      'change.scheduled',
      'change.commented',
      'change.applied',
    ]);
    const { result, scheduled_at } = await show(admin, id);
    expect(scheduled_at).to.equal(null);
    const batch = dataOf<{ type: string; actor: { id: string } }[]>(
      await admin(`/history/events?batch=${result?.batch}`),
    );
    expect(batch.map(({ type, actor }) => [type, actor.id])).to.deep.equal([
      ['collection.updated', other.id],
      ['change.applied', other.id],
    ]);
    // By the clock, the request is not due yet.
    await jump('-2 days', id);
    await jump('2 days', id);
    expect((await types(id)).filter((type) => type === 'change.applied')).to.have.length(1);
  });

  it("follow the database's clock, regardless of the machine's clock", async () => {
    const { id } = await proposed();
    await clock.set('-1 hour');
    await scheduled(id, 1_000);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await look(id);
    expect(await stateOf(id)).to.equal('scheduled');
    await clock.set('0');
    await becomes(id, 'applied');
  });

  it('need a time in the future or just passed', async () => {
    const { id } = await proposed();
    const extremes = ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-12:00'];
    for (const wrong of ['2020-01-01T00:00:00Z', inTime(-HOUR), inTime(367 * 24 * HOUR), ...extremes])
      expect(rejectionOf(await admin(`/changes/${id}/apply`, json({ at: wrong }))), wrong).to.equal(
        '400 INVALID_PAYLOAD',
      );
    for (const wrong of ['soon', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', null, 7, ''])
      expect(rejectionOf(await admin(`/changes/${id}/apply`, json({ at: wrong }))), String(wrong)).to.equal(
        '400 INVALID_PAYLOAD',
      );
    const [error] = ((await at(id, -HOUR)).json as { errors: { extensions: object }[] }).errors;
    expect(error?.extensions).to.deep.include({ path: 'at' });
    expect(await stateOf(id)).to.equal('approved');
    await scheduled(id, -30_000);
    await becomes(id, 'applied');
  });

  it('are no longer scheduled after an update, rejection, withdrawal or apply', async () => {
    const { id } = await proposed();
    await scheduled(id, HOUR);
    expect(dataOf(await admin(`/changes/${id}`, json({ title: 'Much later' }, 'PATCH')))).to.deep.include({
      state: 'approved',
      scheduled_at: null,
    });
    await scheduled(id, HOUR);
    await scheduled(id, 2 * HOUR);
    const diff = await diffOf(admin, noted('articles', `note ${++notes}`));
    expect(dataOf(await admin(`/changes/${id}`, json({ diff }, 'PATCH')))).to.deep.include({ state: 'open' });
    await scheduled(id, HOUR);
    expect(dataOf(await other.send(`/changes/${id}/reject`, json({}))).state).to.equal('rejected');
    expect(rejectionOf(await at(id, HOUR))).to.equal('409 INVALID_STATE');
    expect(dataOf(await admin(`/changes/${id}`, json({ title: 'Please' }, 'PATCH'))).state).to.equal('open');
    await scheduled(id, HOUR);
    expect(dataOf(await admin(`/changes/${id}/apply`, { method: 'POST' })).state).to.equal('applied');
    const second = await proposed();
    await scheduled(second.id, HOUR);
    expect(dataOf(await admin(`/changes/${second.id}/withdraw`, { method: 'POST' })).state).to.equal('withdrawn');
    await jump('5 hours', second.id);
    expect(await note('articles')).to.equal(`note ${notes - 1}`);
    expect((await types(id)).filter((type) => type === 'change.applied')).to.have.length(1);
  });

  it('fail if they are stale by then, without changes', async () => {
    const { id } = await proposed(without('articles', 'body'));
    await scheduled(id, HOUR);
    await api.ok('PATCH', '/fields/articles/body', { meta: { note: 'still used' } });
    await jump('2 hours', id);
    await becomes(id, 'failed');
    expect(await errorsOf(id)).to.include('SCHEMA_CHANGED');
    // The comment of `jump` may come after it.
    const [last] = await api.sql(
      `SELECT type, command FROM service.service_events WHERE type <> 'change.commented' ORDER BY position DESC LIMIT 1`,
    );
    expect(last).to.deep.equal({ type: 'change.failed', command: 'apply-change' });
    expect((await admin('/fields/articles/body')).status).to.equal(200);
    const { allowed } = await show(admin, id);
    expect(allowed).to.include.members(['update', 'rebase', 'apply']);
    await admin(`/changes/${id}/withdraw`, { method: 'POST' });
  });

  it('fail if the policy then requires more approvals or rejects them', async () => {
    const approver = await newPerson(admin, 'approver', 'admin');
    const policy = { findings: { LOSES_DATA: 'approve' } };
    await api.ok('PUT', '/policy', policy);
    const opened = await open(admin, { title: 'Later', diff: await diffOf(admin, without('pages', 'body')) });
    const early = await at(opened.id, HOUR);
    expect(rejectionOf(early)).to.equal('422 POLICY_REFUSED');
    await api.ok('POST', `/changes/${opened.id}/comment`, { comment: 'approve it' });
    expect((await approver.send(`/changes/${opened.id}/approve`, json({ plan: opened.plan }))).status).to.equal(200);
    await scheduled(opened.id, HOUR);
    await api.ok('PATCH', `/users/${approver.id}`, { role: 'reader' });
    await jump('2 hours', opened.id);
    await becomes(opened.id, 'failed');
    expect(await errorsOf(opened.id)).to.include('POLICY_REFUSED');

    await clock.set('0');
    await api.ok('PUT', '/policy', {});
    await scheduled(opened.id, HOUR);
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
    await jump('2 hours', opened.id);
    await becomes(opened.id, 'failed');
    expect(await errorsOf(opened.id)).to.include('POLICY_REFUSED');
    expect((await admin('/fields/pages/body')).status).to.equal(200);
  });

  it('fail if the person who scheduled them is no longer an admin', async () => {
    const former = await newPerson(admin, 'former', 'admin');
    const { id } = await proposed();
    await scheduled(id, HOUR, former.send);
    await api.ok('PATCH', `/users/${former.id}`, { role: 'author' });
    await jump('2 hours', id);
    await becomes(id, 'failed');
    expect(await errorsOf(id)).to.deep.equal(['FORBIDDEN']);
  });

  it('are withdrawn or applied, as the response states, if both happen at the same time', async () => {
    for (let turn = 0; turn < 6; turn++) {
      const { id } = await proposed();
      const text = `note ${notes}`;
      await scheduled(id, 120);
      await new Promise((resolve) => setTimeout(resolve, 60 + 30 * turn));
      const answer = await admin(`/changes/${id}/withdraw`, { method: 'POST' });
      const applied = rejectionOf(answer) === '409 INVALID_STATE';
      if (!applied) expect(answer.status, answer.text).to.equal(200);
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect(await stateOf(id)).to.equal(applied ? 'applied' : 'withdrawn');
      expect((await note('articles')) === text).to.equal(applied);
    }
  });

  it('are prepared at their time, or wait prepared with their tables locked', async () => {
    const online = onlineOf(api);
    await online.large('orders', [column('number', 'integer'), column('code', 'integer')], 'number = i; code = i');
    const indexed = (field: string) =>
      api.ok<object>('GET', '/schema/snapshot').then(async (snapshot) => {
        const { fields } = snapshot as { fields: { collection: string; field: string; schema: object }[] };
        for (const each of fields)
          if (each.collection === 'orders' && each.field === field) each.schema = { ...each.schema, is_unique: true };
        const diff = await api.ok('POST', '/schema/diff', snapshot);
        return open(admin, { title: `unique ${field}`, diff, online: true });
      });
    const first = await indexed('number');
    await scheduled(first.id, HOUR);
    expect((await online.retrieve(first.id)).holds).to.deep.equal([]);
    await jump('2 hours', first.id);
    await online.ended(first.id, 'applied');
    const steps = (await types(first.id)).filter((type) => type !== 'change.commented');
    expect(steps).to.deep.equal([
      'change.opened',
      'change.scheduled',
      'change.preparing',
      'change.prepared',
      'change.applied',
    ]);

    await clock.set('0');
    const second = await indexed('code');
    await api.ok('POST', `/changes/${second.id}/prepare`);
    await becomes(second.id, 'prepared');
    await scheduled(second.id, HOUR);
    await look(second.id);
    expect((await online.retrieve(second.id)).holds).to.deep.equal(['orders']);
    expect(rejectionOf(await admin('/fields/orders/code', { method: 'DELETE' }))).to.equal('409 IN_USE');
    // Prepared objects are removed when the request is no longer scheduled.
    await api.ok('PATCH', `/changes/${second.id}`, { title: 'Not yet' });
    await until('nothing is left', async () => (await online.leftBehind()).length === 0);
    await api.ok('POST', `/changes/${second.id}/prepare`);
    await becomes(second.id, 'prepared');
    await scheduled(second.id, HOUR);
    await jump('2 hours', second.id);
    await online.ended(second.id, 'applied');
    expect(await online.leftBehind()).to.deep.equal([]);
  });
});
