/**
 * Every write route with the finding that the policy can reject, or the reason why there is none. The objects a
 * request needs are created while nothing is rejected.
 */
import type { Api } from '../support/api.js';
import { onlineOf } from '../support/online.js';

export interface Request {
  path: string;
  body?: unknown;
}

interface Entry {
  /** As in the reference: `POST /collections`. */
  route: string;
  what?: string;
  /** The finding code. */
  code: string;
  /** Creates the needed objects while nothing is rejected, and returns the request. */
  given: () => Promise<Request>;
  /** Undoes work that continues after the response. */
  over?: (request: Request) => Promise<unknown>;
}

interface Proposed {
  id: string;
  plan: string;
}

export interface Entries {
  changes: Entry[];
  metadata: Omit<Entry, 'code'>[];
  proposals: Omit<Entry, 'code'>[];
  others: readonly string[];
  make: (...args: Parameters<typeof table>) => Promise<unknown>;
}

export const column = (field: string, schema: object = {}) => ({ field, type: 'string', interface: 'input', schema });
const table = (collection: string, ...fields: object[]) => ({
  collection,
  schema: {},
  fields: [
    { field: 'id', type: 'bigInteger', interface: 'input', schema: { is_primary_key: true, has_auto_increment: true } },
    ...fields,
  ],
});

export function entriesOf(api: Api): Entries {
  const online = onlineOf(api);
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

  /** An open change request that removes a field. */
  const proposed = async (collection: string, more: object = {}): Promise<Proposed> => {
    await make(collection, column('x'));
    const now = await snapshot();
    const fields = now.fields.filter((each) => each.collection !== collection || each.field !== 'x');
    const diff = await api.ok('POST', '/schema/diff', { ...now, fields });
    return (await api.ok<{ data: Proposed }>('POST', '/changes', { title: 'Less', diff, ...more })).data;
  };
  const on = async (collection: string, act: string, body?: unknown): Promise<Request> => {
    const { id } = await proposed(collection);
    return { path: `/changes/${id}${act}`, ...(body !== undefined && { body }) };
  };

  const changes: Entry[] = [
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
      route: 'DELETE /collections/{id}',
      what: 'purged at once, which the trash does not keep',
      code: 'DATA_NOT_KEPT',
      given: async () => (await make('a4'), { path: '/collections/a4?purge' }),
    },
    ...(['LOSES_DATA', 'DATA_NOT_KEPT'] as const).map((code) => ({
      route: 'DELETE /trash/{position}',
      code,
      given: async () => (await make(`a5_${code}`), { path: `/trash/${await trashed(`/collections/a5_${code}`)}` }),
    })),
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
      route: 'PATCH /fields/{collection}/{field}',
      what: 'filled',
      code: 'FILLS_ROWS',
      given: async () => (
        await make('b7', column('x')),
        { path: '/fields/b7/x', body: { schema: { is_nullable: false }, backfill: { value: 'y' } } }
      ),
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
    {
      route: 'POST /changes/{id}/apply',
      code: 'LOSES_DATA',
      given: () => on('i1', '/apply'),
    },
    {
      route: 'POST /changes/{id}/apply',
      what: 'of one that others approved',
      code: 'LOSES_DATA',
      async given() {
        const { id, plan } = await proposed('i2');
        // The policy requires two approvals, so one is not enough.
        await api.ok('POST', `/changes/${id}/approve`, { plan });
        return { path: `/changes/${id}/apply` };
      },
    },
    {
      route: 'POST /changes/{id}/apply',
      what: 'at a time',
      code: 'LOSES_DATA',
      given: () => on('i3', '/apply', { at: new Date(Date.now() + 3_600_000).toISOString() }),
      over: ({ path }) => api.ok('POST', path.replace(/apply$/, 'withdraw')),
    },
    {
      route: 'POST /changes/{id}/prepare',
      code: 'MAY_FAIL',
      async given() {
        await online.large('i4', [column('x')], `x = 'n' || i`);
        const diff = await online.diff(({ fields }) => {
          for (const { collection, field, schema } of fields)
            if (collection === 'i4' && field === 'x') schema.is_unique = true;
        });
        const opened = { title: 'Unique', diff, online: true };
        const { data } = await api.ok<{ data: Proposed }>('POST', '/changes', opened);
        return { path: `/changes/${data.id}/prepare` };
      },
      over: async ({ path }) => {
        const request = path.replace(/\/prepare$/, '');
        await api.ok('POST', `${request}/withdraw`);
        await online.ended(request.replace('/changes/', ''), 'withdrawn');
      },
    },
  ];

  /** No rule reports changes that are only metadata, so the policy cannot reject them. */
  const metadata: Omit<Entry, 'code'>[] = [
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

  /** Changes that are only proposed. */
  const proposals: Omit<Entry, 'code'>[] = [
    {
      route: 'POST /changes',
      async given() {
        await make('j1', column('x'));
        const now = await snapshot();
        const fields = now.fields.filter((each) => each.collection !== 'j1' || each.field !== 'x');
        return { path: '/changes', body: { title: 'Less', snapshot: { ...now, fields } } };
      },
    },
    { route: 'PATCH /changes/{id}', given: () => on('j2', '', { title: 'Much less' }) },
    { route: 'POST /changes/{id}/comment', given: () => on('j3', '/comment', { comment: 'Why?' }) },
    {
      route: 'POST /changes/{id}/approve',
      async given() {
        const { id, plan } = await proposed('j4');
        return { path: `/changes/${id}/approve`, body: { plan } };
      },
    },
    { route: 'POST /changes/{id}/reject', given: () => on('j5', '/reject', { comment: 'No' }) },
    {
      route: 'POST /changes/{id}/rebase',
      async given() {
        const request = await on('j6', '/rebase');
        await make('j6_beside');
        return request;
      },
    },
    {
      route: 'POST /changes/{id}/revert',
      async given() {
        await make('j7');
        const now = await snapshot();
        const field = { collection: 'j7', field: 'x', type: 'string', meta: { interface: 'input' }, schema: {} };
        const body = { title: 'More', snapshot: { ...now, fields: [...now.fields, field] } };
        const { data } = await api.ok<{ data: Proposed }>('POST', '/changes', body);
        await api.ok('POST', `/changes/${data.id}/apply`);
        return { path: `/changes/${data.id}/revert` };
      },
    },
    { route: 'POST /changes/{id}/withdraw', given: () => on('j8', '/withdraw') },
  ];

  /** Routes that leave the schema unchanged. */
  const others: readonly string[] = [
    'POST /schema/diff',
    'POST /schema/merge',
    'PUT /policy',
    'POST /policy/test',
    'POST /auth/login',
    'POST /auth/refresh',
    'POST /auth/logout',
    'POST /auth/oidc/token',
    'POST /auth/oidc/device',
    'POST /auth/oidc/device/token',
    'POST /auth/oidc/logout',
    'POST /auth/oidc/link',
    'POST /auth/exchange',
    'PUT /auth/trust',
    'POST /users',
    'PATCH /users/me',
    'PUT /users/me/diagrams',
    'PATCH /users/{id}',
    'DELETE /users/{id}',
    'POST /users/{id}/tokens',
    'DELETE /users/{id}/tokens/{token}',
    'DELETE /users/{id}/identities/{identity}',
    'DELETE /users/{id}/sessions',
    'POST /webhooks',
    'PATCH /webhooks/{id}',
    'DELETE /webhooks/{id}',
    'POST /webhooks/{id}/secret',
    'POST /webhooks/{id}/replay',
    'POST /webhooks/{id}/test',
    'POST /environments',
    'PATCH /environments/{id}',
    'DELETE /environments/{id}',
    'POST /environments/{id}/test',
    'POST /environments/{id}/merge',
    // Its tools call other routes.
    'POST /mcp',
    'DELETE /sessions/{id}',
    'POST /history/acknowledge',
    'POST /history/checkpoint/keys',
    'POST /projections/{name}/rebuild',
  ];

  return { changes, metadata, proposals, others, make };
}
