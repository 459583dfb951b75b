import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import pg from 'pg';
import { HARD_SCHEMA } from '../features/adopt/hard-schema.js';
import { catalogText } from '../support/catalog-text.js';
import { expectConsistent } from '../support/consistent.js';
import { plain } from '../http/routes/columns.js';
import { type Api, createApi } from '../support/api.js';
import { clientPrograms, dumpSchema } from '../support/pg-dump.js';
import { type TestDatabase, asSuperuser, createDatabase, superuserUrl, testServer } from '../support/postgres.js';
import { type TestService, startService } from '../support/service.js';

/** Every object of a schema with its oid, so that a recreated one shows. */
const OBJECTS = `
  SELECT 'relation ' || c.relkind::text || ' ' || c.oid || ' ' || c.relname AS line FROM pg_class c WHERE c.relnamespace = $1::regnamespace
  UNION ALL SELECT 'function ' || p.oid || ' ' || p.proname FROM pg_proc p WHERE p.pronamespace = $1::regnamespace
  UNION ALL SELECT 'type ' || t.oid || ' ' || t.typname FROM pg_type t WHERE t.typnamespace = $1::regnamespace
  UNION ALL SELECT 'constraint ' || o.oid || ' ' || o.conname FROM pg_constraint o WHERE o.connamespace = $1::regnamespace
  UNION ALL SELECT 'trigger ' || g.oid || ' ' || g.tgname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
             WHERE c.relnamespace = $1::regnamespace
  UNION ALL SELECT 'rule ' || r.oid || ' ' || r.rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
             WHERE c.relnamespace = $1::regnamespace
  UNION ALL SELECT 'acl ' || n.nspacl::text FROM pg_namespace n WHERE n.oid = $1::regnamespace AND n.nspacl IS NOT NULL
  ORDER BY 1`;

describe('the schema of the service’s own tables', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  const stops: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    database = await createDatabase();
    pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
    await pool.end();
    await database.drop();
  });

  async function start(settings: Record<string, string> = {}): Promise<{ service: TestService; api: Api }> {
    const service = await startService({ DATABASE_URL: database.connectionString, ...settings });
    const api = createApi(service);
    stops.push(async () => {
      await api.stop();
      await service.stop();
    });
    return { service, api };
  }
  const refused = (settings: Record<string, string>): Promise<string> =>
    startService({ DATABASE_URL: database.connectionString, ...settings }).then(
      async (service) => {
        await service.stop();
        return 'it started';
      },
      (error: Error) => `${error.name}: ${error.message}`,
    );
  const objectsOf = async (schema: string): Promise<string[]> =>
    (await pool.query<{ line: string }>(OBJECTS, [schema])).rows.map(({ line }) => line);

  it('keeps the managed schema free: adoption adds no object to it', async function () {
    const { majorVersion } = await testServer();
    if (majorVersion < 15) this.skip();
    await pool.query(HARD_SCHEMA);
    const programs = await clientPrograms(majorVersion);
    const dump = async () => (programs === null ? '' : dumpSchema(programs, database.connectionString, 'public'));
    if (programs === null)
      process.stderr.write(`    pg_dump for PostgreSQL ${majorVersion} is not here: not compared\n`);
    const before = { objects: await objectsOf('public'), text: await catalogText(pool), dump: await dump() };
    const { api } = await start();
    const { adopted } = await api.ok<{ adopted: string[] }>('POST', '/schema/adopt', { all: true });
    expect(adopted).to.have.length.greaterThan(10);
    await api.ok('GET', '/schema/drift');
    await api.ok('POST', '/projections/metadata/rebuild');
    expect(await objectsOf('public')).to.deep.equal(before.objects);
    expect(await catalogText(pool)).to.deep.equal(before.text);
    expect((await dump()) === before.dump, 'pg_dump says something else').to.equal(true);
  });

  it('is used by our SQL, regardless of search_path and other names', async () => {
    await pool.query(`
      CREATE TABLE service_events (position bigint, hash text); CREATE TABLE service_users (id int PRIMARY KEY);
      CREATE FUNCTION service_refuse_change() RETURNS int LANGUAGE sql AS 'SELECT 1';
      CREATE SCHEMA hostile; CREATE TABLE hostile.service_settings (key text); CREATE TABLE hostile.service_tokens (x int);`);
    const name = new URL(database.connectionString).pathname.slice(1);
    await asSuperuser(database.connectionString, `ALTER DATABASE "${name}" SET search_path = hostile, service, public`);
    const { service, api } = await start();
    const { refused: left } = await api.ok<{ refused: { table: string; code: string }[] }>('POST', '/schema/adopt', {
      all: true,
    });
    expect(left.map(({ table, code }) => [table, code])).to.deep.equal([
      ['service_events', 'NAME_NOT_ALLOWED'],
      ['service_users', 'NAME_NOT_ALLOWED'],
    ]);
    await api.ok('POST', '/collections', { collection: 'a', schema: {}, fields: [plain('x', 'uuid')] });
    await api.ok('POST', '/relations', { collection: 'a', field: 'x', related_collection: 'service_users' });
    expect((await pool.query('SELECT FROM public.service_events')).rowCount).to.equal(0);
    expect((await pool.query('SELECT FROM service.service_events')).rowCount).to.be.greaterThan(1);
    const { rows } = await pool.query<{ target: string }>(
      `SELECT n.nspname AS target FROM pg_constraint o JOIN pg_class c ON c.oid = o.confrelid
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE o.conrelid = 'public.a'::regclass AND o.contype = 'f'`,
    );
    expect(rows).to.deep.equal([{ target: 'service' }]);
    await expectConsistent(service.databaseUrl);
  });

  it('separates two services on two schemas of one database', async () => {
    const one = await start();
    const two = await start({ DB_SCHEMA: 'shop' });
    await one.api.ok('POST', '/collections', { collection: 'a', schema: {} });
    await two.api.ok('POST', '/collections', { collection: 'a', schema: {} });
    await two.api.ok('POST', '/collections', { collection: 'b', schema: {} });
    const { rows } = await pool.query<{ n: number }>(
      `SELECT (SELECT count(*) FROM service.service_events)::int AS n
       UNION ALL SELECT count(*)::int FROM service_shop.service_events`,
    );
    expect(rows.map(({ n }) => n)).to.deep.equal([1, 2]);
    expect((await objectsOf('shop')).filter((line) => line.includes('service'))).to.deep.equal([]);
    expect((await objectsOf('public')).filter((line) => line.includes('service'))).to.deep.equal([]);
    expect(await refused({ DB_SCHEMA: 'third', SERVICE_SCHEMA: 'service' })).to.match(
      /^OperatorError: The schema "service" belongs to a service that manages the schema "public", not "third"/,
    );
    expect(await refused({ DB_SCHEMA: 'service_shop', SERVICE_SCHEMA: 'other' })).to.match(
      /^OperatorError: The schema "service_shop" cannot be managed: it contains the tables of a service/,
    );
  });

  it('is updated after a rename of the managed schema, as docs/upgrading.md says', async () => {
    const before = await start({ DB_SCHEMA: 'shop' });
    await before.api.ok('POST', '/collections', { collection: 'a', schema: {} });
    await Promise.all(stops.splice(0).map((stop) => stop()));
    await pool.query('ALTER SCHEMA shop RENAME TO store');
    const settings = { DB_SCHEMA: 'store', SERVICE_SCHEMA: 'service_shop' };
    expect(await refused(settings)).to.match(/belongs to a service that manages the schema "shop", not "store"/);
    const page = await readFile(new URL('../../docs/upgrading.md', import.meta.url), 'utf8');
    const [comment = ''] = /^COMMENT ON TABLE .*;$/m.exec(page) ?? [];
    await pool.query(comment);
    const { api } = await start(settings);
    await api.ok('POST', '/collections', { collection: 'b', schema: {} });
    expect(await api.ok('GET', '/projections/verify')).to.have.nested.property('data.ok', true);
    expect(await objectsOf('store')).to.satisfy((lines: string[]) => lines.some((line) => line.endsWith(' b')));
  });

  it('is rejected with other content before anything is created', async () => {
    for (const [sql, name] of [
      ['CREATE TABLE service.orders (id int)', 'orders'],
      ['CREATE TABLE service.service_users (id int)', 'service_users'],
      ['CREATE VIEW service.v AS SELECT 1 AS a', 'v'],
      [`CREATE FUNCTION service.f() RETURNS int LANGUAGE sql AS 'SELECT 1'`, 'f'],
      [`CREATE TYPE service.mood AS ENUM ('a')`, 'mood'],
    ] as const) {
      await pool.query(`DROP SCHEMA IF EXISTS service CASCADE; CREATE SCHEMA service; ${sql}`);
      expect(await refused({})).to.match(new RegExp(`^OperatorError: The schema "service" contains "${name}"`));
      expect(await objectsOf('service')).to.satisfy((lines: string[]) => !lines.join().includes('migrations'));
    }
    await pool.query('DROP SCHEMA service CASCADE');
    for (const left of ['service_trash_7', 'service_trash_s1']) {
      await pool.query(`CREATE SCHEMA ${left}; CREATE TABLE ${left}.articles ()`);
      expect(await refused({})).to.match(
        new RegExp(`deleted tables of an earlier service are in "${left}"\\. Rename or drop`),
      );
      await pool.query(`DROP SCHEMA ${left} CASCADE`);
    }
    expect(await pool.query(`SELECT FROM pg_namespace WHERE nspname = 'service'`)).to.have.property('rowCount', 0);
    // Empty shared schemas identify no deletion.
    await pool.query('CREATE SCHEMA service_trash_s1');
    const { service } = await start();
    await service.stop();
    await pool.query('CREATE TABLE service.orders (id int)');
    expect(await refused({})).to.match(/contains "orders"/);
  });

  it('needs no database privilege if it exists, otherwise the start prints what to run', async () => {
    const role = `dps_test_narrow_${Date.now()}`;
    const url = new URL(database.connectionString);
    [url.username, url.password] = [role, 'narrow'];
    const name = url.pathname.slice(1);
    await asSuperuser(
      database.connectionString,
      `CREATE ROLE ${role} LOGIN PASSWORD 'narrow'`,
      'GRANT USAGE, CREATE ON SCHEMA public TO PUBLIC',
    );
    try {
      expect(await refused({ DATABASE_URL: url.href })).to.equal(
        `OperatorError: The schema "service" does not exist, and the role "${role}" cannot create it. Run as a superuser: ` +
          `CREATE SCHEMA "service" AUTHORIZATION "${role}", or GRANT CREATE ON DATABASE "${name}" TO "${role}".`,
      );
      await asSuperuser(database.connectionString, 'CREATE SCHEMA service');
      expect(await refused({ DATABASE_URL: url.href })).to.include(
        `GRANT USAGE, CREATE ON SCHEMA "service" TO "${role}"`,
      );
      await asSuperuser(database.connectionString, `DROP SCHEMA service; CREATE SCHEMA service AUTHORIZATION ${role}`);
      const service = await startService({ DATABASE_URL: url.href });
      await createApi(service).ok('POST', '/collections', { collection: 'a', schema: {} });
      await service.stop();
    } finally {
      const superuser = new pg.Client(await superuserUrl(database.connectionString));
      await superuser.connect();
      await superuser.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
      await superuser.end();
    }
  });

  it('leaves similar names to others', async () => {
    await pool.query('CREATE TABLE service_pages (id int PRIMARY KEY)');
    const { service, api } = await start();
    await api.ok('POST', '/collections', {
      collection: 'service_orders',
      schema: {},
      fields: [plain('page', 'integer')],
    });
    await api.ok('POST', '/schema/adopt', { tables: ['service_pages'] });
    await api.ok('POST', '/relations', {
      collection: 'service_orders',
      field: 'page',
      related_collection: 'service_pages',
    });
    await api.ok('GET', '/fields/service_orders');
    const snapshot = await api.ok<Record<string, unknown>>('GET', '/schema/snapshot');
    const target = await startService();
    stops.push(() => target.stop());
    const other = createApi(target);
    stops.push(() => other.stop());
    // From another release and from Directus: read as foreign.
    for (const foreign of [
      { ...snapshot, service: '0.0.1' },
      { ...snapshot, service: undefined, directus: '11.0.0', vendor: 'postgres' },
    ]) {
      const { hash, diff } = await other.ok<{ hash: string; diff: object }>('POST', '/schema/diff?force', foreign);
      await other.ok('POST', '/schema/apply', { hash, diff });
      await expectConsistent(target.databaseUrl);
    }
    const names = (await other.ok<{ collections: { collection: string }[] }>('GET', '/schema/snapshot')).collections;
    expect(names.map(({ collection }) => collection)).to.deep.equal(['service_orders', 'service_pages']);
    await api.ok('DELETE', '/collections/service_orders');
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/collections', {
      collection: 'service_webhooks',
      schema: {},
    });
    await expectConsistent(service.databaseUrl);
  });

  it('is named by relations to users in catalog, responses, drift, adoption and script', async () => {
    const { service, api } = await start();
    const body = { collection: 'a', field: 'author', related_collection: 'service_users' };
    const relation = { many_collection: 'a', many_field: 'author', one_collection: 'service_users' };
    await api.ok('POST', '/collections', { collection: 'a', schema: {}, fields: [plain('author', 'uuid')] });
    const snapshot = await api.ok<{ relations: object[] }>('GET', '/schema/snapshot');
    await api.ok('POST', '/relations', body);
    // A plan uses the names of this database.
    const back = await api.ok<{ hash: string; diff: object }>('POST', '/schema/diff', snapshot);
    await api.ok('POST', '/schema/apply', back);
    const desired = { ...snapshot, relations: [{ ...relation, schema: {} }] };
    const forth = await api.ok<{ hash: string; diff: object }>('POST', '/schema/diff', desired);
    const plan = await api.ok<{ statements: { sql: string }[] }>('POST', '/schema/apply?dry_run', forth);
    expect(plan.statements.map(({ sql }) => sql).join()).to.include('REFERENCES service.service_users ("id")');
    await api.ok('POST', '/schema/apply', forth);
    const shown = await api.ok<{ data: { schema: { sql: string } } }>('GET', '/collections/a');
    expect(shown.data.schema.sql).to.include('REFERENCES service.service_users ("id")');
    const { text: script } = await api.client(`/history/snapshot?at=${await api.head()}&export=sql`);
    const other = await createDatabase();
    stops.push(() => other.drop());
    const copy = new pg.Client(other.connectionString);
    await copy.connect();
    stops.push(() => copy.end());
    await copy.query(script);
    expect(await catalogText(copy)).to.deep.equal(await catalogText(pool));
    // The table leaves the log and returns through adoption, with the relation.
    const [{ name: key } = { name: '' }] = await api.sql<{ name: string }>(
      `SELECT conname AS name FROM pg_constraint WHERE conrelid = 'a'::regclass AND contype = 'f'`,
    );
    await api.sql(`ALTER TABLE a DROP CONSTRAINT "${key}"`);
    const drift = await api.ok<{ tables: { differences: { repair: { database: { sql: string }[] } }[] }[] }>(
      'GET',
      '/schema/drift',
    );
    const [repair] = drift.tables.flatMap(({ differences }) => differences.flatMap((each) => each.repair.database));
    expect(repair?.sql).to.include('REFERENCES service.service_users');
    await api.sql(repair?.sql ?? '');
    await expectConsistent(service.databaseUrl);
    await api.sql('CREATE TABLE b (id int PRIMARY KEY, who uuid REFERENCES service.service_users)');
    await api.appends(['collection.adopted b', 'relation.created b.who'], 'POST', '/schema/adopt', { tables: ['b'] });
    await expectConsistent(service.databaseUrl);
  });
});
