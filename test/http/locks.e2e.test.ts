import { expect } from 'chai';
import pg from 'pg';
import { until } from '../support/until.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';
import { type Client, clientOf, json } from '../support/client.js';
import { withService } from '../support/with-service.js';

describe('an open transaction of an application', () => {
  let database: TestDatabase;
  let service: TestService;
  let beside: TestService;
  let client: Client;
  let application: pg.Client;

  before(async () => {
    database = await createDatabase('migrated');
    const settings = { DATABASE_URL: database.connectionString, LOCK_TIMEOUT: '5s', LOCK_WAIT: '150ms' };
    service = await startService(settings);
    beside = await startService(settings);
    client = clientOf(service);
    application = new pg.Client({ connectionString: database.connectionString, application_name: 'shop' });
    await application.connect();
    for (const collection of ['a', 'b']) {
      const fields = [{ field: 't', type: 'string', meta: { interface: 'input' }, schema: {} }];
      expect((await client('/collections', json({ collection, schema: {}, fields }))).status).to.equal(200);
    }
    await application.query(`BEGIN; SELECT count(*) AS private FROM a`);
  });

  after(async () => {
    await application.end();
    await service.stop();
    await beside.stop();
    await database.drop();
  });

  const tighten = json({ schema: { is_nullable: false } }, 'PATCH');
  const head = async (): Promise<string | null> => (await client('/collections')).headers.get('x-log-position');

  it('is named in the 503 of a change to its table, while other tables can change on any process', async () => {
    const position = Number(await head());
    let isOver = false;
    const waiting = client('/fields/a/t', tighten).finally(() => (isOver = true));
    const others = [client, clientOf(beside)].map((each, index) =>
      each('/fields/b/t', json({ meta: { note: `${index}` } }, 'PATCH')),
    );
    for (const { status, text } of await Promise.all(others)) expect(status, text).to.equal(200);
    expect(isOver, 'they waited for it').to.equal(false);
    const { status, headers, text } = await waiting;
    expect(status).to.equal(503);
    expect(Number(headers.get('retry-after'))).to.be.above(0);
    const { errors } = JSON.parse(text) as { errors: { message: string; extensions: Record<string, unknown> }[] };
    const { message, extensions } = errors[0] as (typeof errors)[number];
    expect(extensions).to.include({ code: 'LOCK_TIMEOUT', collection: 'a' });
    const [blocker] = extensions['blocked_by'] as Record<string, unknown>[];
    expect(blocker).to.include({ application_name: 'shop', collection: 'a' });
    expect(blocker?.['pid']).to.be.a('number');
    expect(message).to.include('"shop"');
    expect(text).not.to.include('private');
    expect(Number(await head())).to.equal(position + 2);
  });

  it('ends the wait when the client disconnects', async () => {
    const position = await head();
    const waits = (): number => service.log().split('a change is waiting for a lock').length;
    const before = waits();
    const gone = new AbortController();
    const pending = fetch(`${service.url}/fields/a/t`, {
      method: 'PATCH',
      headers: { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ schema: { is_nullable: false } }),
      signal: gone.signal,
    }).catch(() => undefined);
    await until('it waits', () => waits() > before);
    gone.abort();
    await pending;
    await until(
      'it was given up',
      () => service.log().includes('disconnected') || /"code":"UNAVAILABLE"/.test(service.log()),
    );
    await application.query('COMMIT');
    expect(await head()).to.equal(position);
    expect((await client('/fields/a/t', tighten)).status).to.equal(200);
  });

  it('is named when drift of its table is to be accepted', async () => {
    await application.query('ALTER TABLE b ADD more integer');
    await application.query('BEGIN; LOCK b IN SHARE UPDATE EXCLUSIVE MODE');
    const { status, text, json: body } = await client('/schema/drift/accept', json({}));
    await application.query('COMMIT');
    expect(status, text).to.equal(503);
    const [error] = (body as { errors: { extensions: Record<string, unknown> }[] }).errors;
    expect(error?.extensions).to.include({ code: 'LOCK_TIMEOUT', collection: 'b' });
    expect(error?.extensions).to.have.nested.property('blocked_by[0].application_name', 'shop');
  });
});

describe('an open transaction that uses an object', () => {
  const settings = { OBJECTS: 'on', LOCK_TIMEOUT: '2s', LOCK_WAIT: '100ms' };
  let application: pg.Client | undefined;
  const { api, client, service } = withService({ settings, consistent: true, atEnd: async () => application?.end() });

  const create = (kind: string, definition: string, more: object = {}) =>
    api.ok('POST', '/objects', { kind, definition, ...more });

  before(async () => {
    application = new pg.Client({ connectionString: service.databaseUrl, application_name: 'shop' });
    await application.connect();
    await api.ok('POST', '/collections', { collection: 'posts', schema: {} });
    await create('view', 'CREATE VIEW recent AS SELECT id FROM posts');
    await create('materialized_view', 'CREATE MATERIALIZED VIEW counts AS SELECT count(*) AS posts FROM posts', {
      indexes: [{ name: 'counts_posts', definition: 'USING btree (posts)' }],
    });
    await create('function', `CREATE FUNCTION one() RETURNS integer LANGUAGE sql AS 'SELECT 1'`);
    await create('aggregate', 'CREATE AGGREGATE ones(*) (SFUNC = int8inc, STYPE = bigint, INITCOND = 0)');
    const returns = 'RETURNS trigger LANGUAGE plpgsql';
    await create('function', `CREATE FUNCTION skip() ${returns} AS 'BEGIN RETURN NULL; END'`);
    await create('trigger', 'CREATE TRIGGER skip INSTEAD OF INSERT ON recent FOR EACH ROW EXECUTE FUNCTION skip()');
  });

  interface Blocked {
    title: string;
    /** Statements of the open transaction. */
    work: string;
    request: [method: string, path: string, body?: object];
    expected: { message: string; subject: object };
  }

  const view = { message: 'View "recent" is in use', subject: { object: { kind: 'view', id: 'recent' } } };
  const counts = { kind: 'materialized_view', id: 'counts' };
  const one = { message: 'Function "one()" is in use', subject: { object: { kind: 'function', id: 'one()' } } };

  const cases: Blocked[] = [
    {
      title: 'names the reader of a view that a request redefines',
      work: 'SELECT FROM recent',
      request: [
        'PATCH',
        '/objects/view/recent',
        { definition: 'CREATE VIEW recent AS SELECT id + 1 AS id FROM posts' },
      ],
      expected: view,
    },
    {
      title: 'names the reader of a view that a request renames',
      work: 'SELECT FROM recent',
      request: ['POST', '/objects/view/recent/rename', { to: 'latest' }],
      expected: view,
    },
    {
      title: 'names the transaction that locks a view on which a request creates a trigger',
      work: 'LOCK TABLE recent IN SHARE ROW EXCLUSIVE MODE',
      request: [
        'POST',
        '/objects',
        {
          kind: 'trigger',
          definition: 'CREATE TRIGGER more INSTEAD OF DELETE ON recent FOR EACH ROW EXECUTE FUNCTION skip()',
        },
      ],
      expected: view,
    },
    {
      title: 'names the transaction that locks the table of a new view',
      work: 'LOCK TABLE posts IN ACCESS EXCLUSIVE MODE',
      request: ['POST', '/objects', { kind: 'view', definition: 'CREATE VIEW all_posts AS SELECT id FROM posts' }],
      expected: { message: 'Table "posts" is in use', subject: { collection: 'posts' } },
    },
    {
      title: 'names the transaction that locks the table to which a new rule writes',
      work: 'LOCK TABLE posts IN SHARE MODE',
      request: [
        'POST',
        '/objects',
        {
          kind: 'rule',
          definition: 'CREATE RULE gone AS ON DELETE TO recent DO INSTEAD DELETE FROM posts WHERE posts.id = old.id',
        },
      ],
      expected: { message: 'Table "posts" is in use', subject: { collection: 'posts' } },
    },
    {
      title: 'names the reader of a materialized view that loses an index',
      work: 'SELECT FROM counts',
      request: ['PATCH', '/objects/materialized_view/counts', { indexes: [] }],
      expected: { message: 'Materialized view "counts" is in use', subject: { object: counts } },
    },
    {
      title: 'names the transaction that refreshes a materialized view for which a request sets a comment',
      work: 'REFRESH MATERIALIZED VIEW counts',
      request: ['PATCH', '/objects/materialized_view/counts', { comment: 'Posts' }],
      expected: { message: 'Materialized view "counts" is in use', subject: { object: counts } },
    },
    {
      title: 'names the transaction that replaced a function that a request replaces too',
      work: `CREATE OR REPLACE FUNCTION one() RETURNS integer LANGUAGE sql AS 'SELECT 2'`,
      request: [
        'PATCH',
        '/objects/function/one()',
        { definition: `CREATE FUNCTION one() RETURNS integer LANGUAGE sql AS 'SELECT 3'` },
      ],
      expected: one,
    },
    {
      title: 'names the transaction that comments on a function that a request deletes',
      work: `COMMENT ON FUNCTION one() IS 'One'`,
      request: ['DELETE', '/objects/function/one()'],
      expected: one,
    },
    {
      title: 'names the transaction that comments on an aggregate without arguments that a request deletes',
      work: `COMMENT ON AGGREGATE ones(*) IS 'Ones'`,
      request: ['DELETE', '/objects/aggregate/ones()'],
      expected: { message: 'Aggregate "ones()" is in use', subject: { object: { kind: 'aggregate', id: 'ones()' } } },
    },
  ];
  for (const { title, work, request, expected } of cases)
    it(title, async () => {
      await application?.query(`BEGIN; ${work}`);
      try {
        const { message, extensions } = await api.refused({ status: 503, code: 'LOCK_TIMEOUT' }, ...request);
        expect(message).to.include(expected.message).and.include('"shop"');
        expect(extensions).to.deep.include(expected.subject);
        const [blocker] = extensions['blocked_by'] as Record<string, unknown>[];
        expect(blocker).to.deep.include({ application_name: 'shop', ...expected.subject });
      } finally {
        await application?.query('ROLLBACK');
      }
    });

  it('is not named to a token whose scope contains only the changed collection', async () => {
    const rank = { field: 'rank', type: 'integer', meta: { interface: 'input' }, schema: {} };
    await api.ok('POST', '/fields/posts', rank);
    await api.ok('POST', '/collections', { collection: 'payroll', schema: {} });
    await create('view', 'CREATE VIEW salaries AS SELECT p.rank FROM posts p, payroll');
    const { data: admin } = await api.ok<{ data: { id: string } }>('GET', '/users/me');
    const scope = { collections: ['posts'] };
    const { data } = await api.ok<{ data: { token: string } }>('POST', `/users/${admin.id}/tokens`, { scope });
    const change = { token: data.token, ...json({ type: 'bigInteger' }, 'PATCH') };
    const comment = `COMMENT ON VIEW salaries IS 'Salaries'`;
    for (const [first, second, blocked] of [
      [comment, 'SELECT', []],
      ['LOCK TABLE payroll IN ACCESS EXCLUSIVE MODE', 'SELECT', []],
      ['SELECT FROM posts', comment, ['posts']],
    ] as const) {
      const other = new pg.Client({ connectionString: service.databaseUrl });
      await other.connect();
      try {
        await application?.query(`BEGIN; ${first}`);
        await other.query(`BEGIN; ${second}`);
        const { status, json: body, text } = await client('/fields/posts/rank', change);
        expect(status, text).to.equal(503);
        expect(text).not.to.include('salaries').and.not.to.include('payroll');
        const [error] = (body as { errors: { extensions: { code: string; blocked_by: { collection: string }[] } }[] })
          .errors;
        expect(error?.extensions.code).to.equal('LOCK_TIMEOUT');
        expect(error?.extensions.blocked_by.map(({ collection }) => collection)).to.deep.equal(blocked);
      } finally {
        await application?.query('ROLLBACK');
        await other.end();
      }
    }
    expect((await client('/fields/posts/rank', change)).status).to.equal(200);
  });
});
