/** Sends requests to the routes of a service with `OBJECTS=on` and an OpenID provider. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Send, clientOf, json } from '../support/client.js';
import { createApi } from '../support/api.js';
import { column, onlineOf } from '../support/online.js';
import { allRoutes } from '../support/openapi.js';
import { Browser, CLIENT_ID, type OpenIdProvider } from '../support/openid-provider.js';
import type { Receiver } from '../support/receiver.js';
import type { TestService } from '../support/service.js';
import { until } from '../support/until.js';

interface Requested {
  service: TestService;
  provider: OpenIdProvider;
  receiver: Receiver;
}

type Data = Record<string, string>;

/** The request must succeed. Returns the body. */
type Ask = (path: string, send?: Send) => Promise<Data & { data: Data }>;

/** Returns the ids of the operations that succeeded at least once. */
export async function requestEveryRoute(requested: Requested): Promise<Set<string>> {
  const succeeded = new Set<string>();
  const routes = allRoutes().map(({ method, path, operationId }) => ({
    operationId,
    method,
    pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
    parameters: path.split(':').length,
  }));
  const client = clientOf(requested.service);
  const ask: Ask = async (path, send = {}) => {
    const reply = await client(path, send);
    expect(reply.status, `${send.method ?? 'GET'} ${path}: ${reply.text}`).below(300);
    const method = (send.method ?? 'GET').toLowerCase();
    const matching = routes.filter((each) => each.method === method && each.pattern.test(path.replace(/\?.*/, '')));
    const [route] = matching.sort((one, other) => one.parameters - other.parameters);
    if (route !== undefined) succeeded.add(route.operationId);
    return reply.json as Data & { data: Data };
  };
  await changeSchema(ask);
  await readAll(ask);
  await changeObjects(ask);
  await useTrash(ask, requested.service);
  await reviewChanges(ask, requested.service);
  await changeAccounts(ask, requested.service);
  await deliver(ask, requested.receiver);
  for (const each of await signIn(ask, requested)) succeeded.add(each);
  await exchange(ask, requested.provider);
  return succeeded;
}

const remove = { method: 'DELETE' };
const post = { method: 'POST' };

async function changeSchema(ask: Ask): Promise<void> {
  const fields = [column('title')];
  const created = json({ collection: 'articles', schema: {}, fields });
  await ask('/collections', { ...created, headers: { ...created.headers, 'Idempotency-Key': 'k1' } });
  await ask('/collections', json({ collection: 'authors', schema: {}, fields }));
  await ask('/fields/articles', json({ field: 'author', type: 'integer' }));
  await ask('/relations', json({ collection: 'articles', field: 'author', related_collection: 'authors' }));
  await ask('/relations/articles/author', json({ schema: { on_delete: 'SET NULL' } }, 'PATCH'));
  await ask('/relations/articles/author');
  await ask('/relations/articles');
  await ask('/relations/articles/author', remove);
  await ask('/collections/articles', json({ meta: { note: 'n' } }, 'PATCH'));
  await ask('/collections', json([{ collection: 'articles', meta: { note: 'm' } }], 'PATCH'));
  await ask('/fields/articles/title', json({ schema: { max_length: 40 } }, 'PATCH'));
  await ask('/fields/articles', json([{ field: 'title', meta: { note: 'n' } }], 'PATCH'));
  await ask('/fields/articles/title/rename', json({ to: 'headline' }));
  await ask('/fields/articles/headline');
  await ask('/fields/articles/headline', remove);
  await ask('/collections/authors/rename', json({ to: 'people' }));
  // The former names of a collection are read if the policy has rules for some collections.
  const policy = { collections: [{ pattern: 'prod_*', findings: { LOSES_DATA: 'refuse' } }] };
  await ask('/policy', json(policy, 'PUT'));
  await ask('/policy/test', json({ policy, diff: await ask('/history/diff?to=3') }));
  await ask('/fields/people', json({ field: 'age', type: 'integer' }));
  const snapshot = await ask('/schema/snapshot');
  const { data: head } = await ask('/server/info');
  await ask('/fields/people', json({ field: 'size', type: 'integer' }));
  const diff = await ask('/schema/diff', json(snapshot));
  await ask('/schema/apply?explain', json(diff));
  await ask('/schema/apply?dry_run', json(diff));
  await ask('/schema/apply', json(diff));
  await ask('/schema/merge', json({ base: Number(head['position']), theirs: snapshot }));
  await ask('/schema/adopt', json({ all: true }));
  await ask('/schema/drift');
  await ask('/schema/drift/accept', json({}));
}

async function readAll(ask: Ask): Promise<void> {
  for (const path of [
    '/collections',
    '/collections/articles',
    '/collections/articles/table',
    '/collections/articles/sample',
    '/fields',
    '/fields/articles',
    '/relations',
    '/schema/types',
    '/history/events?limit=5',
    '/history/events?collection=articles&order=desc',
    '/history/events/2',
    '/history/batches?limit=5',
    '/history/batches?collection=articles&limit=1',
    '/history/events?collection=people&limit=5',
    '/history/events?collection=people&field=name&limit=5',
    '/history/batches?collection=articles&field=headline&until=9&limit=1',
    '/history/collections/articles',
    '/history/snapshot?at=3',
    '/history/schema?at=5&collections=articles',
    '/history/collections/articles?after=3',
    '/history/diff?from=1',
    '/history/changes?limit=5',
    '/history/checkpoint/keys',
    '/changes?limit=5',
    '/changes?to_approve=true&limit=0&meta=filter_count',
    '/trash?limit=5',
    '/policy',
    '/projections',
    '/server/info',
    '/server/health',
    '/server/live',
    '/server/ready',
    '/server/ping',
    '/server/openapi.json',
    '/server/specs/oas',
    '/docs',
    '/auth/trust',
    '/auth/providers',
    '/users?limit=5',
    '/sessions?limit=5',
  ])
    await ask(path);
}

async function changeObjects(ask: Ask): Promise<void> {
  await ask('/objects', json({ kind: 'view', definition: 'CREATE VIEW ages AS SELECT age FROM people' }));
  await ask('/objects');
  await ask('/objects/view/ages');
  await ask('/objects/view/ages', json({ comment: 'Ages' }, 'PATCH'));
  await ask('/objects/view/ages/rename', json({ to: 'years' }));
  await ask('/objects/view/years/dependents');
  await ask('/history/objects/view/years');
  await ask('/objects/view/years', remove);
}

async function useTrash(ask: Ask, { adminToken }: TestService): Promise<void> {
  const newest = async () => ((await ask('/trash?limit=1')).data as unknown as [{ position: number }])[0].position;
  await ask('/collections', json({ collection: 'notes', schema: {}, fields: [column('text'), column('more')] }));
  await ask('/fields/notes/text', remove);
  await ask(`/trash/${await newest()}`);
  await ask(`/trash/${await newest()}/restore`, json({}));
  await ask('/collections/notes', remove);
  const { data: head } = await ask('/server/info');
  await ask('/schema/apply', json(await ask(`/history/diff?to=${Number(head['position']) - 1}`)));
  await ask('/fields/notes/more', remove);
  await ask(`/trash/${await newest()}`, { ...remove, token: adminToken });
}

async function reviewChanges(ask: Ask, service: TestService): Promise<void> {
  const open = async (note: string) => {
    const snapshot = (await ask('/schema/snapshot')) as unknown as {
      collections: { collection: string; meta: Data }[];
    };
    const people = snapshot.collections.find(({ collection }) => collection === 'people');
    Object.assign(people?.meta ?? {}, { note });
    const diff = await ask('/schema/diff', json(snapshot));
    return (await ask('/changes', json({ title: note, diff }))).data;
  };
  const first = await open('first');
  await ask(`/changes/${first['id']}`);
  await ask(`/changes/${first['id']}`, json({ title: 'Another' }, 'PATCH'));
  await ask(`/changes/${first['id']}/comment`, json({ comment: 'why?' }));
  await ask(`/changes/${first['id']}/rebase`, json({}));
  const { data: rebased } = await ask(`/changes/${first['id']}`);
  await ask(`/changes/${first['id']}/approve`, json({ plan: rebased['plan'] }));
  await ask(`/changes/${first['id']}/apply?dry_run`, post);
  await ask(`/changes/${first['id']}/apply`, post);
  const { data: reverting } = await ask(`/changes/${first['id']}/revert`, post);
  await ask(`/changes/${reverting['id']}/reject`, json({ comment: 'no' }));
  await ask(`/changes/${reverting['id']}/withdraw`, post);
  const later = await open('later');
  await ask(`/changes/${later['id']}/apply`, json({ at: new Date(Date.now() + 600).toISOString() }));
  await until('the scheduled request ends', async () => {
    const { data } = await ask(`/changes/${later['id']}`);
    return data['state'] === 'applied';
  });
  const api = createApi(service);
  try {
    const online = onlineOf(api);
    await online.large('wide', [column('code')], 'code = i::text');
    const required = await online.diff(({ fields }) => {
      const code = fields.find((each) => each.collection === 'wide' && each.field === 'code');
      if (code) code.schema.is_nullable = false;
    });
    const { data: slow } = await ask('/changes', json({ title: 'required', diff: required, online: true }));
    await ask(`/changes/${slow['id']}/prepare`, post);
    await until('the request is prepared', async () => {
      const { data } = await ask(`/changes/${slow['id']}`);
      return data['state'] === 'prepared';
    });
    await ask(`/changes/${slow['id']}/withdraw`, post);
  } finally {
    await api.stop();
  }
}

async function changeAccounts(ask: Ask, { adminEmail, adminPassword }: TestService): Promise<void> {
  const login = { email: 'a@example.com', password: 'correct horse battery' };
  const logIn = async (grant: object) =>
    (await ask('/auth/login', { ...json(grant), token: null })).data as Record<
      'access_token' | 'refresh_token',
      string
    >;
  const admin = await logIn({ email: adminEmail, password: adminPassword });
  const { data: refreshed } = await ask('/auth/refresh', {
    ...json({ refresh_token: admin.refresh_token }),
    token: null,
  });
  await ask('/users/me', { token: refreshed['access_token'] ?? '' });
  const diagram = { depth: 'keys', folder: null, places: [{ collection: 'articles', x: 0, y: 0 }] };
  for (const places of [diagram.places, []]) await ask('/users/me/diagrams', json({ ...diagram, places }, 'PUT'));
  await ask('/users/me/diagrams');
  await ask('/auth/logout', { ...json({ refresh_token: refreshed['refresh_token'] }), token: null });

  const { data: user } = await ask('/users', json({ ...login, role: 'author' }));
  const path = `/users/${user['id']}`;
  const { data: token } = await ask(`${path}/tokens`, json({ name: 'ci' }));
  await ask('/collections', { token: token['token'] ?? '' });
  await ask('/mcp', {
    ...json({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    token: token['token'] ?? '',
  });
  await ask(`${path}/tokens`);
  await ask(`${path}/tokens/${token['id']}`, remove);
  const session = await logIn(login);
  const changed = { current_password: login.password, password: 'another horse battery' };
  await ask('/users/me', { ...json(changed, 'PATCH'), token: session.access_token });
  await logIn({ ...login, password: changed.password });
  const { data } = (await ask(`/sessions?user=${user['id']}`)) as unknown as { data: [{ id: string }] };
  await ask(`/sessions/${data[0].id}`, remove);
  await ask(`${path}/sessions`, remove);
  await ask(path);
  await ask(path, json({ role: 'reader' }, 'PATCH'));
  await ask(`${path}/identities`);
  await ask(path, remove);
}

/** Deliveries that succeed and fail, and the requests about them. */
async function deliver(ask: Ask, receiver: Receiver): Promise<void> {
  const create = async (name: string, collections?: string[]) =>
    (await ask('/webhooks', json({ name, url: receiver.url, types: ['*'], collections }))).data['id'];
  receiver.respond = (response) => void response.writeHead(500).end();
  const [all, some] = [await create('all'), await create('some', ['articles', 'other_*'])];
  await ask('/collections/articles', json({ meta: { note: 'delivered' } }, 'PATCH'));
  const read = async (id: string | undefined) => (await ask(`/webhooks/${id}`)).data;
  await until('a delivery has failed', async () => (await read(all))['state'] === 'failing');
  receiver.respond = (response) => void response.writeHead(204).end();
  const upToDate = (id: string | undefined) =>
    until('every event is delivered', async () => String((await read(id))['behind']) === '0');
  for (const id of [all, some]) {
    await upToDate(id);
    await ask(`/webhooks/${id}/deliveries`);
    await ask(`/webhooks/${id}/test`, post);
    await ask(`/webhooks/${id}/replay`, json({ position: 1 }));
    await upToDate(id);
  }
  await ask('/webhooks');
  const environment = (
    await ask('/environments', json({ name: 'other', url: 'https://other.invalid', token: 'token' }))
  ).data['id'];
  await ask('/environments');
  await ask(`/environments/${environment}/test`, post);
  await ask(`/environments/${environment}`, json({ base: 1 }, 'PATCH'));
  await ask(`/environments/${environment}`);
  await ask(`/environments/${environment}`, remove);
  await ask(`/webhooks/${some}/secret`, json({}));
  await ask(`/webhooks/${some}`, json({ enabled: false }, 'PATCH'));
  await ask(`/webhooks/${some}`, remove);
}

const ADA = { sub: 'ada-1815', email: 'ada@example.com', email_verified: true, groups: ['authors'] };

/** Sign-in in a browser, of a command line and on another device. Returns the operations that only a browser requests. */
async function signIn(ask: Ask, { service, provider }: Requested): Promise<string[]> {
  provider.person = ADA;
  const follow = (query: string, browser = new Browser()) =>
    browser.follow(
      `${service.url}/auth/oidc/login${query}`,
      ({ pathname, port }) => pathname.startsWith('/app') || port === '8765',
    );
  const back = await follow('?to=/app/timeline');
  expect(back.searchParams.get('sign_in')).equal('done');

  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const code = (await follow(`?port=8765&challenge=${challenge}`)).searchParams.get('code');
  await ask('/auth/oidc/token', { ...json({ code, verifier }), token: null });

  const { data: device } = await ask('/auth/oidc/device', { ...post, token: null });
  await ask('/auth/oidc/device/token', { ...json({ device: device['device'] }), token: null });

  const grace = { ...ADA, sub: 'grace', email: 'grace@example.com', password: 'correct horse battery' };
  await ask('/users', json({ email: grace.email, role: 'author', password: grace.password }));
  provider.person = grace;
  const browser = new Browser();
  expect((await follow('?to=/app/timeline', browser)).searchParams.get('sign_in')).equal('link');
  const linked = await browser.request(`${service.url}/auth/oidc/link`, {
    method: 'POST',
    ...json({ email: grace.email, password: grace.password, mode: 'cookie' }),
  });
  expect(linked.status).equal(200);

  const claims = {
    iss: provider.issuer,
    aud: CLIENT_ID,
    iat: Math.floor(Date.now() / 1000),
    jti: randomUUID(),
    sub: ADA.sub,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };
  const logout_token = await provider.signed(claims);
  await ask('/auth/oidc/logout', {
    ...post,
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ logout_token }).toString(),
  });
  const users = (await ask('/users')).data as unknown as { id: string; email: string }[];
  const { id } = users.find(({ email }) => email === ADA.email) as { id: string };
  const { data } = (await ask(`/users/${id}/identities`)) as unknown as { data: [{ id: string }] };
  await ask(`/users/${id}/identities/${data[0].id}`, remove);
  return ['startSignIn', 'finishSignIn', 'linkIdentity'];
}

async function exchange(ask: Ask, provider: OpenIdProvider): Promise<void> {
  const rule = {
    name: 'deploy',
    issuer: provider.issuer,
    audience: 'https://dps.example.com',
    claims: { sub: 'repo:shop/schema' },
    scope: { role: 'admin', actions: ['read'] },
  };
  await ask('/auth/trust', json({ rules: [rule] }, 'PUT'));
  const now = Math.floor(Date.now() / 1000);
  const token = await provider.signed({
    iss: provider.issuer,
    aud: rule.audience,
    sub: rule.claims.sub,
    iat: now,
    exp: now + 300,
    jti: randomUUID(),
  });
  const { data } = await ask('/auth/exchange', { ...json({ token }), token: null });
  await ask('/collections', { token: data['token'] ?? '' });
}
