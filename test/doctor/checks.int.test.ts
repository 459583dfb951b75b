import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import pg from 'pg';
import { openProjectionTools } from '../../src/cli/connections/projections.js';
import { readConfig } from '../../src/config.js';
import type { DoctorContext } from '../../src/doctor/check.js';
import { examine } from '../../src/doctor/index.js';
import { testExport } from '../../src/metrics/traces.js';
import { createPool } from '../../src/postgres/pool.js';
import { markRestoring } from '../../src/postgres/migrate.js';
import { CAUSE, expectDone, field, silent, startInstance, table } from '../support/instance.js';
import { type TestDatabase, asSuperuser, createDatabase, superuserUrl } from '../support/postgres.js';
import { startReceiver } from '../support/receiver.js';
import { tamper } from '../support/tamper.js';

const NAMES = [
  'database version, encoding and write access',
  'standby follows its primary',
  'lock slots',
  'pooler',
  'proxy is trusted',
  'connections',
  'statement timeout',
  'statistics of other roles',
  'privileges on the schemas',
  'migrations',
  'no restore in progress',
  'ownership of the tables',
  'own tables = migrations',
  'built-in names used by other objects',
  'clock',
  'log is append-only',
  'hash chain',
  'notifications',
  'log can be folded',
  'stored states',
  'fold = metadata rows = catalog',
  'no other objects in the trash',
  'preparations of change requests',
  'projections',
  'webhooks',
  'OpenID provider',
  'server for proofs',
  'trace collector',
  'PostgREST',
];

describe('the doctor', () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await createDatabase();
    const { pipeline, stop } = await startInstance(database.connectionString);
    for (const name of ['a', 'b', 'c']) {
      const fields = [field('title'), field('text')];
      expectDone(await pipeline.apply('create-collection', table(name, fields), { cause: CAUSE }));
    }
    await stop();
  });
  afterEach(() => database.drop());

  const run = async (
    more: Partial<Omit<DoctorContext, 'config'>> & { config?: Partial<DoctorContext['config']> } = {},
  ): Promise<{ names: string[]; results: string[]; said: string[] }> => {
    const { connectionString } = database;
    const config = { ...readConfig({ DATABASE_URL: connectionString, TOKEN_SECRET: 'x'.repeat(40) }), ...more.config };
    const pool = createPool({ connectionString, schema: 'public', serviceSchema: 'service', max: 3, logger: silent });
    const tools = await openProjectionTools({ config, pool, connectionString });
    try {
      const server = { standby: false, lag: 0 };
      const context = {
        addresses: { connectionString },
        pool,
        tools: { ...tools, testExport },
        now: () => Date.now(),
        server,
        ...more,
        config,
      };
      const examined = await examine(context);
      return {
        names: examined.map(({ name }) => name),
        results: examined.map(({ result }) => result),
        said: examined.flatMap(({ findings }) => findings.map(({ code, message }) => `${code}: ${message}`)),
      };
    } finally {
      await tools.close();
      await pool.end();
    }
  };
  const messagesOf = async (more?: Parameters<typeof run>[0]): Promise<string[]> => (await run(more)).said;
  const sql = async (...statements: string[]): Promise<void> => {
    const client = new pg.Client(database.connectionString);
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  };

  it('finds nothing in a healthy database, in the documented order, with the verified events', async () => {
    const verified: [number, number][] = [];
    const { names, results, said: lines } = await run({ onVerified: (...at) => verified.push(at) });
    expect([names, lines]).to.deep.equal([NAMES, []]);
    // Only a running service knows who forwards requests to it.
    expect(results).to.deep.equal(NAMES.map((name) => (name === 'proxy is trusted' ? 'skipped' : 'ok')));
    expect(verified.at(-1)).to.deep.equal([3, 3]);
  });

  it('checks the server settings for this user', async () => {
    await asSuperuser(
      database.connectionString,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 60000', current_database()); END $$`,
    );
    expect(await messagesOf()).to.deep.equal([
      'STATEMENT_TIMEOUT: The server cancels statements after 60000 ms (statement_timeout).',
    ]);
    await asSuperuser(
      database.connectionString,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 60001', current_database()); END $$`,
    );
    expect(await messagesOf()).to.deep.equal([]);
  });

  it('reports a read-only database', async () => {
    await asSuperuser(
      database.connectionString,
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$`,
    );
    const { results, said: lines } = await run();
    expect(lines).to.deep.equal(['DATABASE_READ_ONLY: Transactions are read-only by default.']);
    expect(results).to.deep.equal(['error', ...Array.from({ length: NAMES.length - 1 }, () => 'skipped')]);
  });

  it('reports the current and required number of connections', async () => {
    const client = new pg.Client(database.connectionString);
    await client.connect();
    const { rows } = await client.query<{ admitted: number }>(
      `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS admitted`,
    );
    await client.end();
    const admitted = rows[0]?.admitted ?? 0;
    expect(await messagesOf({ config: { poolSize: admitted - 3 } })).to.deep.equal([]);
    expect(await messagesOf({ config: { poolSize: admitted - 2 } })).to.deep.equal([
      `CONNECTIONS_LOW: The server allows ${admitted} connections, but this service may use ${admitted + 1} (DB_POOL ${admitted - 2}).`,
    ]);
  });

  it('reports migrations of another release', async () => {
    const number = readdirSync(new URL('../../db/', import.meta.url)).length;
    await sql(`DELETE FROM service.service_migrations WHERE number > 1`);
    const { results, said: lines } = await run();
    expect(lines).to.deep.equal([
      `MIGRATIONS_PENDING: The last applied migration is 1, but this release has migrations up to ${number}.`,
    ]);
    expect(results[NAMES.indexOf('migrations')]).to.equal('error');
    expect(new Set(results.slice(NAMES.indexOf('migrations') + 1))).to.deep.equal(new Set(['skipped']));
    await sql(`INSERT INTO service.service_migrations SELECT n, 'x' FROM generate_series(2, ${number + 1}) n`);
    expect(await messagesOf()).to.deep.equal([
      `MIGRATIONS_NEWER: Migration ${number + 1} was applied, but this release only knows migrations up to ${number}.`,
    ]);
    await sql(`ALTER TABLE service.service_migrations RENAME TO gone`);
    expect(await messagesOf()).to.deep.equal(['SERVICE_MISSING: The schema "service" does not contain a service.']);
  });

  it('reports an OpenID provider that names another issuer or has no keys', async () => {
    const receiver = await startReceiver();
    const issuer = new URL(receiver.url).origin;
    const oidc = { issuer, clientId: 'dps', clientSecret: null, scopes: 'openid', roles: {}, label: 'Example ID' };
    const metadata = { issuer, jwks_uri: `${issuer}/jwks` };
    const answers: { known: object; keys?: object }[] = [
      { known: { ...metadata, issuer: 'https://id.example.com' } },
      { known: { issuer } },
      { known: metadata },
      { known: metadata, keys: { keys: [] } },
    ];
    try {
      for (const answer of answers) {
        receiver.respond = (response, { path }) => {
          const body = path.startsWith('/.well-known/') ? answer.known : answer.keys;
          response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
          response.end(JSON.stringify(body ?? {}));
        };
        const [message, ...others] = await messagesOf({ config: { oidc } });
        expect(others).to.deep.equal([]);
        expect(message, JSON.stringify(answer)).to.match(
          new RegExp(`^PROVIDER_UNUSABLE: The OpenID provider "${issuer}" cannot be used: .+\\.$`),
        );
      }
    } finally {
      await receiver.stop();
    }
  });

  it('reports a collector that does not respond or rejects traces', async () => {
    const receiver = await startReceiver();
    const endpoint = new URL(receiver.url).origin;
    const config = { traces: { endpoint, headers: { 'api-key': 'secret' } } };
    const failure = `TRACES_LOST: The collector "${endpoint}" accepts no traces: `;
    try {
      expect(await messagesOf({ config })).to.deep.equal([]);
      const { path, headers, body } = receiver.received[0] ?? expect.fail('nothing was sent');
      expect([path, headers['api-key'], body]).to.deep.equal(['/v1/traces', 'secret', '']);
      receiver.respond = (response) => void response.writeHead(404).end();
      expect(await messagesOf({ config })).to.deep.equal([`${failure}it answers with status 404.`]);
    } finally {
      await receiver.stop();
    }
    const [message, ...others] = await messagesOf({ config });
    expect([message?.startsWith(failure), others], message).to.deep.equal([true, []]);
    expect(message).to.contain('ECONNREFUSED');
  });

  it('reports a server for proofs that cannot be used, without its address', async () => {
    const { connectionString } = database;
    const prove = (proveDatabaseUrl: string) => messagesOf({ config: { proveDatabaseUrl } });
    expect(await prove(await superuserUrl(connectionString))).to.deep.equal([]);
    expect(await prove(connectionString)).to.deep.equal([
      'PROVE_SERVER_UNUSABLE: No change can be proved. The role of PROVE_DATABASE_URL cannot create databases. Run ALTER ROLE … CREATEDB for it.',
    ]);
    expect(await prove('postgresql://someone:hunter2@127.0.0.1:1/postgres')).to.deep.equal([
      'PROVE_SERVER_UNUSABLE: No change can be proved. The database of PROVE_DATABASE_URL cannot be used: no server listens at its address.',
    ]);
  });

  it('reports a PostgREST that misses changes or is not connected', async () => {
    const on = { config: { notifyPostgrest: true } };
    expect(await messagesOf(on)).to.deep.equal([
      'POSTGREST_MISSING: NOTIFY_POSTGREST is on, but no PostgREST is connected to the database.',
    ]);
    const missed =
      'POSTGREST_UNNOTIFIED: PostgREST is connected to the database, but NOTIFY_POSTGREST is off, so PostgREST does not notice changes.';
    await withPostgrest(async () => {
      expect(await messagesOf(on)).to.deep.equal([]);
      expect(await messagesOf()).to.deep.equal([missed]);
      const watch = (name: string, body: string): string[] => [
        `CREATE FUNCTION public.${name}() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$`,
        `CREATE EVENT TRIGGER ${name} ON ddl_command_end EXECUTE FUNCTION public.${name}()`,
      ];
      await asSuperuser(database.connectionString, ...watch('other_watch', 'NULL;'));
      expect(await messagesOf(), 'an event trigger for another purpose').to.deep.equal([missed]);
      await asSuperuser(database.connectionString, ...watch('pgrst_watch', `NOTIFY pgrst, 'reload schema';`));
      expect(await messagesOf()).to.deep.equal([]);
      await asSuperuser(database.connectionString, 'ALTER EVENT TRIGGER pgrst_watch DISABLE');
      expect(await messagesOf()).to.deep.equal([missed]);
    });
  });

  it('reports roles of PostgREST with privileges on the tables of the service', async () => {
    const on = { config: { notifyPostgrest: true } };
    await withPostgrest(async ({ login, anonymous }) => {
      const { connectionString } = database;
      await asSuperuser(connectionString, `GRANT SELECT ON service.service_users TO ${anonymous}`);
      expect(await messagesOf(on), 'without USAGE on the schema').to.deep.equal([]);
      await asSuperuser(connectionString, `GRANT USAGE ON SCHEMA service TO ${anonymous}`);
      expect(await messagesOf(on)).to.deep.equal([
        `POSTGREST_PRIVILEGED: PostgREST connects as "${login}" and can switch to "${anonymous}", which has privileges on "service.service_users".`,
      ]);
      await asSuperuser(connectionString, `ALTER ROLE ${login} SUPERUSER`);
      const [message, ...others] = await messagesOf(on);
      expect(others).to.deep.equal([]);
      expect(message).to.match(
        new RegExp(
          `^POSTGREST_PRIVILEGED: PostgREST connects as "${login}", which has privileges on "service\\.\\w+"\\. The same applies to \\d+ more of its roles\\.$`,
        ),
      );
    });
  });

  /** Connects as PostgREST does, with the roles of deploy/compose/postgrest-roles.sh. */
  async function withPostgrest(check: (roles: { login: string; anonymous: string }) => Promise<void>): Promise<void> {
    const { connectionString } = database;
    const roles = { login: `postgrest_${process.pid}`, anonymous: `web_anon_${process.pid}` };
    await asSuperuser(
      connectionString,
      `CREATE ROLE ${roles.login} LOGIN NOINHERIT PASSWORD 'x'`,
      `CREATE ROLE ${roles.anonymous} NOLOGIN`,
      `GRANT ${roles.anonymous} TO ${roles.login}`,
      `GRANT USAGE ON SCHEMA public TO ${roles.anonymous}`,
      `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${roles.anonymous}`,
    );
    const address = new URL(connectionString);
    [address.username, address.password] = [roles.login, 'x'];
    const session = new pg.Client({ connectionString: address.href, application_name: 'PostgREST 14.1 (5a04ec7)' });
    try {
      await session.connect();
      await check(roles);
    } finally {
      await session.end();
      for (const role of Object.values(roles))
        await asSuperuser(connectionString, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
    }
  }

  it('reports an unfinished restore', async () => {
    const pool = createPool({ ...database, schema: 'public', serviceSchema: 'service', max: 1, logger: silent });
    await markRestoring(pool);
    await pool.end();
    expect(await messagesOf()).to.deep.equal(['RESTORE_UNFINISHED: A restore into this database has not finished.']);
  });

  it('reports the owners of tables, and missing objects', async () => {
    await asSuperuser(database.connectionString, 'ALTER TABLE public.b OWNER TO CURRENT_USER');
    const { username } = new URL(await superuserUrl(database.connectionString));
    const lines = await messagesOf();
    expect(lines[0]).to.equal(`TABLES_NOT_OWNED: The table "b" belongs to ${username}.`);
    await asSuperuser(database.connectionString, 'ALTER TABLE service.service_keys OWNER TO CURRENT_USER');
    expect((await messagesOf())[0]).to.equal(`TABLES_NOT_OWNED: The table "b" belongs to ${username} and 1 more.`);
  });

  it('reports objects of other users that shadow PostgreSQL’s own', async () => {
    const { connectionString } = database;
    const other = `shadow_${process.pid}`;
    await asSuperuser(connectionString, `CREATE ROLE ${other}`, `GRANT CREATE ON SCHEMA public TO ${other}`);
    try {
      await asSuperuser(
        connectionString,
        `CREATE FUNCTION public.of_my_own(text) RETURNS text LANGUAGE sql AS 'SELECT $1'`,
        `ALTER FUNCTION public.of_my_own(text) OWNER TO ${other}`,
        `CREATE FUNCTION public.lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT NULL::text'`,
      );
      expect(await messagesOf(), 'a superuser, and a name that PostgreSQL has not').to.deep.equal([]);
      await asSuperuser(connectionString, `ALTER FUNCTION public.lower(varchar) OWNER TO ${other}`);
      const message = `The function "lower" in "public" belongs to ${other} and has the name of a PostgreSQL object. PostgreSQL may call it instead, with the privileges of this service.`;
      expect(await messagesOf()).to.deep.equal([`NAMES_SHADOWED: ${message}`]);
      await asSuperuser(
        connectionString,
        `CREATE OPERATOR public.|| (RIGHTARG = varchar, FUNCTION = public.lower)`,
        `ALTER OPERATOR public.|| (NONE, varchar) OWNER TO ${other}`,
      );
      expect(await messagesOf()).to.deep.equal([`NAMES_SHADOWED: ${message} The same applies to 1 more.`]);
    } finally {
      await asSuperuser(connectionString, 'DROP FUNCTION IF EXISTS public.lower(varchar) CASCADE');
      await asSuperuser(connectionString, `DROP OWNED BY ${other}`, `DROP ROLE ${other}`);
    }
  });

  it('reports which clock is ahead, and events in the future', async () => {
    const apart = (milliseconds: number) => messagesOf({ now: () => Date.now() + milliseconds });
    expect((await apart(60_000))[0]).to.match(
      /^CLOCK_DIFFERENCE: The clock of the database server is (5[5-9]|6[0-4])\d{3} ms behind the clock of this machine\.$/,
    );
    const [clock, log] = await apart(-60_000);
    expect(clock).to.match(/^CLOCK_DIFFERENCE: .* is (5[5-9]|6[0-4])\d{3} ms ahead of the clock of this machine\.$/);
    expect(log).to.match(
      /^LOG_IN_FUTURE: The newest event has the time 20\d\d-\d\d-\d\dT[\d:.]+Z, which is in the future\.$/,
    );
    expect(await apart(1_000)).to.deep.equal([]);
  });

  it('reports an unprotected, broken and unreadable log', async () => {
    await tamper(database.connectionString, async (client) => {
      await client.query(`UPDATE service.service_events SET reason = 'x' WHERE position = 2`);
    });
    expect(await messagesOf()).to.deep.equal([
      'CHAIN_BROKEN: Position 2: its actor, reason, address, user agent or salt does not match its commitment.',
    ]);
  });

  it('reports the first five differences and the number of others', async () => {
    await sql(
      'DELETE FROM service.service_fields',
      'DELETE FROM service.service_collections',
      'ALTER TABLE a ADD stray integer',
    );
    const lines = await messagesOf();
    const [rows, tables, ...others] = lines.map((each) => each.split('\n'));
    expect(others).to.deep.equal([]);
    expect(rows?.[0]).to.equal('ROWS_DIFFER: The metadata rows differ from the log:');
    expect(rows).to.have.length(7);
    expect(rows?.[6]).to.match(/^ {2}and \d+ more: "dps verify" shows all$/);
    expect(tables).to.deep.equal(['TABLES_DIFFER: The tables differ from the log:', tables?.[1]]);
  });

  it('reports foreign objects in the trash', async () => {
    const schemas = Array.from({ length: 6 }, (_, index) => `CREATE SCHEMA service_trash_${index + 1}`);
    await sql(...schemas.slice(0, 5), 'CREATE SCHEMA service_trash_0');
    const sentence = 'TRASH_STRANGE: The trash contains objects that the service did not create: ';
    const names = [1, 2, 3, 4, 5].map((number) => `"service_trash_${number}"`).join(', ');
    expect(await messagesOf()).to.deep.equal([`${sentence}${names}.`]);
    await sql(...schemas.slice(5));
    expect(await messagesOf()).to.deep.equal([`${sentence}${names} and more.`]);
  });

  it('reports shared trash schemas that another role created or may use', async () => {
    await sql('CREATE SCHEMA service_trash_s1');
    expect(await messagesOf()).to.deep.equal([]);
    await sql('GRANT USAGE ON SCHEMA service_trash_s1 TO pg_monitor');
    expect(await messagesOf()).to.deep.equal([
      'TRASH_STRANGE: Other roles have privileges on schemas with deleted tables: "service_trash_s1".',
    ]);
    await asSuperuser(
      database.connectionString,
      'REVOKE ALL ON SCHEMA service_trash_s1 FROM pg_monitor',
      'ALTER SCHEMA service_trash_s1 OWNER TO pg_monitor',
    );
    expect(await messagesOf()).to.deep.equal([
      'TRASH_STRANGE: The trash contains objects that the service did not create: "service_trash_s1".',
    ]);
  });

  it('reports objects of change requests that do not exist', async () => {
    const name = (index: number) => `dps_online_${String(index).padStart(32, '0')}_00000000`;
    await sql(...[1, 2, 3, 4, 5, 6].map((index) => `CREATE INDEX "${name(index)}" ON a (title)`));
    const lines = await messagesOf();
    const message = lines.find((each) => each.startsWith('PREPARATION_LEFT'))?.split('\n') ?? [];
    expect(message[0], lines.join('\n')).to.equal('PREPARATION_LEFT: No change request uses these prepared objects:');
    expect(message).to.have.length(7);
    expect(message[1]).to.equal(`  index ${name(1)}: DROP INDEX CONCURRENTLY "public"."${name(1)}"`);
    expect(message[6]).to.equal('  and 1 more');
  });

  it('reports a failed projection, or one that still lags after a grace period', async () => {
    const MINUTE = 60_000;
    const old = { now: () => Date.now() };
    await sql(`INSERT INTO service.service_projections (name, kind, position) VALUES ('indexes', 'after-commit', 1)`);
    expect((await messagesOf(old)).filter((each) => each.startsWith('PROJECTION'))).to.deep.equal([]);
    const later = await messagesOf({ now: () => Date.now() + MINUTE + 5_000 });
    expect(later.filter((each) => each.startsWith('PROJECTION'))).to.deep.equal([
      'PROJECTION_BEHIND: The projection "indexes" is 2 events behind.',
    ]);
    await sql(`UPDATE service.service_projections SET position = 1 WHERE name = 'tables'`);
    expect((await messagesOf(old)).filter((each) => each.startsWith('PROJECTION'))).to.deep.equal([
      'PROJECTION_BEHIND: The projection "tables" is 2 events behind.',
    ]);
  });

  it('reports the reason when a check cannot run', async () => {
    const failing = { list: () => Promise.reject(new Error('no')), verify: () => Promise.reject(new Error('never')) };
    const tools = { projections: failing, load: () => Promise.reject(new Error('a gap')), testExport };
    const { results, said: lines } = await run({ tools });
    expect(lines).to.deep.equal([
      'CHECK_FAILED: The check "hash chain" failed to run: no.',
      'LOG_UNREADABLE: The log cannot be folded: a gap.',
    ]);
    expect(results.slice(NAMES.indexOf('log can be folded'))).to.deep.equal([
      'error',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
      'skipped',
    ]);
    const explained = await messagesOf({ tools, explain: (error, check) => `${check}, ${(error as Error).message}` });
    expect(explained[0]).to.equal('CHECK_FAILED: The check "hash chain" failed to run: hash chain, no.');
  });

  it('skips checks that a standby cannot answer', async () => {
    const { names, results } = await run({ server: { standby: true, lag: 0 } });
    expect(results[names.indexOf('notifications')]).to.equal('skipped');
  });
});
