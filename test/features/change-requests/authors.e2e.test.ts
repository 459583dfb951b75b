import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import pg from 'pg';
import { advisoryKey } from '../../../src/postgres/locked-session.js';
import { json } from '../../support/client.js';
import { until } from '../../support/until.js';
import { withService } from '../../support/with-service.js';
import { type Person, dataOf, diffOf, newPerson, noted, open, rejectionOf, without } from './people.js';

interface Heard {
  position: number;
  type: string;
  subject: { kind: string; id: string };
  actor: { name: string };
  ip: string | null;
  user_agent: string | null;
}

const FIELDS = ['title', 'body'].map((field) => ({ field, type: 'string', interface: 'input', schema: {} }));

describe('authors', () => {
  const { client: admin, service, api } = withService({ consistent: true });
  let author: Person;
  let auditor: Person;
  let reader: Person;

  before(async () => {
    for (const collection of ['articles', 'pages'])
      expect((await admin('/collections', json({ collection, schema: {}, fields: FIELDS }))).status).to.equal(200);
    author = await newPerson(admin, 'author', 'author');
    auditor = await newPerson(admin, 'auditor', 'auditor');
    reader = await newPerson(admin, 'reader', 'reader');
  });

  it("see the plan of a diff with the policy's findings, and nothing runs", async () => {
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'approve' } });
    const diff = await diffOf(admin, without('articles', 'body'));
    const head = await api.head();
    const reported = await author.send('/schema/apply?explain', json(diff));
    expect(reported.status, reported.text).to.equal(200);
    const plan = reported.json as {
      accepted: null;
      warnings: { code: string; action: string }[];
      statements: object[];
    };
    expect(plan.accepted).to.equal(null);
    expect(plan.warnings).to.deep.include.members([plan.warnings.find(({ code }) => code === 'LOSES_DATA')]);
    expect(plan.warnings.find(({ code }) => code === 'LOSES_DATA')?.action).to.equal('approve');
    expect(plan.statements).to.not.have.length(0);
    expect(await api.head()).to.equal(head);
    await api.ok('PUT', '/policy', {});
  });

  it('see the plan during concurrent changes, because a plan takes no blocking lock', async () => {
    const diff = await diffOf(admin, without('articles', 'body'));
    const session = new pg.Client(service.databaseUrl);
    await session.connect();
    try {
      const database = new URL(service.databaseUrl).pathname.slice(1);
      await session.query('BEGIN');
      await session.query('SELECT pg_advisory_xact_lock($1)', [advisoryKey({ database, schema: 'public' }, 'log')]);
      const reported = await author.send('/schema/apply?explain', json(diff));
      expect(reported.status, reported.text).to.equal(200);
      const { rows } = await session.query('SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = $1', [
        'advisory',
      ]);
      expect(rows).to.have.length(1);
    } finally {
      await session.end();
    }
  });

  it('cannot apply or dry-run, and are rejected before the body is read', async () => {
    const diff = await diffOf(admin, without('articles', 'body'));
    const head = await api.head();
    for (const mode of ['', '?dry_run', '?explain=false', '?online', '?purge', '?dry_run&explain=0']) {
      const { status, codes, text } = await author.send(`/schema/apply${mode}`, json(diff));
      expect([status, ...codes], mode).to.deep.equal([403, 'FORBIDDEN']);
      expect(text).to.include('This request requires the role admin without `explain`, and your role is author.');
    }
    const unread = { method: 'POST', body: 'nonsense', headers: { 'content-type': 'text/plain' } };
    expect((await author.send('/schema/apply', unread)).status).to.equal(403);
    for (const { send } of [auditor, reader])
      expect((await send('/schema/apply?explain', json(diff))).status).to.equal(403);
    expect(await api.head()).to.equal(head);
  });

  it('read past schemas and diffs, but not actors and sources', async () => {
    const position = await api.head();
    for (const path of [`/history/diff?to=${position - 1}`, `/history/snapshot?at=${position - 1}`]) {
      expect((await author.send(path)).status, path).to.equal(200);
      expect((await auditor.send(path)).status, path).to.equal(200);
      expect(rejectionOf(await reader.send(path)), path).to.equal('403 FORBIDDEN');
    }
    for (const path of ['events', 'batches', 'changes', 'schema', 'export', 'verify', 'events/1'])
      expect(rejectionOf(await author.send(`/history/${path}`)), path).to.equal('403 FORBIDDEN');
  });

  it('wait for no one, and admins are asked to approve the current plan', async () => {
    const waiting = async (send: Person['send']): Promise<string[]> =>
      dataOf<{ id: string }[]>(await send('/changes?to_approve')).map(({ id }) => id);
    const other = await newPerson(admin, 'second', 'admin');
    const { id, plan } = await open(author.send, { title: 'Wait', diff: await diffOf(admin, noted('pages', 'wait')) });
    const own = await open(other.send, { title: 'Mine', diff: await diffOf(admin, noted('articles', 'mine')) });
    expect(await waiting(author.send)).to.deep.equal([]);
    expect(await waiting(auditor.send)).to.deep.equal([]);
    expect(await waiting(other.send)).to.deep.equal([own.id, id]);
    await api.ok('PUT', '/policy', { author_may_approve: false, approvals: 2, findings: { LOSES_DATA: 'approve' } });
    expect(await waiting(other.send)).to.deep.equal([id]);
    expect((await other.send(`/changes/${id}/approve`, json({ plan }))).status).to.equal(200);
    expect(await waiting(other.send)).to.deep.equal([]);
    expect(await waiting(admin)).to.deep.equal([own.id, id]);
    // The request now has another diff, which nobody approved.
    const diff = await diffOf(admin, noted('pages', 'wait longer'));
    expect((await author.send(`/changes/${id}`, json({ diff }, 'PATCH'))).status).to.equal(200);
    expect(await waiting(other.send)).to.deep.equal([id]);
    const counted = await other.send('/changes?to_approve&limit=0&meta=filter_count');
    expect(counted.json).to.deep.equal({ data: [], meta: { filter_count: 1 } });
    for (const each of [id, own.id]) await admin(`/changes/${each}/withdraw`, { method: 'POST' });
    expect(await waiting(other.send)).to.deep.equal([]);
    await api.ok('PUT', '/policy', {});
  });

  async function listen(token: string, query: string) {
    const pending = request(`${service.url}/history/stream${query}`, { headers: { authorization: `Bearer ${token}` } });
    pending.end();
    const [response] = (await once(pending, 'response')) as [IncomingMessage];
    const heard: Heard[] = [];
    const ids: string[] = [];
    let rest = '';
    response.setEncoding('utf8');
    response.on('error', () => undefined);
    response.on('data', (chunk: string) => {
      const frames = (rest + chunk).split('\n\n');
      rest = frames.pop() ?? '';
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        ids.push(...(/^id: (\d+)-/m.exec(frame)?.slice(1) ?? []));
        if (data !== undefined) heard.push(JSON.parse(data) as Heard);
      }
    });
    return { status: response.statusCode, heard, ids, close: () => pending.destroy() };
  }

  it('receive only change request events in the stream', async () => {
    for (const query of ['', '?subject=policy', '?subject=changes', '?subject=log:1'])
      expect((await listen(author.token, query)).status, query).to.equal(403);
    expect((await listen(reader.token, '?subject=change')).status).to.equal(403);
    const mine = await listen(author.token, '?subject=change');
    const theirs = await listen(auditor.token, '?subject=change');
    expect([mine.status, theirs.status]).to.deep.equal([200, 200]);

    const { id, plan } = await open(author.send, {
      title: 'Heard',
      diff: await diffOf(admin, noted('pages', 'heard')),
    });
    const only = await listen(author.token, `?subject=change:${id}`);
    await admin(`/changes/${id}/comment`, json({ comment: 'Why?' }));
    await admin(`/changes/${id}/reject`, json({}));
    await author.send(`/changes/${id}`, json({ title: 'Heard again' }, 'PATCH'));
    await admin(`/changes/${id}/approve`, json({ plan }));
    await admin(`/changes/${id}/apply`, json({ at: new Date(Date.now() + 3_600_000).toISOString() }));
    const other = await open(author.send, { title: 'Other', diff: await diffOf(admin, noted('articles', 'other')) });
    await author.send(`/changes/${other.id}/withdraw`, { method: 'POST' });
    await api.ok('PATCH', '/collections/articles', { meta: { note: 'no request' } });
    await admin(`/changes/${id}/apply`, json({}));
    const output = ['commented', 'rejected', 'updated', 'approved', 'scheduled', 'applied'].map(
      (each) => `change.${each}`,
    );
    await until('all of it was heard', () => only.heard.at(-1)?.type === 'change.applied');
    expect(only.heard.map(({ type }) => type)).to.deep.equal(output);
    const all = ['change.opened', ...output.slice(0, -1), 'change.opened', 'change.withdrawn', 'change.applied'];
    for (const { heard } of [mine, theirs]) {
      await until('all of both was heard', () => heard.length === all.length);
      expect(heard.map(({ type }) => type)).to.deep.equal(all);
    }
    expect(new Set(mine.heard.map(({ ip, user_agent: agent }) => ip ?? agent))).to.deep.equal(new Set([null]));
    expect(mine.heard[1]?.actor.name).to.not.equal('author');
    expect(theirs.heard[1]?.ip).to.be.a('string');
    for (const each of [mine, theirs, only]) each.close();

    // Missed events are sent after a reconnect.
    const again = await listen(author.token, `?subject=change&after=${mine.heard[0]?.position}`);
    await until('what was missed was heard', () => again.heard.length === all.length - 1);
    again.close();
    expect(dataOf(await author.send(`/changes/${id}`))).to.include({ state: 'applied' });
  });

  it('resume the stream after events that are hidden from them', async () => {
    const { heard, ids, close } = await listen(author.token, '?subject=change');
    try {
      expect((await admin('/collections', json({ collection: 'beside', schema: {} }))).status).to.equal(200);
      const head = String(await api.head());
      await until('the stream names the place', () => Promise.resolve(ids.includes(head)));
      expect(heard).to.deep.equal([]);
    } finally {
      close();
    }
  });
});
