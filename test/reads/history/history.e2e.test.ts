import { expect } from 'chai';
import { withService } from '../../support/with-service.js';
import { json } from '../../support/client.js';

interface Event {
  position: number;
  type: string;
  collection: string;
  field: string | null;
  batch: string;
  actor: { id: string; name: string };
  occurred_at: string;
  diff?: { collections: { diff: { kind: string }[] }[]; fields: object[]; relations: object[] };
}

interface Page<T> {
  data: T[];
  meta: { next: number | null };
}

interface Batch extends Event {
  first_position: number;
  last_position: number;
  events: number;
  summary: string;
  reason: string | null;
  command: string;
}

/** Header bytes in UTF-8, as clients send them. */
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('the log over HTTP', () => {
  let tokens: Record<'auditor' | 'reader', string>;

  const { service, client: send } = withService();
  before(async () => {
    tokens = { auditor: await tokenFor('auditor'), reader: await tokenFor('reader') };
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    for (const collection of ['articles', 'authors', 'tags'])
      await post({ collection, schema: {}, fields }, 'we need it');
    await send('/collections/articles', json({ meta: { note: 'one' } }, 'PATCH'));
    await send(
      '/fields/articles',
      json({ field: 'author', type: 'integer', meta: { interface: 'input' }, schema: {} }),
    );
    await send('/relations', json({ many_collection: 'articles', many_field: 'author', one_collection: 'authors' }));
    await send('/collections/authors', { method: 'DELETE', headers: { 'x-reason': latin1('gone — für immer') } });
    await post({ collection: 'authors', schema: {} }, 'again');
  });

  const post = (body: object, reason: string) =>
    send('/collections', { ...json(body), headers: { 'content-type': 'application/json', 'x-reason': reason } });

  async function tokenFor(role: string): Promise<string> {
    const user = await send('/users', json({ email: `${role}@example.com`, name: `The ${role}`, role }));
    const { id } = (user.json as { data: { id: string } }).data;
    const token = await send(`/users/${id}/tokens`, json({ name: 'test' }));
    return (token.json as { data: { token: string } }).data.token;
  }

  async function get<T>(path: string): Promise<T> {
    const reply = await send(path, { token: tokens.auditor });
    expect(reply.status, reply.text).to.equal(200);
    return reply.json as T;
  }

  const events = (query = '') => get<Page<Event>>(`/history/events${query}`);
  const positionsOf = (page: Page<Event>) => page.data.map((event) => event.position);

  const PATHS = [
    'events',
    'events/1',
    'batches',
    'collections/articles',
    'snapshot',
    'diff',
    'verify',
    'export',
    'stream',
  ];

  it('is available to admins and auditors', async () => {
    for (const path of PATHS) {
      expect((await send(`/history/${path}`, { token: tokens.reader })).codes, path).to.deep.equal(['FORBIDDEN']);
      expect((await send(`/history/${path}`, { token: null })).codes, path).to.deep.equal(['UNAUTHENTICATED']);
      const post = await send(`/history/${path}`, { ...json({}), token: tokens.auditor });
      expect(post.codes, path).to.deep.equal(['METHOD_NOT_ALLOWED']);
      if (path === 'stream') continue;
      for (const token of [tokens.auditor, service.adminToken]) {
        expect((await send(`/history/${path}`, { token })).status, path).to.equal(200);
      }
      const head = await send(`/history/${path}`, { method: 'HEAD', token: tokens.auditor });
      expect([head.status, head.text], path).to.deep.equal([200, '']);
    }
  });

  it('rejects unknown and malformed parameters', async () => {
    const wrong = [
      ...PATHS.map((path) => `${path}?surprise=1`),
      ...['limit=0', 'limit=1001', 'limit=x', 'order=up', 'type=nothing', 'batch=1', 'since=soon', 'after=-1'].map(
        (query) => `events?${query}`,
      ),
      ...['2026-13-01', '2026-02-30', '2026-11-21T08:00:00', '-1', '1.5', '', '3026-01-01', 'yesterday'].map(
        (moment) => `snapshot?at=${moment}`,
      ),
      'snapshot?export=pdf',
      'diff?from=later',
      'events/first',
    ];
    for (const path of wrong) {
      const reply = await send(`/history/${path}`);
      expect([reply.status, reply.codes], path).to.deep.equal([400, ['INVALID_QUERY']]);
    }
    for (const path of ['events/0', 'events/9999', 'snapshot?at=9999', 'diff?to=9999', 'collections/never']) {
      expect((await send(`/history/${path}`)).codes, path).to.deep.equal(['NOT_FOUND']);
    }
    expect((await send('/history/stream', { headers: { 'last-event-id': 'x' } })).codes).to.deep.equal([
      'INVALID_QUERY',
    ]);
    expect((await send('/history/stream', { headers: { 'last-event-id': '999' } })).codes).to.deep.equal(['NOT_FOUND']);
  });

  it('lists events in order, in pages, in both directions', async () => {
    const all = positionsOf(await events());
    expect(all).to.deep.equal(all.map((_, index) => index + 1));
    for (const order of ['asc', 'desc']) {
      const seen: number[] = [];
      let after = '';
      for (;;) {
        const page = await events(`?limit=3&order=${order}${after}`);
        seen.push(...positionsOf(page));
        if (page.meta.next === null) break;
        after = `&after=${page.meta.next}`;
      }
      expect(seen).to.deep.equal(order === 'asc' ? all : [...all].reverse());
    }
  });

  it('ends after a full last page', async () => {
    const nextOf = async (path: string, limit: number) =>
      ((await send(`/history/${path}limit=${limit}`)).json as { meta: { next: number | null } }).meta.next;
    const lengthOf = async (path: string) =>
      ((await send(`/history/${path}limit=1000`)).json as { data: unknown[] }).data.length;
    for (const path of ['events?', 'events?order=desc&', 'batches?', 'collections/articles?']) {
      const length = await lengthOf(path);
      expect(length, path).to.be.within(2, 999);
      expect(await nextOf(path, length), path).to.equal(null);
      expect(await nextOf(path, length - 1), path).to.be.a('number');
    }
  });

  it('filters by every event member', async () => {
    const all = (await events()).data;
    const first = all[0] as Event;
    const expectations: Record<string, (event: Event & { command?: string }) => boolean> = {
      'collection=articles': (event) => event.collection === 'articles',
      'field=author': (event) => event.field === 'author',
      'type=collection.deleted': (event) => event.type === 'collection.deleted',
      [`actor=${first.actor.id}`]: () => true,
      'actor=Admin': () => true,
      'actor=nobody': () => false,
      [`batch=${first.batch}`]: (event) => event.batch === first.batch,
      'command=create-relation': (event) => event.command === 'create-relation',
      'since=4': (event) => event.position >= 4,
      'until=4': (event) => event.position <= 4,
      'since=4&until=9&collection=articles': ({ position, collection }) =>
        position >= 4 && position <= 9 && collection === 'articles',
      [`since=${all[3]?.occurred_at}`]: (event) => event.occurred_at >= (all[3]?.occurred_at ?? ''),
      [`until=${all[3]?.occurred_at}`]: (event) => event.occurred_at <= (all[3]?.occurred_at ?? ''),
      'until=2026-01-01': () => false,
      'since=3026-01-01': () => false,
    };
    for (const [query, fits] of Object.entries(expectations)) {
      const expected = all.filter(fits).map((event) => event.position);
      expect(positionsOf(await events(`?${query}`)), query).to.deep.equal(expected);
      expect(positionsOf(await events(`?order=desc&${query}`)), query).to.deep.equal([...expected].reverse());
    }
  });

  it('keeps pages stable while others append', async () => {
    let writing = true;
    const writers = [1, 2, 3].map(async (writer) => {
      for (let number = 0; writing; number += 1) {
        const reply = await post({ collection: `w${writer}_${number}`, schema: null }, 'meanwhile');
        expect(reply.status).to.equal(200);
      }
    });
    const forth: number[] = [];
    const back: number[] = [];
    let after = 0;
    let before = '';
    while (forth.length < 60) {
      const page = await events(`?limit=7&after=${after}`);
      forth.push(...positionsOf(page));
      after = forth.at(-1) ?? 0;
      const previous: Page<Event> = await events(`?limit=7&order=desc${before}`);
      if (before === '' || previous.data.length > 0) back.push(...positionsOf(previous));
      before = `&after=${back.at(-1)}`;
    }
    writing = false;
    await Promise.all(writers);
    expect(forth).to.deep.equal(forth.map((_, index) => index + 1));
    expect(back).to.deep.equal(back.map((_, index) => (back[0] ?? 0) - index));
  });

  it('lists batches with actor, time, reason and summary', async () => {
    const { data } = await get<Page<Batch>>('/history/batches?until=20');
    expect(data.map((batch) => batch.first_position)).to.deep.equal(
      data.map((batch) => batch.first_position).sort((a, b) => b - a),
    );
    const deletion = data.find((batch) => batch.command === 'delete-collection') as Batch;
    expect(deletion).to.include({ reason: 'gone — für immer', events: 2 });
    expect(deletion.actor.name).to.equal('Admin');
    expect(deletion.summary).to.equal('deleted collection authors, deleted relation articles.author');
    const commandsOf = async (query: string) =>
      (await get<Page<Batch>>(`/history/batches?collection=authors&${query}`)).data.map(({ command }) => command);
    expect(await commandsOf('until=20')).to.deep.equal(['create-collection']);
    expect(await commandsOf(`until=${deletion.last_position}`)).to.deep.equal([
      'delete-collection',
      'create-collection',
    ]);
    const paged: Batch[] = [];
    for (let after: number | null | undefined; after !== null;) {
      const page: Page<Batch> = await get(`/history/batches?limit=2&until=20${after ? `&after=${after}` : ''}`);
      paged.push(...page.data);
      after = page.meta.next;
    }
    expect(paged).to.deep.equal(data);
  });

  it('returns the history of a collection, deleted and created again, with each change', async () => {
    const { data } = await get<Page<Event>>('/history/collections/authors');
    expect(data.map((event) => event.type)).to.deep.equal([
      'collection.created',
      'collection.deleted',
      'collection.created',
    ]);
    expect(data.map((event) => event.diff?.collections[0]?.diff[0]?.kind)).to.deep.equal(['N', 'D', 'N']);
    const history = await get<Page<Event>>('/history/collections/articles');
    const change = history.data.find((event) => event.type === 'collection.updated');
    expect(change?.diff?.collections).to.deep.equal([
      { collection: 'articles', diff: [{ kind: 'E', path: ['meta', 'note'], lhs: null, rhs: 'one' }] },
    ]);
    const relation = history.data.find((event) => event.type === 'relation.created');
    expect(relation?.diff?.relations).to.have.length(1);
    const paged: Event[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page: Page<Event> = await get(`/history/collections/articles?limit=1&after=${after}`);
      paged.push(...page.data);
      after = page.meta.next;
    }
    expect(paged).to.deep.equal(history.data);
  });

  it('shows actor, time, reason and source, even of deleted users', async () => {
    const user = await send('/users', json({ email: 'eve@example.com', name: 'Eve Ä.', role: 'admin' }));
    const { id } = (user.json as { data: { id: string } }).data;
    const created = await send(`/users/${id}/tokens`, json({ name: 'test' }));
    const { token } = (created.json as { data: { token: string } }).data;
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'tester/1.0',
      'x-request-id': 'request-77',
      'x-reason': latin1('für Ordnung'),
    };
    const started = new Date().toISOString();
    const reply = await send('/collections', { ...json({ collection: 'by_eve', schema: null }), headers, token });
    expect(reply.status, reply.text).to.equal(200);
    expect((await send(`/users/${id}`, { method: 'DELETE' })).status).to.equal(204);
    const { data } = await events('?collection=by_eve');
    expect(data[0]).to.deep.include({
      actor: { id, name: 'Eve Ä.' },
      command: 'create-collection',
      reason: 'für Ordnung',
      request_id: 'request-77',
      ip: '127.0.0.1',
      user_agent: 'tester/1.0',
    });
    expect(data[0]?.occurred_at.localeCompare(started)).to.be.oneOf([0, 1]);
    expect(positionsOf(await events(`?actor=${id}`))).to.deep.equal([data[0]?.position]);
  });

  it('exports the listed events, and verifies them', async () => {
    const exported = await send('/history/export', { token: tokens.auditor });
    expect(exported.headers.get('content-type')).to.match(/^application\/x-ndjson/);
    expect(exported.text.endsWith('\n')).to.equal(true);
    const lines = exported.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Event);
    expect(lines.slice(0, 100)).to.deep.equal((await events('?limit=100')).data);
    const { data } = await get<{ data: { ok: boolean; checked: number; head: object; broken: null } }>(
      '/history/verify',
    );
    expect(data).to.deep.include({ ok: true, checked: lines.length, broken: null });
  });
});
