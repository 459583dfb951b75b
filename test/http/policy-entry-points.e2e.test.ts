/**
 * Nobody gets round the policy: every route that is no read stands here, with what of it the policy refuses, or why there is
 * nothing to refuse. A new route that isn't here fails.
 */
import { expect } from 'chai';
import { RULES } from '../../src/schema/findings/index.js';
import { json } from '../support/client.js';
import { withService } from '../support/with-service.js';

interface Request {
  path: string;
  body?: unknown;
}

interface Entry {
  /** `POST /collections`, as the reference has it. */
  route: string;
  what?: string;
  /** The code that the policy refuses. */
  code: string;
  /** Makes what the request needs, while nothing is refused, and says the request. */
  given: () => Promise<Request>;
}

const ROLES = ['auditor', 'author', 'reader'] as const;

const column = (field: string, schema: object = {}) => ({ field, type: 'string', interface: 'input', schema });
const table = (collection: string, ...fields: object[]) => ({
  collection,
  schema: {},
  fields: [
    { field: 'id', type: 'bigInteger', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
    ...fields,
  ],
});

describe('the policy at every entry point', () => {
  const { api, client, service } = withService({ consistent: true });
  const tokens: Record<string, string> = {};

  before(async () => {
    for (const role of ROLES) {
      const { data } = await api.ok<{ data: { id: string } }>('POST', '/users', { email: `${role}@example.com`, role });
      const made = await api.ok<{ data: { token: string } }>('POST', `/users/${data.id}/tokens`, {});
      tokens[role] = made.data.token;
    }
  });

  const make = (...args: Parameters<typeof table>) => api.ok('POST', '/collections', table(...args));
  const snapshot = () =>
    api.ok<{ collections: { collection: string }[]; fields: { collection: string; field: string }[] }>(
      'GET',
      '/schema/snapshot',
    );
  const trashed = async (path: string): Promise<number> => {
    await api.ok('DELETE', path);
    const { data } = await api.ok<{ data: { position: number }[] }>('GET', '/trash?limit=1');
    return data[0]?.position ?? 0;
  };
  const related = async (many: string, one: string): Promise<object> => {
    await make(one);
    await make(many, { field: 'one', type: 'bigInteger', interface: 'input', schema: {} });
    return { collection: many, field: 'one', related_collection: one, schema: { on_delete: 'NO ACTION' } };
  };

  const CHANGES: Entry[] = [
    {
      route: 'POST /collections',
      code: 'RESERVED_NAME',
      given: async () => ({ path: '/collections', body: table('order') }),
    },
    {
      route: 'POST /collections',
      what: 'of several',
      code: 'RESERVED_NAME',
      given: async () => ({ path: '/collections', body: [table('fine'), table('group')] }),
    },
    {
      route: 'DELETE /collections/{id}',
      code: 'LOSES_DATA',
      given: async () => (await make('a1'), { path: '/collections/a1' }),
    },
    {
      route: 'DELETE /collections/{id}',
      what: 'purged at once',
      code: 'LOSES_DATA',
      given: async () => (await make('a2'), { path: '/collections/a2?purge' }),
    },
    {
      route: 'POST /collections/{id}/rename',
      code: 'BREAKS_CLIENTS',
      given: async () => (await make('a3'), { path: '/collections/a3/rename', body: { to: 'a3_new' } }),
    },
    {
      route: 'POST /fields/{collection}',
      code: 'RESERVED_NAME',
      given: async () => (await make('b1'), { path: '/fields/b1', body: column('user') }),
    },
    {
      route: 'PATCH /fields/{collection}',
      code: 'MAY_FAIL',
      given: async () => (
        await make('b2', column('x')),
        { path: '/fields/b2', body: [{ field: 'x', schema: { is_nullable: false } }] }
      ),
    },
    {
      route: 'PATCH /fields/{collection}/{field}',
      code: 'LONG_LOCK',
      given: async () => (
        await make('b3', column('x')),
        { path: '/fields/b3/x', body: { schema: { is_unique: true } } }
      ),
    },
    {
      route: 'PATCH /fields/{collection}/{field}',
      what: 'a type',
      code: 'NARROWS_TYPE',
      given: async () => (await make('b4', column('x')), { path: '/fields/b4/x', body: { schema: { max_length: 9 } } }),
    },
    {
      route: 'DELETE /fields/{collection}/{field}',
      code: 'LOSES_DATA',
      given: async () => (await make('b5', column('x')), { path: '/fields/b5/x' }),
    },
    {
      route: 'POST /fields/{collection}/{field}/rename',
      code: 'BREAKS_CLIENTS',
      given: async () => (await make('b6', column('x')), { path: '/fields/b6/x/rename', body: { to: 'y' } }),
    },
    {
      route: 'POST /relations',
      code: 'FOREIGN_KEY_WITHOUT_INDEX',
      given: async () => ({ path: '/relations', body: await related('c1', 'c1_one') }),
    },
    {
      route: 'PATCH /relations/{collection}/{field}',
      code: 'CASCADE_DELETES',
      async given() {
        await api.ok('POST', '/relations', await related('c2', 'c2_one'));
        return { path: '/relations/c2/one', body: { schema: { on_delete: 'CASCADE' } } };
      },
    },
    {
      route: 'DELETE /relations/{collection}/{field}',
      code: 'DROPS_CONSTRAINT',
      async given() {
        await api.ok('POST', '/relations', await related('c3', 'c3_one'));
        return { path: '/relations/c3/one' };
      },
    },
    {
      route: 'POST /schema/apply',
      code: 'LOSES_DATA',
      async given() {
        await make('d1', column('x'));
        const now = await snapshot();
        const less = { ...now, fields: now.fields.filter((each) => each.collection !== 'd1' || each.field !== 'x') };
        return { path: '/schema/apply', body: await api.ok('POST', '/schema/diff', less) };
      },
    },
    {
      route: 'POST /schema/apply',
      what: 'going back in history',
      code: 'LOSES_DATA',
      async given() {
        const before = await api.head();
        await make('d2');
        return { path: '/schema/apply', body: await api.ok('GET', `/history/diff?to=${before}`) };
      },
    },
    {
      route: 'POST /schema/apply',
      what: 'what was merged',
      code: 'LOSES_DATA',
      async given() {
        await make('d3', column('x'));
        const base = await snapshot();
        const theirs = {
          ...base,
          fields: base.fields.filter((each) => each.collection !== 'd3' || each.field !== 'x'),
        };
        return { path: '/schema/apply', body: await api.ok('POST', '/schema/merge', { base, theirs }) };
      },
    },
    {
      route: 'POST /schema/adopt',
      code: 'RESERVED_NAME',
      async given() {
        await api.sql('CREATE TABLE "select" (id bigint PRIMARY KEY)');
        return { path: '/schema/adopt', body: { tables: ['select'] } };
      },
    },
    {
      route: 'POST /schema/adopt',
      what: 'without a primary key',
      code: 'NO_PRIMARY_KEY',
      async given() {
        await api.sql('CREATE TABLE e1 (x text)');
        return { path: '/schema/adopt', body: { tables: ['e1'] } };
      },
    },
    {
      route: 'POST /schema/drift/accept',
      code: 'RESERVED_NAME',
      async given() {
        await make('e2');
        await api.sql('ALTER TABLE e2 ADD COLUMN "table" text');
        return { path: '/schema/drift/accept', body: { collections: ['e2'] } };
      },
    },
    {
      route: 'POST /trash/{position}/restore',
      code: 'RESERVED_NAME',
      async given() {
        await make('where');
        return { path: `/trash/${await trashed('/collections/where')}/restore` };
      },
    },
    {
      route: 'POST /trash/{position}/restore',
      what: 'of a field',
      code: 'LONG_LOCK',
      async given() {
        await make('f1', column('x', { is_unique: true }));
        return { path: `/trash/${await trashed('/fields/f1/x')}/restore` };
      },
    },
  ];

  /** Of metadata alone no rule finds anything: there is nothing that a policy could say of it. */
  const METADATA: Omit<Entry, 'code'>[] = [
    {
      route: 'PATCH /collections',
      given: async () => (
        await make('g1'),
        { path: '/collections', body: [{ collection: 'g1', meta: { note: 'x' } }] }
      ),
    },
    {
      route: 'PATCH /collections/{id}',
      given: async () => (await make('g2'), { path: '/collections/g2', body: { meta: { note: 'x' } } }),
    },
  ];

  /** They leave the schema as it is. */
  const OTHERS: readonly string[] = [
    'POST /schema/diff',
    'POST /schema/merge',
    'PUT /policy',
    'POST /policy/test',
    // What it takes was deleted, and judged, before.
    'DELETE /trash/{position}',
    'POST /auth/login',
    'POST /auth/refresh',
    'POST /auth/logout',
    'POST /users',
    'PATCH /users/{id}',
    'DELETE /users/{id}',
    'POST /users/{id}/tokens',
    'DELETE /users/{id}/tokens/{token}',
    'DELETE /users/{id}/sessions',
    'DELETE /sessions/{id}',
    'POST /history/acknowledge',
    'POST /history/checkpoint/keys',
    'POST /projections/{name}/rebuild',
  ];

  const isOfRequests = (route: string): boolean =>
    route.startsWith('POST /changes') || route.startsWith('PATCH /changes');

  it('are all that there are', async () => {
    const { paths } = await api.ok<{ paths: Record<string, Record<string, unknown>> }>('GET', '/server/openapi.json');
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
    const known = new Set([...CHANGES, ...METADATA].map(({ route }) => route).concat(OTHERS));
    // Change requests: what is asked for stands below, what approves and applies them with their own tests.
    expect(routes.filter((route) => !known.has(route) && !isOfRequests(route))).to.deep.equal([]);
    expect([...known].filter((route) => !routes.includes(route))).to.deep.equal([]);
  });

  const send = ({ route }: { route: string }, { path, body }: Request, token?: string | null) => {
    const method = route.split(' ')[0] ?? '';
    return client(path, {
      ...(body === undefined ? { method } : json(body, method)),
      ...(token !== undefined && { token }),
    });
  };
  const everything = Object.fromEntries(
    RULES.filter(({ shownOnly }) => shownOnly !== true).map(({ code }) => [code, 'refuse']),
  );

  for (const entry of CHANGES) {
    it(`${entry.route}${entry.what === undefined ? '' : `, ${entry.what}`}: ${entry.code} is refused`, async () => {
      const { route, code, given } = entry;
      await api.ok('PUT', '/policy', {});
      const request = await given();
      await api.ok('PUT', '/policy', { findings: { [code]: 'refuse' } });
      const head = await api.head();
      for (const role of ROLES) expect((await send({ route }, request, tokens[role])).status, role).to.equal(403);
      expect((await send({ route }, request, null)).status).to.equal(401);
      const refused = await send({ route }, request);
      expect([refused.status, ...new Set(refused.codes)], refused.text).to.deep.equal([422, 'POLICY_REFUSED']);
      const { errors } = refused.json as { errors: { extensions: { finding: string; action: string } }[] };
      for (const { extensions } of errors) expect(extensions).to.include({ finding: code, action: 'refuse' });
      expect(await api.head()).to.equal(head);
      await api.ok('PUT', '/policy', { findings: { [code]: 'approve' } });
      expect((await send({ route }, request)).codes).to.include('POLICY_REFUSED');
      await api.ok('PUT', '/policy', { findings: { [code]: 'warn' } });
      const done = await send({ route }, request);
      expect(done.status, done.text).to.be.within(200, 204);
    });
  }

  for (const entry of METADATA) {
    it(`${entry.route}: nothing of it can be refused`, async () => {
      await api.ok('PUT', '/policy', {});
      const request = await entry.given();
      await api.ok('PUT', '/policy', { findings: everything });
      const head = await api.head();
      expect((await send(entry, request)).status).to.equal(200);
      expect((await api.events(head)).map((event) => event.split(' ')[0])).to.deep.equal(['collection.updated']);
      await api.ok('PUT', '/policy', {});
    });
  }

  it('a change that carries several codes is refused with all of them, the strictest first', async () => {
    await api.ok('PUT', '/policy', {});
    await make('h1', column('x'));
    await api.ok('PUT', '/policy', {
      findings: { MAY_FAIL: 'acknowledge', NOT_NULL_OVER_ROWS: 'refuse', LONG_LOCK: 'approve' },
    });
    const refused = await send({ route: 'PATCH' }, { path: '/fields/h1/x', body: { schema: { is_nullable: false } } });
    const { errors } = refused.json as { errors: { extensions: { finding: string; action: string } }[] };
    expect(errors.map(({ extensions }) => extensions.action)).to.deep.equal(['refuse', 'approve', 'acknowledge']);
    await api.ok('PUT', '/policy', {});
  });

  it('an admin with a session is held to it as one with a token', async () => {
    await make('h2', column('x'));
    await api.ok('PUT', '/policy', { findings: { LOSES_DATA: 'refuse' } });
    const login = await client('/auth/login', {
      ...json({ email: service.adminEmail, password: service.adminPassword }),
      token: null,
    });
    const { data } = login.json as { data: { access_token: string } };
    const refused = await client('/fields/h2/x', { method: 'DELETE', token: data.access_token });
    expect([refused.status, ...refused.codes]).to.deep.equal([422, 'POLICY_REFUSED']);
    await api.ok('PUT', '/policy', {});
  });
});
