import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { ERASED_AT_ONCE } from '../../../src/features/accounts/erase.js';
import { advisoryKey } from '../../../src/postgres/locked-session.js';
import { erasureSubject, type LogEvent } from '../../../src/schema/model/events.js';
import { ACKNOWLEDGED, append } from '../../support/append.js';
import { eventHash } from '../../support/event-hash.js';
import { json, type Client } from '../../support/client.js';
import { dps } from '../../support/dps.js';
import { createDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';
import { tamper } from '../../support/tamper.js';
import { withService } from '../../support/with-service.js';
import { dataOf, diffOf, newPerson, noted, open, rejectionOf, show } from '../change-requests/people.js';

interface Event {
  position: number;
  type: string;
  actor: { id: string; name: string | null };
  subject?: { kind: string; id: string };
  data: { positions: [number, number][] };
  reason: string | null;
  ip: string | null;
  user_agent: string | null;
  salt: string | null;
  commitment: string;
  hash: string;
}

interface Erasure {
  user: string;
  deleted: boolean;
  erased: number;
}

const ARTICLES = {
  collection: 'articles',
  schema: {},
  fields: ['title', 'body'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} })),
};

/** The agent and reason of a person, which must not remain anywhere. */
const AGENT = 'mallory-browser/1.0';
const REASON = 'because Mallory likes it';

describe('an erased person', () => {
  const {
    client: admin,
    service,
    api,
  } = withService({
    each: true,
    consistent: true,
    // Many changes wait for each other.
    settings: { LOCK_TIMEOUT: '60s' },
  });
  let directory: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dps-erase-test-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));
  beforeEach(() => api.ok('POST', '/collections', ARTICLES));

  const settings = () => ({ DATABASE_URL: service.databaseUrl, USER: 'bob' });
  const erase = async (id: string): Promise<Erasure> =>
    dataOf<Erasure>(await admin(`/users/${id}?erase`, { method: 'DELETE' }));
  const change = async (send: Client, note: string): Promise<void> => {
    const body = json({ meta: { note } }, 'PATCH');
    const headers = { ...body.headers, 'user-agent': AGENT, 'x-reason': REASON };
    const reply = await send('/collections/articles', { ...body, headers });
    expect(reply.status, reply.text).to.equal(200);
  };
  const events = async (query = ''): Promise<Event[]> =>
    dataOf<Event[]>(await admin(`/history/events?limit=1000${query}`));
  const ofActor = async (id: string): Promise<Event[]> => events(`&actor=${id}`);
  const exported = async (): Promise<string> => (await admin('/history/export')).text;
  const verified = async (): Promise<{ ok: boolean; erased: number; broken: { position: number } | null }> =>
    dataOf(await admin('/history/verify'));
  const fileOf = async (text: string): Promise<string> => {
    const file = join(directory, `${Math.random()}.ndjson`);
    await writeFile(file, text);
    return file;
  };
  /** All rows of all tables of the service as text. */
  const stored = async (): Promise<string> => {
    const tables = await api.sql<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'service' ORDER BY 1`,
    );
    const texts = await Promise.all(
      tables.map(({ name }) => api.sql<{ row: string }>(`SELECT t::text AS row FROM service.${name} t`)),
    );
    return texts
      .flat()
      .map(({ row }) => row)
      .join('\n');
  };

  it('leaves the ids of the events, and neither name, address, reason nor user agent in any table', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    await api.ok('PATCH', '/collections/articles', { meta: { note: 'by the admin' } });
    await change(mallory.send, 'second');
    const key = { 'idempotency-key': 'k1', 'user-agent': AGENT };
    await mallory.send('/collections/articles', {
      ...json({ meta: { note: 'third' } }, 'PATCH'),
      headers: { 'content-type': 'application/json', ...key },
    });
    const opened = await open(mallory.send, { title: 'A title', diff: await diffOf(admin, noted('articles', 'four')) });
    const before = await ofActor(mallory.id);
    expect(before.map(({ actor }) => actor.name)).to.deep.equal(before.map(() => 'mallory'));
    const text = await stored();
    for (const personal of ['mallory@example.com', '"mallory"', AGENT, REASON]) expect(text).to.contain(personal);
    const hashes = (await events()).map(({ hash }) => hash);

    expect(await erase(mallory.id)).to.deep.equal({ user: mallory.id, deleted: true, erased: before.length });

    const after = await ofActor(mallory.id);
    for (const [index, event] of after.entries()) {
      const { position, commitment } = before[index] ?? {};
      const actor = { id: mallory.id, name: null };
      expect(event).to.deep.include({
        position,
        commitment,
        actor,
        reason: null,
        ip: null,
        user_agent: null,
        salt: null,
      });
    }
    const all = await events();
    expect(all.slice(0, hashes.length).map(({ hash }) => hash)).to.deep.equal(hashes);
    const [deleted, erased] = all.slice(hashes.length);
    expect(deleted).to.deep.include({ type: 'account.deleted', subject: { kind: 'user', id: mallory.id } });
    expect(erased).to.deep.include({ type: 'log.erased', subject: { kind: 'erasure', id: mallory.id } });
    const positions = erased?.data.positions.flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index),
    );
    expect(positions).to.deep.equal(before.map(({ position }) => position));
    expect(all).to.have.length(hashes.length + 2);
    const remains = (await stored()).toLowerCase();
    for (const personal of ['mallory@example.com', '"mallory"', AGENT, REASON])
      expect(remains).not.to.contain(personal.toLowerCase());
    expect((await show(admin, opened.id)).author).to.deep.equal({ id: mallory.id, name: null });
    expect(await verified()).to.include({ ok: true, erased: before.length });
    expect(await mallory.send('/collections')).to.include({ status: 401 });
    for (const path of [
      '/history/batches',
      '/history/collections/articles',
      '/history/export',
      `/changes/${opened.id}`,
    ])
      expect((await admin(path)).text.toLowerCase(), path).not.to.contain('mallory');
    const output = await dps(['history'], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    expect(output.out).to.contain(`erased user ${mallory.id.slice(0, 8)}`);
  });

  it('is found again, and the second erasure reports that nothing is left and appends nothing', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    await erase(mallory.id);
    const head = await api.head();
    expect(await erase(mallory.id)).to.deep.equal({ user: mallory.id, deleted: false, erased: 0 });
    const again = await dps(['users', 'erase', mallory.id], settings());
    expect([again.code, again.out]).to.deep.equal([1, `the log has no personal data of ${mallory.id}`]);
    const unknown = await dps(['users', 'erase', 'mallory@example.com'], settings());
    expect([unknown.code, unknown.out]).to.deep.equal([1, 'No current or deleted user matches "mallory@example.com".']);
    expect(await api.head()).to.equal(head);
  });

  it('can be a deleted account, found by its e-mail address in any case', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    await api.ok('DELETE', `/users/${mallory.id}`);
    const login = { email: 'mallory@example.com', role: 'author' };
    const { data: namesake } = await api.ok<{ data: { id: string } }>('POST', '/users', login);
    const count = (await ofActor(mallory.id)).length;
    expect(count).to.be.greaterThan(1);
    const ran = await dps(['users', 'erase', 'Mallory@Example.com', '--json'], settings());
    expect(ran.code, ran.err).to.equal(0);
    expect(JSON.parse(ran.out)).to.deep.equal([
      { user: namesake.id, deleted: true, erased: 0 },
      { user: mallory.id, deleted: false, erased: count },
    ]);
    expect((await ofActor(mallory.id)).every(({ salt }) => salt === null)).to.equal(true);
    expect(await api.sql('SELECT FROM service.service_former_users')).to.deep.equal([]);
    expect(await verified()).to.include({ ok: true, erased: count });
  });

  it('must exist and must not be the last admin, and only admins can erase', async () => {
    const { id } = dataOf<{ id: string }>(await admin('/users/me'));
    await api.refused({ status: 409, code: 'IN_USE' }, 'DELETE', `/users/${id}?erase`);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', `/users/${crypto.randomUUID()}?erase`);
    await api.refused({ status: 404, code: 'NOT_FOUND' }, 'DELETE', '/users/mallory?erase');
    await api.refused({ status: 400, code: 'INVALID_QUERY', at: 'erase' }, 'DELETE', `/users/${id}?erase=maybe`);
    for (const role of ['auditor', 'author', 'reader']) {
      const person = await newPerson(admin, role, role);
      const head = await api.head();
      expect(rejectionOf(await person.send(`/users/${id}?erase`, { method: 'DELETE' }))).to.equal('403 FORBIDDEN');
      expect(await api.head()).to.equal(head);
    }
    const ran = await dps(['users', 'erase', 'admin@example.com'], settings());
    expect([ran.code, ran.err]).to.deep.equal([2, 'This is the last active admin. Make another user an admin first.']);
    const none = await dps(['users', 'erase'], settings());
    expect([none.code, none.err.slice(0, 30)]).to.deep.equal([2, 'Name a user, or an --operator.']);
  });

  it('can erase themselves, which removes their data too', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    const headers = { 'x-reason': REASON, 'user-agent': AGENT };
    const reply = await mallory.send(`/users/${mallory.id}?erase`, { method: 'DELETE', headers });
    expect(reply.status, reply.text).to.equal(200);
    const own = await ofActor(mallory.id);
    expect(own.slice(-2).map(({ type }) => type)).to.deep.equal(['account.deleted', 'log.erased']);
    expect(own.every(({ actor, reason }) => actor.name === null && reason === null)).to.equal(true);
    expect(await stored()).not.to.contain(AGENT);
    expect(await erase(mallory.id)).to.include({ erased: 0 });
    expect(await verified()).to.include({ ok: true });
  });

  it('can be an operator of the command line, without any effect on other operators', async () => {
    await dps(['users', 'add', 'a@example.com', '--role', 'reader', '--no-password'], settings());
    await dps(['users', 'remove', 'a@example.com'], { ...settings(), USER: 'eve' });
    const ran = await dps(['users', 'erase', '--operator', 'bob'], { ...settings(), USER: 'eve' });
    expect(ran.code, ran.err).to.equal(0);
    expect(ran.out).to.match(/^erased the personal data of dps from \d+ events?$/);
    const names = (await ofActor('dps')).map(({ actor }) => actor.name);
    expect(new Set(names)).to.deep.equal(new Set([null, 'eve (dps)']));
    expect(await verified()).to.include({ ok: true });
    expect((await dps(['users', 'erase', '--operator', 'bob'], { ...settings(), USER: 'eve' })).code).to.equal(1);
  });

  it('still counts as the author of a change request, which others must approve', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    const trudy = await newPerson(admin, 'trudy', 'admin');
    const { id, plan } = await open(mallory.send, {
      title: 'A note',
      diff: await diffOf(admin, noted('articles', 'n')),
    });
    await mallory.send(`/changes/${id}/approve`, json({ plan }));
    await trudy.send(`/changes/${id}/approve`, json({ plan }));
    await api.ok('PUT', '/policy', { author_may_approve: false, findings: { LOSES_DATA: 'approve' } });
    await erase(mallory.id);
    await erase(trudy.id);
    const { author, proposal } = await show(admin, id);
    expect(author).to.deep.equal({ id: mallory.id, name: null });
    expect(proposal.authors).to.deep.equal([{ id: mallory.id, name: null }]);
    const [first, second] = proposal.approvals.toSorted((a) => (a.by.id === mallory.id ? -1 : 1));
    expect([first?.by, first?.counts]).to.deep.equal([{ id: mallory.id, name: null }, false]);
    // She is no longer an admin.
    expect([second?.by, second?.counts]).to.deep.equal([{ id: trudy.id, name: null }, false]);
    const approved = await admin(`/changes/${id}/approve`, json({ plan }));
    expect(approved.status, approved.text).to.equal(200);
    expect((await admin(`/changes/${id}/apply`, { method: 'POST' })).status).to.equal(200);
    const { out } = await dps(['changes'], { DPS_URL: service.url, DPS_TOKEN: service.adminToken });
    expect(out).to.contain(`erased user ${mallory.id.slice(0, 8)}`);
  });

  it('is verified offline, and an export from before still belongs to the log', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    const earlier = await fileOf(await exported());
    await erase(mallory.id);
    const later = await fileOf(await exported());
    for (const file of [earlier, later]) {
      const against = ['--against', service.url];
      const ran = await dps(['verify', '--file', file, ...against], { DPS_TOKEN: service.adminToken });
      expect(ran.code, ran.out + ran.err).to.equal(0);
      expect(ran.out).to.contain('has the same events');
    }
    const { length } = await ofActor(mallory.id);
    const { out } = await dps(['verify', '--file', later], {});
    expect(out).to.contain(` Personal data was erased from ${length} events.`);
    const altered = await fileOf((await exported()).replace('"reason":null', '"reason":"x"'));
    const ran = await dps(['verify', '--file', altered, '--against', service.url], { DPS_TOKEN: service.adminToken });
    expect(ran.code).to.equal(1);
    expect(ran.out).to.contain('broken at position 1: its actor, reason, address, user agent or salt does not match');
    expect(ran.out).to.contain('differs at position 1: the service has a different event');
    // Without the last event, nothing names the erased ones.
    const [first] = await ofActor(mallory.id);
    const cut = (await exported()).trimEnd().split('\n').slice(0, -1).join('\n');
    const shortened = await dps(['verify', '--file', await fileOf(`${cut}\n`)], {});
    expect(shortened.out).to.contain(`broken at position ${first?.position}: its personal data is missing`);
  });

  it('stays erased in a backup and in a restored log, which are verified', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    await erase(mallory.id);
    const { length } = await ofActor(mallory.id);
    const file = await fileOf(await exported());
    const backup = join(directory, 'erased.backup');
    expect((await dps(['backup', backup], settings())).code).to.equal(0);
    for (const args of [
      ['--file', file],
      ['--backup', backup],
    ]) {
      const database = await createDatabase();
      const environment = { DATABASE_URL: database.connectionString };
      const restored = await dps(['restore', ...args], environment);
      expect(restored.code, restored.out + restored.err).to.equal(0);
      const checked = await dps(['verify'], environment);
      expect(checked.out).to.contain(`Personal data was erased from ${length} events.`);
      expect(checked.code, checked.out).to.equal(0);
      await database.drop();
    }
    const [first] = await ofActor(mallory.id);
    const cut = (await exported()).trimEnd().split('\n').slice(0, -1).join('\n');
    const database = await createDatabase();
    const ran = await dps(['restore', '--file', await fileOf(`${cut}\n`)], { DATABASE_URL: database.connectionString });
    expect(ran.code).to.equal(2);
    expect(ran.err).to.contain(`broken at position ${first?.position}: its personal data is missing`);
    await database.drop();
  });

  it('ends a rebuild into another database that copies the log in the meantime', async () => {
    const person = await newPerson(admin, 'mallory', 'admin');
    await change(person.send, 'before');
    const target = await createDatabase();
    const holder = new pg.Client(target.connectionString);
    await holder.connect();
    try {
      const location = { database: holder.database ?? '', schema: 'public' };
      await holder.query('SELECT pg_advisory_lock($1)', [advisoryKey(location, 'migrations')]);
      const rebuilding = dps(['rebuild', 'tables', '--into', target.connectionString], settings());
      await until('the rebuild waits before it copies the log', async () => {
        const waiting = await holder.query(`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
        return waiting.rowCount !== 0;
      });
      await erase(person.id);
      await holder.query('SELECT pg_advisory_unlock_all()');
      const { code, err } = await rebuilding;
      expect(code, err).to.equal(2);
      expect(err).to.contain('Personal data was erased while the log was copied');
      const { rows } = await holder.query(`SELECT key FROM service.service_settings WHERE key = 'restoring'`);
      expect(rows).to.have.length(1);
    } finally {
      await holder.end();
      await target.drop();
    }
  });

  it('is erased in parts of bounded size, each with an event that names its positions', async () => {
    const body = { email: 'mallory@example.com', role: 'reader' };
    const { id } = (await api.ok<{ data: { id: string } }>('POST', '/users', body)).data;
    const actor = { id, name: 'Mallory' };
    const many = Array.from({ length: ERASED_AT_ONCE + 10 }, () => ACKNOWLEDGED);
    for (const cause of [{ actor, reason: REASON }, { reason: 'of someone else' }, { actor, ip: '192.0.2.7' }])
      await append(service.databaseUrl, cause.ip === undefined ? many : [ACKNOWLEDGED], cause);
    expect(await erase(id)).to.deep.equal({ user: id, deleted: true, erased: many.length + 1 });
    const named = (await events('&type=log.erased')).map(({ data }) => data.positions);
    const start = named[0]?.[0]?.[0] ?? 0;
    const end = start + many.length;
    expect(named).to.deep.equal([
      [[start, start + ERASED_AT_ONCE - 1]],
      [
        [start + ERASED_AT_ONCE, end - 1],
        [end + many.length, end + many.length],
      ],
    ]);
    expect(await verified()).to.include({ ok: true, erased: many.length + 1 });
  });

  it('is erased completely or not at all in each event that is appended in the meantime', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    const notes = Array.from({ length: 30 }, (_, index) => `note ${index}`);
    const changes = notes.map((note) => mallory.send('/collections/articles', json({ meta: { note } }, 'PATCH')));
    const erasures = [0, 1, 2].map(() => erase(mallory.id));
    const exports = [exported(), exported()];
    for (const { status } of await Promise.all(changes)) expect(status).to.be.oneOf([200, 401]);
    const counts = (await Promise.all(erasures)).map(({ erased }) => erased);
    for (const text of await Promise.all(exports)) {
      const ran = await dps(['verify', '--file', await fileOf(text)], {});
      expect(ran.code, ran.out).to.equal(0);
    }
    const own = await ofActor(mallory.id);
    for (const { actor, ip, user_agent: agent, salt } of own)
      expect(new Set([actor.name, ip, agent, salt].map((value) => value === null)).size).to.equal(1);
    const erased = own.filter(({ salt }) => salt === null).length;
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(erased);
    expect(await verified()).to.include({ ok: true, erased });
    await erase(mallory.id);
    expect((await ofActor(mallory.id)).every(({ salt }) => salt === null)).to.equal(true);
  });

  it('is reported by position if values are missing, altered or named by a forged event', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    const position = (await ofActor(mallory.id)).at(-1)?.position ?? 0;
    const report = async (): Promise<[number | undefined, string]> => {
      const { code, out } = await dps(['verify'], settings());
      const { ok, broken } = await verified();
      expect([code, ok]).to.deep.equal([1, false]);
      return [broken?.position, out.split('\n')[0] ?? ''];
    };
    const set = (sql: string, at: number) =>
      tamper(service.databaseUrl, (client) =>
        client.query(`UPDATE service.service_events SET ${sql} WHERE position = $1`, [at]),
      );
    const saved = await api.sql<Event>(
      'SELECT actor, reason, ip, user_agent, salt, commitment FROM service.service_events WHERE position = $1',
      [position],
    );
    const restore = () =>
      tamper(service.databaseUrl, (client) => {
        const { actor, reason, ip, user_agent: agent, salt, commitment } = saved[0] as Event;
        const text =
          'UPDATE service.service_events SET actor = $2, reason = $3, ip = $4, user_agent = $5, salt = $6, commitment = $7 WHERE position = $1';
        return client.query(text, [position, JSON.stringify(actor), reason, ip, agent, salt, commitment]);
      });
    const ALTERED = /its actor, reason, address, user agent or salt does not match its commitment/;
    const MISSING = /its personal data is missing, and no log\.erased event names it/;
    const erasedSql = `actor = jsonb_build_object('id', actor -> 'id', 'name', NULL), reason = NULL, ip = NULL, user_agent = NULL, salt = NULL`;
    const cases: [string, RegExp][] = [
      [`reason = 'another'`, ALTERED],
      [`reason = NULL`, ALTERED],
      [`actor = jsonb_set(actor, '{name}', '"Eve"')`, ALTERED],
      [`ip = '192.0.2.1'`, ALTERED],
      [`user_agent = NULL`, ALTERED],
      [`salt = repeat('0', 32)`, ALTERED],
      ['salt = NULL', ALTERED],
      [erasedSql, MISSING],
      [`actor = jsonb_set(actor, '{id}', '"other"')`, /its hash does not match its content/],
      [`commitment = repeat('0', 64)`, /its hash does not match its content/],
    ];
    for (const [sql, reason] of cases) {
      await set(sql, position);
      const [at, line] = await report();
      expect(at, sql).to.equal(position);
      expect(line, sql).to.match(reason);
      await restore();
    }
    expect(await verified()).to.include({ ok: true, erased: 0 });
  });

  it('is not covered by an event that names positions of other people', async () => {
    const mallory = await newPerson(admin, 'mallory', 'admin');
    await change(mallory.send, 'first');
    const position = (await ofActor(mallory.id)).at(-1)?.position ?? 0;
    const { id } = dataOf<{ id: string }>(await admin('/users/me'));
    const forged: LogEvent = {
      type: 'log.erased',
      version: 1,
      collection: null,
      field: null,
      subject: erasureSubject(id),
      data: { positions: [[1, position]] },
    };
    await append(service.databaseUrl, [forged]);
    expect(await verified()).to.include({ ok: true, erased: 0 });
    await erase(mallory.id);
    expect(await verified()).to.include({ ok: true });
    // The real one is altered to name less, with and without a matching hash.
    const all = await events();
    const { position: last = 0 } = all.at(-1) ?? {};
    await tamper(service.databaseUrl, (client) =>
      client.query(`UPDATE service.service_events SET data = '{"positions":[]}' WHERE position = $1`, [last]),
    );
    expect((await verified()).broken?.position).to.equal(last);
    await tamper(service.databaseUrl, async (client) => {
      const hash = eventHash({ ...all.at(-1), data: { positions: [] } } as unknown as Parameters<typeof eventHash>[0]);
      await client.query('UPDATE service.service_events SET hash = $2 WHERE position = $1', [last, hash]);
    });
    const { broken } = await verified();
    expect(broken?.position).to.equal((await ofActor(mallory.id))[0]?.position);
    await tamper(service.databaseUrl, async (client) => {
      const { data, hash } = all.at(-1) as Event;
      const text = 'UPDATE service.service_events SET hash = $2, data = $3 WHERE position = $1';
      await client.query(text, [last, hash, JSON.stringify(data)]);
    });
  });
});
