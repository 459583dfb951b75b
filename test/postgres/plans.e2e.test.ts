/**
 * Query plans of ordinary requests on large tables: none may scan a growing table. The statements are recorded from
 * the service instead of listed.
 */
import { expect } from 'chai';
import { loadModule, parseSync } from 'libpg-query';
import pg from 'pg';
import { type Send, clientOf, json } from '../support/client.js';
import { type TestDatabase, createDatabase, superuserUrl } from '../support/postgres.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { type TestService, startService } from '../support/service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { createWire } from '../support/wire.js';

/** Tables that grow with changes, users or requests. */
const GROWING = [
  'changes',
  'checkpoints',
  'collections',
  'documents',
  'events',
  'fields',
  'idempotency',
  'relations',
  'sessions',
  'tokens',
  'trash',
  'users',
  'webhook_deliveries',
].map((name) => `service_${name}`);

/** Numbers of events. At 10,000 to 40,000 the planner considers a scan cheap compared with a join that it overestimates. */
const SIZES = [1_000, 10_000, 30_000, 100_000];
/** Rows of the other tables: more than a few pages. */
const OTHERS = 40_000;
/** Fewer than other rows, so that hashing all of them looks cheap to the planner. */
const CHANGE_REQUESTS = 10_000;

/** A value of row `g` by column type. Texts differ from row to row. */
const VALUES: Readonly<Record<string, string>> = {
  bigint: 'g + 100',
  integer: '(g + 100)::integer',
  uuid: 'gen_random_uuid()',
  'timestamp with time zone': `now() - (200000 - g) * interval '1 second'`,
  jsonb: `'{"a": 1}'::jsonb`,
  json: `'{"a": 1}'::json`,
  boolean: 'false',
  bytea: `decode(md5(g::text), 'hex')`,
  'text[]': `'{}'::text[]`,
  'double precision': 'g',
  'event type': `'field.updated'`,
};

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

/**
 * A simple query may contain several statements.
 * @param sent a statement with its values, see `createWire`
 */
function statementsIn(sent: string): string[] {
  const text = Buffer.from(sent.split(' -- ')[0] ?? '');
  const { stmts = [] } = parseSync(text.toString()) as { stmts?: { stmt_location?: number; stmt_len?: number }[] };
  return stmts.map(({ stmt_location: from = 0, stmt_len: length }) =>
    text.toString('utf8', from, length === undefined ? undefined : from + length).trim(),
  );
}

describe('the statements of requests on large tables', () => {
  let database: TestDatabase;
  let proxy: Proxy;
  let service: TestService;
  let superuser: pg.Client;
  let receiver: Receiver;
  const wire = createWire();

  before(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    proxy.intercept((sent, connection) => {
      wire.feed(sent, connection);
      return 'pass';
    });
    receiver = await startReceiver();
    service = await startService({ DATABASE_URL: proxy.connectionString, WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1' });
    superuser = new pg.Client(await superuserUrl(database.connectionString));
    await superuser.connect();
  });
  after(async () => {
    await superuser?.end();
    await service?.stop();
    await receiver?.stop();
    await proxy?.close();
    await database?.drop();
  });

  async function requests(): Promise<void> {
    const client = clientOf(service);
    const ask = async (path: string, send: Parameters<typeof client>[1] = {}) => {
      const reply = await client(path, send);
      expect(reply.status, `${path} ${reply.text}`).below(300);
      return reply.json as { data: Record<string, string> };
    };
    const fields = [{ field: 'title', type: 'string', interface: 'input' }];
    const created = json({ collection: 'articles', schema: {}, fields });
    await ask('/collections', { ...created, headers: { ...created.headers, 'Idempotency-Key': 'k1' } });
    await ask('/collections', json({ collection: 'authors', schema: {}, fields }));
    await ask('/fields/articles', json({ field: 'author', type: 'integer' }));
    await ask('/relations', json({ collection: 'articles', field: 'author', related_collection: 'authors' }));
    await ask('/collections/articles', json({ meta: { note: 'n' } }, 'PATCH'));
    await ask('/fields/articles/title', json({ schema: { max_length: 40 } }, 'PATCH'));
    await ask('/fields/articles/title/rename', json({ to: 'headline' }));
    await ask('/fields/articles/headline', { method: 'DELETE' });
    await ask('/collections/authors/rename', json({ to: 'people' }));
    // The former names of a collection are read if the policy has rules for some collections.
    await ask('/policy', json({ collections: [{ pattern: 'prod_*', findings: { LOSES_DATA: 'refuse' } }] }, 'PUT'));
    await ask('/fields/people', json({ field: 'age', type: 'integer' }));
    const { data: login } = await ask('/auth/login', {
      ...json({ email: service.adminEmail, password: service.adminPassword }),
      token: null,
    });
    await ask('/auth/refresh', { ...json({ refresh_token: login['refresh_token'] }), token: null });
    await ask('/users/me', { token: login['access_token'] ?? '' });
    const { data: user } = await ask('/users', json({ email: 'a@example.com', role: 'author' }));
    const { data: token } = await ask(`/users/${user['id']}/tokens`, json({ name: 'ci' }));
    await ask('/collections', { token: token['token'] ?? '' });
    const change = json({ title: 't', diff: (await client('/history/diff?to=3')).json });
    const { data: opened } = await ask('/changes', { ...change, token: token['token'] ?? '' });
    await ask(`/changes/${opened['id']}`);
    await ask(`/changes/${opened['id']}/comment`, json({ comment: 'why?' }));
    for (const path of READS) await ask(path);
    await deliver(ask);
  }

  type Ask = (path: string, send?: Send) => Promise<{ data: Record<string, string> }>;

  /** Deliveries that succeed and fail, and the requests about them. */
  async function deliver(ask: Ask): Promise<void> {
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
      await ask(`/webhooks/${id}/test`, { method: 'POST' });
      await ask(`/webhooks/${id}/replay`, json({ position: 1 }));
      await upToDate(id);
    }
    await ask('/webhooks');
  }

  const READS = [
    '/collections',
    '/collections/articles',
    '/collections/articles/table',
    '/fields',
    '/fields/articles',
    '/relations',
    '/schema/snapshot',
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
    '/changes?limit=5',
    '/changes?to_approve=true&limit=0&meta=filter_count',
    '/trash?limit=5',
    '/policy',
    '/projections',
    '/server/info',
    '/server/health',
    '/users?limit=5',
  ];

  /** Fills a table with distinct rows. Checks and triggers are disabled: these rows are never read. */
  async function fill(table: string, rows: number): Promise<void> {
    const { rows: columns } = await superuser.query<{ name: string; type: string }>(
      `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [`service.${table}`],
    );
    const values = columns.map(
      ({ name, type }) => VALUES[name === 'type' ? 'event type' : type] ?? `md5(g || '${name}')`,
    );
    await superuser.query(
      `INSERT INTO service.${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
       OVERRIDING SYSTEM VALUE
       SELECT ${values.join(', ')} FROM generate_series((SELECT count(*) FROM service.${table}) + 1, $1::bigint) g
       ON CONFLICT DO NOTHING`,
      [rows],
    );
  }

  async function withoutChecks(): Promise<void> {
    const { rows } = await superuser.query<{ sql: string }>(
      `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS sql FROM pg_constraint
        WHERE connamespace = 'service'::regnamespace AND contype IN ('c', 'f') AND conrelid <> 0`,
    );
    for (const { sql } of rows) await superuser.query(sql);
    await superuser.query('SET session_replication_role = replica');
    for (const table of GROWING) await superuser.query(`ALTER TABLE service.${table} DISABLE TRIGGER USER`);
  }

  /** The growing tables that a generic plan of the statement scans; null if it is not a query. */
  async function scannedBy(statement: string): Promise<string[] | null> {
    if (!/^(select|with|insert|update|delete)\b/i.test(statement)) return null;
    await superuser.query(`PREPARE statement_of_request AS ${statement}`);
    try {
      const { rows } = await superuser.query<{ count: number }>(
        `SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = 'statement_of_request'`,
      );
      const values = Array.from({ length: rows[0]?.count ?? 0 }, () => 'NULL').join(', ');
      const { rows: plans } = await superuser.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `EXPLAIN (FORMAT JSON) EXECUTE statement_of_request${values === '' ? '' : `(${values})`}`,
      );
      return plans.flatMap(({ 'QUERY PLAN': [{ Plan }] }) => scansIn(Plan));
    } finally {
      await superuser.query('DEALLOCATE statement_of_request');
    }
  }

  function scansIn({ 'Node Type': type, 'Relation Name': table = '', Plans = [] }: PlanNode): string[] {
    const own = type === 'Seq Scan' && GROWING.includes(table) ? [table] : [];
    return [...own, ...Plans.flatMap(scansIn)];
  }

  it('scan no growing table', async () => {
    // The start reads whole tables on purpose, and so does the first account change, which records the first admin.
    await clientOf(service)('/users', json({ email: 'first@example.com', role: 'reader' }));
    wire.take();
    await requests();
    await loadModule();
    const statements = new Set(wire.take().flat().flatMap(statementsIn));
    for (const table of ['service_events e', 'service_webhook_deliveries'])
      expect([...statements].filter((text) => text.includes('service_webhooks') && text.includes(table))).not.empty;
    await withoutChecks();
    // Autovacuum never analyzes tables that stay small. The planner then expects hundreds of rows in an empty one.
    await superuser.query(
      `UPDATE pg_class SET reltuples = -1, relpages = 0
        WHERE relnamespace = 'service'::regnamespace AND relkind = 'r' AND relname <> ALL ($1)`,
      [GROWING],
    );
    await superuser.query('SET plan_cache_mode = force_generic_plan');
    for (const table of GROWING)
      if (table !== 'service_events') await fill(table, table === 'service_changes' ? CHANGE_REQUESTS : OTHERS);
    const scans: string[] = [];
    let explained = 0;
    for (const size of SIZES) {
      await fill('service_events', size);
      await superuser.query(`ANALYZE ${GROWING.map((table) => `service.${table}`).join(', ')}`);
      for (const statement of statements) {
        const scanned = await scannedBy(statement).catch((error: unknown) => [`${(error as Error).message}`]);
        if (scanned === null) continue;
        explained += 1;
        if (scanned.length > 0) scans.push(`${size} events: ${scanned.join(', ')} in ${statement.slice(0, 160)}`);
      }
    }
    expect(explained).above(SIZES.length * 30);
    expect(scans.join('\n\n')).equal('');
  });
});
