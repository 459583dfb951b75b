/**
 * Query plans of requests to every route on large tables: none may scan a growing table. The statements are recorded
 * from the service instead of listed.
 */
import { expect } from 'chai';
import { loadModule, parseSync } from 'libpg-query';
import pg from 'pg';
import { clientOf, json } from '../support/client.js';
import { type OpenIdProvider, settingsOf, startOpenIdProvider } from '../support/openid-provider.js';
import { allRoutes } from '../support/openapi.js';
import { type TestDatabase, createDatabase, superuserUrl } from '../support/postgres.js';
import { type Proxy, startProxy } from '../support/proxy.js';
import { type TestService, startService } from '../support/service.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { createWire } from '../support/wire.js';
import { requestEveryRoute } from './requests.js';

/** Tables that grow with changes, users or requests. */
const GROWING = [
  'changes',
  'checkpoints',
  'collections',
  'documents',
  'events',
  'exchanged_id_tokens',
  'fields',
  'identities',
  'idempotency',
  'objects',
  'relations',
  'sessions',
  'tokens',
  'trash',
  'users',
  'webhook_deliveries',
].map((name) => `service_${name}`);

/** Operations that this test does not request. Most of them read the whole log, all checkpoints or all change requests. */
const NOT_REQUESTED = [
  'acknowledgeLog',
  'examine',
  'exportLog',
  'getCheckpoint',
  'getMetrics',
  'mergeEnvironment',
  'rebuildProjection',
  'rotateCheckpointKey',
  'streamEvents',
  'verifyLog',
  'verifyProjections',
];

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

/** By column name: few rows belong to a trust rule or have expired. */
const RARE: Readonly<Record<string, string>> = { rule: 'NULL', expires_at: `now() + g * interval '1 second'` };

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

interface Parsed {
  stmts?: { stmt_location?: number; stmt_len?: number }[];
}

/**
 * A simple query may contain several statements. A dash of an expression or a comment looks like the one before the
 * values.
 * @param sent a statement with its values, see `createWire`
 */
function statementsIn(sent: string): string[] {
  const parts = sent.split(' -- ');
  for (let length = 1; ; length += 1) {
    const text = parts.slice(0, length).join(' -- ');
    try {
      return locate(text, parseSync(text));
    } catch (error) {
      if (length === parts.length) throw new Error(`${(error as Error).message}: ${sent}`, { cause: error });
    }
  }
}

const locate = (text: string, { stmts = [] }: Parsed): string[] =>
  stmts.map(({ stmt_location: from = 0, stmt_len: length }) =>
    Buffer.from(text)
      .toString('utf8', from, length === undefined ? undefined : from + length)
      .trim(),
  );

describe('the statements of requests on large tables', function () {
  this.timeout(300_000);

  let database: TestDatabase;
  let proxy: Proxy;
  let service: TestService;
  let superuser: pg.Client;
  let receiver: Receiver;
  let provider: OpenIdProvider;
  const wire = createWire();

  before(async () => {
    database = await createDatabase('migrated');
    proxy = await startProxy(database.connectionString);
    proxy.intercept((sent, connection) => {
      wire.feed(sent, connection);
      return 'pass';
    });
    receiver = await startReceiver();
    provider = await startOpenIdProvider();
    provider.devices = true;
    service = await startService({
      DATABASE_URL: proxy.connectionString,
      OBJECTS: 'on',
      WEBHOOK_PRIVATE_NETWORKS: '127.0.0.1',
      ...settingsOf(provider),
      OIDC_ROLES: '{"groups":{"authors":"author"}}',
    });
    await provider.register(service.url);
    superuser = new pg.Client(await superuserUrl(database.connectionString));
    await superuser.connect();
  });
  after(async () => {
    await superuser?.end();
    await service?.stop();
    await receiver?.stop();
    await provider?.stop();
    await proxy?.close();
    await database?.drop();
  });

  /** Fills a table with distinct rows. Checks and triggers are disabled: these rows are never read. */
  async function fill(table: string, rows: number): Promise<void> {
    const { rows: columns } = await superuser.query<{ name: string; type: string }>(
      `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''`,
      [`service.${table}`],
    );
    const values = columns.map(
      ({ name, type }) => RARE[name] ?? VALUES[name === 'type' ? 'event type' : type] ?? `md5(g || '${name}')`,
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

  /** The growing tables that a generic plan of the statement scans; null if it is not a query of these tables. */
  async function scannedBy(statement: string): Promise<string[] | null> {
    if (!/^(select|with|insert|update|delete)\b/i.test(statement)) return null;
    if (!GROWING.some((table) => new RegExp(`\\b${table}\\b`).test(statement))) return null;
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
    const requested = await requestEveryRoute({ service, provider, receiver });
    const others = allRoutes().map(({ operationId }) => operationId);
    expect(others.filter((id) => !requested.has(id))).to.have.members(NOT_REQUESTED);
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
