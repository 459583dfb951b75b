import { expect } from 'chai';
import { createSession } from '../support/session.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Snapshot {
  collections: { collection: string; meta: object }[];
  fields: { collection: string; field: string }[];
}

const MASKS: [RegExp, string][] = [
  [/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/g, '<AN ID IN CAPITALS>'],
  [/(?<="(release|service)":\s?")\d+\.\d+\.\d+/g, '<release>'],
  [/\d{8}-\d{6}(-\d+-[0-9a-f]{8})?(?=\.\w+")/g, '<stamp>'],
  [/(?<="(access|refresh)_token":\s?")[^"]+/g, '<secret>'],
  [/(?<=dps_refresh_token=)[\w.%-]+/g, '<secret>'],
  [/data-platform-service\+[\w+/=]+/g, '<key>'],
  [/"hash":"[0-9a-f]{8}"/g, '"hash":"<key>"'],
];

describe('a second session over HTTP', () => {
  const { client } = withService({ settings: { KEEP_DELETED: '7d', CORS_ORIGINS: 'https://app.example' } });
  const session = createSession('second-http-session.txt', client);
  const { ask } = session;

  const field = (name: string, type: string, more: object = {}) => ({
    field: name,
    type,
    meta: { interface: 'input' },
    schema: {},
    ...more,
  });
  const done = async (path: string, body: unknown, method = 'POST'): Promise<void> => {
    const { status, text } = await client(path, json(body, method));
    expect(status, text).to.be.within(200, 204);
  };
  const snapshot = async (): Promise<Snapshot> => (await client('/schema/snapshot')).json as Snapshot;
  const without = async (name: string): Promise<Snapshot> => {
    const { fields, ...rest } = await snapshot();
    return { ...rest, fields: fields.filter((each) => each.field !== name) };
  };
  const diffTo = async (desired: Snapshot): Promise<object> =>
    (await client('/schema/diff', json(desired))).json as object;
  const dataOf = <T>({ json: body }: { json: unknown }): T => (body as { data: T }).data;

  it('changes several objects at once', async () => {
    await ask('/collections?fields=collection', {
      body: [
        { collection: 'a', schema: {}, fields: [field('title', 'string'), field('size', 'integer')] },
        { collection: 'b', schema: {}, fields: [field('kind', 'string'), field('of', 'integer')] },
      ],
    });
    await ask('/collections', {
      body: [
        { collection: 'c', schema: {} },
        { collection: 'a', schema: {} },
      ],
    });
    await ask('/collections', { body: [] });
    await ask('/collections?fields=none', { body: {} });
    await ask('/collections?fields=collection,meta', {
      method: 'PATCH',
      body: [
        { collection: 'a', meta: { sort: 1 } },
        { collection: 'b', meta: { sort: 2 } },
      ],
    });
    await ask('/collections', { method: 'PATCH', body: [{ collection: 'none', meta: {} }, { meta: {} }] });
    await ask('/collections/a?id=b');
    await ask('/collections/a?id=a&fields=schema');
    await ask('/collections/b/rename?fields=collection', { body: { to: 'c' } });
    await ask('/collections/c/rename', { body: { to: 'a' } });
    await ask('/collections?meta=*&limit=1&offset=1&fields=collection');
    await ask('/collections/none/table');
    await ask('/fields/a?fields=field,type', { method: 'PATCH', body: [field('title', 'text'), { field: 'none' }] });
    await ask('/fields/a?fields=field,type', { method: 'PATCH', body: [{ field: 'title', meta: { sort: 1 } }] });
    await ask('/fields/a?concurrentIndexCreation&fields=schema', {
      body: field('code', 'string', { schema: { is_indexed: true } }),
    });
    await ask('/fields?limit=2&fields=collection,field&meta=filter_count');
    await ask('/fields/none');
    await ask('/fields/none/title');
    await ask('/relations?fields=collection,field', {
      body: { collection: 'c', field: 'of', related_collection: 'a', schema: {} },
    });
    await ask('/relations/c/of?fields=schema', { method: 'PATCH', body: { schema: { on_delete: 'SET NULL' } } });
    await ask('/relations/c/of', { method: 'PATCH', body: { schema: { on_delete: 'NEVER' } } });
    await ask('/relations/c?fields=field,related_collection');
    await ask('/relations/none');
    await ask('/relations/c/none');
    await ask('/relations/c/of', { method: 'DELETE' });
    await ask('/relations/c/of', { method: 'DELETE' });
    await ask('/fields/c/of', { method: 'DELETE' });
    await ask('/fields/c', { body: field('other', 'string', { schema: { schema: 'elsewhere' } }) });
    await ask('/schema/snapshot?includeCollections=c');
    await ask('/schema/snapshot?excludeCollections=a,none');
    await ask('/schema/drift/accept?dry_run', { body: {} });
    await ask('/schema/adopt', { body: {} });
  });

  it('responds to requests about change requests as recorded in the transcript', async () => {
    const diff = await diffTo(await without('size'));
    const called = (what: string) => ({ called: what });
    await ask('/changes', { body: {} });
    await ask('/changes', { body: { title: ' ', reason: '\u0007', mode: 'none', purge: 1 } });
    await ask('/changes', { body: { title: 'x' } });
    for (const member of [{ base: 1 }, { mode: 'merge' }, { force: true }])
      await ask('/changes', { body: { title: 'x', ...member } });
    await ask('/changes', { body: { title: 'x', diff, snapshot: {} }, ...called('(a diff and a snapshot)') });
    await ask('/changes', { body: { title: 'x', snapshot: await snapshot() }, ...called('(the snapshot)') });
    await ask('/changes', { body: { title: 'x', snapshot: await snapshot(), base: 'none' }, ...called('(a base)') });
    await ask('/changes', { body: { title: 'x', snapshot: await without('size'), base: 999 }, ...called('(a base)') });
    await ask('/changes', { body: { title: 'x', snapshot: { version: 1, collections: 7 } } });
    await ask('/changes', { body: { title: 'x', diff: { diff: 7 } } });
    const other = { collections: [{ collection: 'a', schema: { schema: 'elsewhere' } }] };
    for (const member of [{ snapshot: other }, { diff: other }])
      await ask('/changes', { body: { title: 'x', ...member } });
    await ask('/changes', {
      body: { title: 'x', diff, acknowledge: [] },
      ...called('(a diff, with nothing acknowledged)'),
      headers: { 'x-acknowledge': 'LOSES_DATA:a.size' },
    });
    await ask('/changes', { body: { title: 'No size', reason: 'Nobody asks for it', diff }, ...called('(a diff)') });
    const [{ id, plan } = { id: '', plan: '' }] = dataOf<{ id: string; plan: string }[]>(await ask('/changes?meta=*'));
    await ask('/changes?meta=filter_count&state=applied');
    await ask('/changes?meta=filter_count&collection=c');
    await ask('/changes?meta=filter_count&author=none');
    await ask('/changes?meta=filter_count&to_approve');
    await ask('/changes?state=none&limit=1001');
    await ask(`/changes/${id.toUpperCase()}`);
    await ask(`/changes/${id}`, { method: 'PATCH', body: {} });
    await ask(`/changes/${id}`, { method: 'PATCH', body: { online: true, purge: false, acknowledge: [] } });
    await ask(`/changes/${id}`, { method: 'PATCH', body: { title: 'Without size' } });
    await ask(`/changes/${id}`, { method: 'PATCH', body: { diff, purge: true }, ...called('(the diff, purging)') });
    await ask(`/changes/${id}`);
    await ask(`/changes/${id}/comment`, { body: { comment: 'Two lines,\nno more.' } });
    await ask(`/changes/${id}/comment`, { body: { comment: '' } });
    await ask(`/changes/${id}/approve`, { body: { plan: 'none' } });
    await ask(`/changes/${id}/approve`, { body: { plan: 'f'.repeat(64) } });
    await ask(`/changes/${id}/apply`, { method: 'POST', headers: { 'x-acknowledge': 'LOSES_DATA:a.size' } });
    await ask(`/changes/${id}/apply`, { body: { at: 'soon' } });
    await ask(`/changes/${id}/prepare`, { method: 'POST' });
    await ask(`/changes/${id}/rebase`, { body: { resolve: 7 } });
    await ask(`/changes/${id}/rebase`, { method: 'POST' });
    await ask(`/changes/${id}/revert`, { method: 'POST' });
    await ask(`/changes/${id}/reject`, { body: { comment: 'Not yet' } });
    await ask(`/changes/${id}/withdraw`, { method: 'POST' });
    expect(plan).to.have.length(64);
  });

  it('applies change requests as recorded in the transcript', async () => {
    const expected = await without('size');
    await ask('/changes', { body: { title: 'Again', snapshot: expected }, called: '(the snapshot without size)' });
    const { headers } = await client('/changes', json({ title: 'Online', snapshot: expected, online: true }));
    const online = headers.get('location') ?? '';
    const [{ id } = { id: '' }] = dataOf<{ id: string }[]>(await client('/changes?state=open&limit=1'));
    expect(online).to.equal(`/changes/${id}`);
    await ask(online);
    await ask(`${online}/withdraw`, { method: 'POST' });
    const open = dataOf<{ id: string; plan: string }[]>(await client('/changes?state=open'))[0];
    const path = `/changes/${open?.id}`;
    await ask(`${path}/approve`, { body: { plan: open?.plan, comment: 'Fine' } });
    await ask(`${path}/apply`, { body: { at: '2999-01-01T00:00:00Z' } });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    await ask(`${path}/apply`, { body: { at: tomorrow } });
    await ask(`${path}/apply`, { method: 'POST' });
    await ask(path);
    await ask(`${path}/apply`, { method: 'POST' });
    await ask(`${path}/revert`, { body: { title: 'With size', reason: 'It was asked for', online: false } });
    const base = dataOf<{ position: number }>(await client('/server/info')).position;
    const noted = (note: string, source: Snapshot) => ({
      ...source,
      collections: source.collections.map((each) => ({ ...each, meta: { ...each.meta, note } })),
    });
    const theirs = noted('theirs', await snapshot());
    await done('/collections/a', { meta: { note: 'ours' } }, 'PATCH');
    await ask('/changes', { body: { title: 'x', snapshot: theirs, base }, called: '(notes that clash)' });
    await ask('/schema/merge', { body: { theirs, base }, called: '(notes that clash)' });
    await ask('/schema/merge', { body: { theirs, ours: base, more: 1 }, called: '(no base)' });
    await ask('/schema/merge', { body: [] });
    const resolve = [{ place: { part: 'collections', collection: 'a', path: ['meta', 'note'] }, take: 'theirs' }];
    await ask('/schema/merge', { body: { theirs, base, resolve }, called: '(notes that clash, resolved)' });
  });

  it('responds to requests about the policy as recorded in the transcript', async () => {
    await ask('/policy/test', { body: [] });
    await ask('/policy/test', { body: { more: 1 } });
    await ask('/policy/test', { body: {} });
    await ask('/policy/test', { body: { diff: {}, snapshot: {} } });
    await ask('/policy/test', { body: { diff: { hash: 'x' } } });
    await ask('/policy/test', { body: { snapshot: { collections: 7 } } });
    await ask('/policy/test', { body: { diff: {}, policy: { approvals: 0, findings: { NONE: 'note' } } } });
    const diff = await diffTo(await without('title'));
    const called = '(the diff without a.title)';
    const policy = (action: string) => ({ findings: { LOSES_DATA: action }, approvals: 3 });
    await ask('/policy/test', { body: { diff }, called });
    for (const action of ['acknowledge', 'approve', 'refuse', 'warn'])
      await ask('/policy/test', {
        body: { diff, policy: policy(action) },
        called: `${called} where it would be ${action}`,
      });
    await ask('/policy/test?online', {
      body: { diff, policy: policy('acknowledge') },
      called,
      headers: { 'x-acknowledge': 'LOSES_DATA:a.title' },
    });
    await ask('/policy', { method: 'PUT', body: { approvals: 2 }, headers: { 'if-match': '"none"' } });
    await ask('/policy', {
      method: 'PUT',
      text: '{"findings":{"__proto__":"note"},"collections":[{"pattern":"a","findings":{"__proto__":"note"}}]}',
      headers: { 'content-type': 'application/json' },
    });
    await ask('/policy', { method: 'PUT', body: { ...policy('acknowledge'), online_above_rows: -1 } });
    await ask('/policy', { method: 'PUT', body: policy('acknowledge') });
    await ask('/fields/a/title', { method: 'DELETE' });
    await ask('/fields/a/title', { method: 'DELETE', headers: { 'x-acknowledge': 'LOSES_DATA:a.none' } });
    await ask('/schema/apply?explain', { body: diff, called });
    await ask('/schema/apply?dry_run&online', { body: diff, called });
    await ask('/schema/apply', { body: { ...diff, acknowledge: [{ code: 'LOSES_DATA', place: 'a.title' }] }, called });
    await ask('/policy', { method: 'PUT', body: {} });
    await ask('/policy?at=1');
    await ask('/policy?at=99999');
  });

  it('responds to requests about the trash as recorded in the transcript', async () => {
    await ask('/trash?meta=total_count&limit=1');
    await ask('/trash/none');
    await ask('/trash/1');
    const [{ position } = { position: 0 }] = dataOf<{ position: number }[]>(await client('/trash'));
    await ask(`/trash/${position}`);
    await ask(`/trash/${position}/restore?dry_run`, { method: 'POST' });
    await ask(`/trash/${position}/restore`, { body: { as: 'headline', more: 1 } });
    await ask(`/trash/${position}/restore`, { body: { as: 'headline' } });
    await ask(`/trash/${position}/restore`, { method: 'POST' });
    await ask('/collections/c', { method: 'DELETE' });
    const [{ position: last } = { position: 0 }] = dataOf<{ position: number }[]>(await client('/trash'));
    await ask(`/trash/${last}/restore?dry_run`, { body: { as: 'd' } });
    await ask(`/trash/${last}/restore`, { body: { as: 'a' } });
    await ask(`/trash/${last}/restore`, { body: { as: 'd' } });
    await ask('/collections/d', { method: 'DELETE' });
    const [{ position: purged } = { position: 0 }] = dataOf<{ position: number }[]>(await client('/trash'));
    await ask(`/trash/${purged}`, { method: 'DELETE' });
    await ask(`/trash/${purged}`, { method: 'DELETE' });
    await ask('/fields/a/headline?purge', { method: 'DELETE' });
  });

  it('responds to filtered requests about the history as recorded in the transcript', async () => {
    for (const query of [
      'field=size&order=desc',
      'type=field.deleted',
      'actor=none',
      'batch=none&order=up&type=x&since=never&until=x',
      'since=3&until=4',
      'subject=change&limit=1',
      'subject=:1',
      'after=1-00000000',
      'more=1',
    ])
      await ask(`/history/events?${query}`);
    await ask('/history/events/none');
    for (const query of [
      'order=asc&limit=1',
      'q=asked',
      `q=${'x'.repeat(201)}`,
      'field=size&collection=a',
      'command=none',
    ])
      await ask(`/history/batches?${query}`);
    for (const query of ['order=desc&limit=1', 'after=5&limit=2', 'limit=101']) await ask(`/history/changes?${query}`);
    await ask('/history/collections/c?limit=2');
    await ask('/history/collections/c?after=3&limit=1');
    await ask('/history/collections/none');
    await ask('/history/schema?at=5&parts=fields,collections&collections=b,none');
    await ask('/history/schema?at=2&parts=relations');
    await ask('/history/schema?parts=none&collections=');
    await ask('/history/snapshot?at=99999');
    await ask('/history/snapshot?at=2999-01-01');
    await ask('/history/snapshot?at=4&export=sql');
    await ask('/history/snapshot?at=2&export=yaml');
    await ask('/history/snapshot?export=pdf');
    await ask('/history/diff?from=2&to=1');
    await ask('/history/diff?to=2');
    await ask('/history/checkpoint/keys');
    await ask('/history/checkpoint/keys', { method: 'POST' });
    await ask('/history/acknowledge', { method: 'POST' });
    await ask('/schema/types?at=3&lang=json-schema');
  });

  it('responds to requests about accounts as recorded in the transcript', async () => {
    const one = { email: 'one@example.com', role: 'author', name: 'One', password: 'a password that is long' };
    const { id } = dataOf<{ id: string }>(await ask('/users?fields=id,email', { body: one, called: '(one)' }));
    await ask('/users', { body: one, called: '(one, again)' });
    await ask(`/users/${id}?fields=name,role`);
    await ask(`/users/${id}?fields=name`, { method: 'PATCH', body: { name: 'Two' } });
    await ask(`/users/${id}`, { method: 'PATCH', body: { password: 'short', status: 'gone' } });
    await ask('/users/me', { token: null });
    await ask(`/users/${id}/tokens`, { body: { name: 'ci', expires_at: 'soon' } });
    const token = dataOf<{ id: string }>(await ask(`/users/${id}/tokens`, { body: { name: 'ci' } }));
    await ask(`/users/${id}/tokens`);
    await ask(`/users/${id}/tokens/${token.id}`, { method: 'DELETE' });
    await ask(`/users/${id}/tokens/${token.id}`, { method: 'DELETE' });
    await ask('/users/none/tokens');
    const { email, password } = one;
    const origin = { origin: 'https://elsewhere.example' };
    const login = { email, password, mode: 'cookie' };
    const anybody = { token: null };
    await ask('/auth/login', { body: login, called: '(one, with a cookie)', headers: origin, ...anybody });
    const { headers } = await ask('/auth/login', { body: login, called: '(one, with a cookie)', ...anybody });
    const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';', 1);
    const sent = { headers: { cookie } };
    await ask('/auth/refresh', { body: {}, headers: { ...origin, cookie }, ...anybody });
    await ask('/auth/refresh', { body: { refresh_token: 'none' }, ...sent, ...anybody });
    await ask('/auth/refresh', { body: { mode: 'json' }, ...sent, ...anybody });
    const next = await ask('/auth/refresh', {
      body: {},
      headers: { origin: 'https://app.example', cookie },
      ...anybody,
    });
    const [renewed = ''] = (next.headers.get('set-cookie') ?? '').split(';', 1);
    await ask('/auth/logout', { body: { mode: 'cookie' }, headers: { cookie: renewed }, ...anybody });
    const grant = dataOf<{ refresh_token: string }>(
      await ask('/auth/login', { body: { email, password }, called: '(one)', ...anybody }),
    );
    const body = { refresh_token: grant.refresh_token };
    await ask('/auth/refresh', { body, called: '(the token)', ...anybody });
    await ask('/auth/refresh', { body, called: '(the token, again)', ...anybody });
    await ask('/auth/refresh', { method: 'POST', ...anybody });
    await ask(`/sessions?user=${id}&meta=*`);
    await ask('/sessions?user=none&meta=total_count,filter_count&limit=0');
    await ask('/sessions/none', { method: 'DELETE' });
    await ask(`/users/${id}/sessions`, { method: 'DELETE' });
    await ask('/users/none/sessions', { method: 'DELETE' });
    await ask(`/users/${id}`, { method: 'DELETE' });
    await ask(`/users/${id}`, { method: 'DELETE' });
  });

  it('matches the recorded transcript', () => session.expectAsBefore(MASKS));
});
