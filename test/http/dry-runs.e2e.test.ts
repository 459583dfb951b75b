import { expect } from 'chai';
import { documentOfRoutes } from '../support/openapi.js';
import { withService } from '../support/with-service.js';

interface Plan {
  accepted: boolean | null;
  errors?: { message: string }[];
  events: { type: string }[];
  statements: { summary: string; sql: string }[];
  warnings: { code: string }[];
  tables: { table: string; lock: string }[];
}

const plain = (field: string, type = 'string', schema: object = {}) => ({
  field,
  type,
  meta: { interface: 'x' },
  schema,
});
const summaries = ({ statements }: Plan) => statements.map(({ summary }) => summary);
const KEY = { is_primary_key: true, has_auto_increment: true };

/** Routes of change requests that record events about the request and change no table. */
const ABOUT_REQUESTS = /^\/changes(\/\{id\}(\/(withdraw|comment|approve|reject|prepare|rebase|revert))?)?$/;

describe('dry runs', () => {
  const { api } = withService({ consistent: true });

  const make = (collection: string, ...fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields: [plain('id', 'integer', KEY), ...fields] });
  const deletionOf = async (path: string): Promise<number> => {
    await api.ok('DELETE', path);
    return (await api.ok<{ data: { position: number }[] }>('GET', '/trash')).data[0]?.position ?? 0;
  };
  const catalog = () =>
    api.sql(
      `SELECT c.oid::regclass::text AS name, c.relkind, array_agg(a.attname::text ORDER BY a.attnum) AS columns
         FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace::regnamespace::text ~ '^(public|service_trash.*|trash.*)$' GROUP BY c.oid ORDER BY 1`,
    );

  /** Each entry has its preparation and the events that it appends. */
  const CHANGES: [name: string, method: string, given: () => Promise<[path: string, body?: unknown]>, type: string][] =
    [
      [
        'creates a collection',
        'POST',
        async () => ['/collections', { collection: 'c1', schema: {} }],
        'collection.created',
      ],
      [
        'creates collections',
        'POST',
        async () => [
          '/collections',
          [
            { collection: 'c2', schema: {} },
            { collection: 'c3', schema: null },
          ],
        ],
        'collection.created',
      ],
      [
        'updates collections',
        'PATCH',
        async () => (await make('u1'), ['/collections', [{ collection: 'u1', meta: { note: 'n' } }]]),
        'collection.updated',
      ],
      [
        'updates a collection',
        'PATCH',
        async () => (await make('u2'), ['/collections/u2', { meta: { note: 'n' } }]),
        'collection.updated',
      ],
      [
        'renames a collection',
        'POST',
        async () => (await make('r1'), ['/collections/r1/rename', { to: 'r2' }]),
        'collection.renamed',
      ],
      ['deletes a collection', 'DELETE', async () => (await make('d1'), ['/collections/d1']), 'collection.deleted'],
      ['creates a field', 'POST', async () => (await make('f1'), ['/fields/f1', plain('a')]), 'field.created'],
      [
        'updates fields',
        'PATCH',
        async () => (await make('f2', plain('a')), ['/fields/f2', [{ field: 'a', schema: { is_unique: true } }]]),
        'field.updated',
      ],
      [
        'updates a field',
        'PATCH',
        async () => (await make('f3', plain('a')), ['/fields/f3/a', { schema: { is_unique: true } }]),
        'field.updated',
      ],
      [
        'renames a field',
        'POST',
        async () => (await make('f4', plain('a')), ['/fields/f4/a/rename', { to: 'b' }]),
        'field.renamed',
      ],
      ['deletes a field', 'DELETE', async () => (await make('f5', plain('a')), ['/fields/f5/a']), 'field.deleted'],
      [
        'creates a relation',
        'POST',
        async () => {
          await make('l1', plain('other', 'integer'));
          return ['/relations', { many_collection: 'l1', many_field: 'other', one_collection: 'l1' }];
        },
        'relation.created',
      ],
      [
        'updates a relation',
        'PATCH',
        async () => {
          await make('l2', plain('other', 'integer'), { field: 'others', type: 'alias', meta: { interface: 'x' } });
          await api.ok('POST', '/relations', { many_collection: 'l2', many_field: 'other', one_collection: 'l2' });
          return ['/relations/l2/other', { one_field: 'others' }];
        },
        'relation.updated',
      ],
      [
        'deletes a relation',
        'DELETE',
        async () => {
          await make('l3', plain('other', 'integer'));
          await api.ok('POST', '/relations', { many_collection: 'l3', many_field: 'other', one_collection: 'l3' });
          return ['/relations/l3/other'];
        },
        'relation.deleted',
      ],
      [
        'applies a diff',
        'POST',
        async () => {
          const snapshot = await api.ok<{ collections: object[] }>('GET', '/schema/snapshot');
          const desired = { ...snapshot, collections: [...snapshot.collections, { collection: 'a1', schema: {} }] };
          return ['/schema/apply', await api.ok('POST', '/schema/diff', desired)];
        },
        'collection.created',
      ],
      [
        'restores a collection',
        'POST',
        async () => (await make('t1'), [`/trash/${await deletionOf('/collections/t1')}/restore`]),
        'collection.created',
      ],
      [
        'restores a field',
        'POST',
        async () => (await make('t2', plain('a')), [`/trash/${await deletionOf('/fields/t2/a')}/restore`]),
        'field.created',
      ],
      [
        'purges',
        'DELETE',
        async () => (await make('t3'), [`/trash/${await deletionOf('/collections/t3')}`]),
        'trash.purged',
      ],
      [
        'applies a change request',
        'POST',
        async () => {
          const snapshot = await api.ok<{ collections: object[] }>('GET', '/schema/snapshot');
          const desired = { ...snapshot, collections: [...snapshot.collections, { collection: 'a2', schema: {} }] };
          const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', {
            title: 't',
            snapshot: desired,
          });
          return [`/changes/${data.id}/apply`];
        },
        'collection.created',
      ],
    ];

  it('are offered by every route that changes the schema', () => {
    const without = Object.entries(documentOfRoutes().paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => {
        const { parameters = [], responses = {} } = operation as {
          parameters?: { name: string }[];
          responses?: Record<string, { headers?: object }>;
        };
        const changes = Object.values(responses).some(({ headers = {} }) => 'X-Batch-Id' in headers);
        const isOffered = parameters.some(({ name }) => name === 'dry_run');
        return changes && !isOffered && !ABOUT_REQUESTS.test(path) ? [`${method} ${path}`] : [];
      }),
    );
    expect(without).to.deep.equal([]);
  });

  for (const [name, method, input, type] of CHANGES) {
    it(`leave no trace, and plan what the request then does: ${name}`, async () => {
      const [path, body] = await input();
      const before = { head: await api.head(), catalog: await catalog() };
      const tried = await api.ok<Plan>(method, `${path}?dry_run`, body);
      const { events } = tried;
      expect(tried.accepted).to.equal(true);
      expect(events.map((event) => event.type)).to.include(type);
      if (!path.startsWith('/changes/')) {
        const explained = await api.ok<Plan>(method, `${path}?explain`, body);
        expect(explained.accepted).to.equal(null);
        expect(explained.events.map((event) => event.type)).to.deep.equal(events.map((event) => event.type));
        // Only an executed plan knows what the trash can keep.
        if (!tried.statements.some(({ summary }) => summary.includes('trash')))
          expect(summaries(explained)).to.deep.equal(summaries(tried));
      }
      expect({ head: await api.head(), catalog: await catalog() }).to.deep.equal(before);
      await api.ok(method, path, body);
      const carriedOut = (await api.events(before.head)).map((text) => text.split(' ')[0]);
      expect(carriedOut).to.include.members(events.map((event) => event.type));
    });
  }

  it('return what PostgreSQL would reject, and leave the key of the request unused', async () => {
    await make('taken', plain('a'));
    await api.sql(`INSERT INTO taken (a) VALUES ('x'), ('x')`);
    const body = { schema: { is_unique: true } };
    const plan = await api.ok<Plan>('PATCH', '/fields/taken/a?dry_run', body);
    expect(plan.accepted).to.equal(false);
    expect(plan.errors).to.have.lengthOf(1);
    await api.sql(`DELETE FROM taken`);
    const headers = { 'idempotency-key': 'one', 'content-type': 'application/json' };
    const send = { method: 'PATCH', headers, body: JSON.stringify(body) };
    const tried = await api.client('/fields/taken/a?dry_run', send);
    expect(tried.json).to.include({ accepted: true });
    const done = await api.client('/fields/taken/a', send);
    expect(done.json).to.have.nested.property('data.schema.is_unique', true);
  });

  it('reject a scheduled time in the dry run of a change request', async () => {
    const snapshot = await api.ok<{ collections: object[] }>('GET', '/schema/snapshot');
    const desired = { ...snapshot, collections: [...snapshot.collections, { collection: 'later', schema: {} }] };
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 't', snapshot: desired });
    const expected = { status: 400, code: 'INVALID_PAYLOAD', at: 'at' };
    await api.refused(expected, 'POST', `/changes/${data.id}/apply?dry_run`, { at: '2030-01-01T00:00:00Z' });
  });

  it('a dry run of a change request rejects a stale plan', async () => {
    await make('moving');
    const snapshot = await api.ok<{ collections: { collection: string }[]; fields: { collection: string }[] }>(
      'GET',
      '/schema/snapshot',
    );
    const expected = {
      ...snapshot,
      collections: snapshot.collections.filter(({ collection }) => collection !== 'moving'),
      fields: snapshot.fields.filter(({ collection }) => collection !== 'moving'),
    };
    const { data } = await api.ok<{ data: { id: string } }>('POST', '/changes', { title: 't', snapshot: expected });
    await api.ok('POST', '/fields/moving', plain('more'));
    const refused = await api.client(`/changes/${data.id}/apply`, { method: 'POST' });
    const tried = await api.client(`/changes/${data.id}/apply?dry_run`, { method: 'POST' });
    expect(tried.status).to.equal(409);
    expect(tried.codes).to.deep.equal(refused.codes);
  });
});
