import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import pg from 'pg';
import { FINDINGS, type FindingCode, type DoctorContext } from '../../src/doctor/check.js';
import { clock, lockFindings } from '../../src/doctor/database.js';
import { FOLD_FORMAT } from '../../src/reads/stored-folds.js';
import type { ExaminedCheck } from '../../src/doctor/index.js';
import { clientOf, json } from '../support/client.js';
import { until } from '../support/until.js';
import { dps } from '../support/dps.js';
import { type TestDatabase, asSuperuser, createDatabase, testServer } from '../support/postgres.js';
import { silent } from '../support/instance.js';
import { createPool } from '../../src/postgres/pool.js';
import { startService } from '../support/service.js';

describe('dps doctor', () => {
  const databases: TestDatabase[] = [];

  after(async () => {
    for (const database of databases) await database.drop();
  });

  async function emptyDatabase(): Promise<string> {
    const database = await createDatabase();
    databases.push(database);
    return database.connectionString;
  }

  /** A database with some history. Its service has stopped. */
  async function createUsedDatabase(): Promise<string> {
    const connectionString = await emptyDatabase();
    const service = await startService({ DATABASE_URL: connectionString });
    try {
      for (const collection of ['articles', 'authors']) {
        const reply = await clientOf(service)('/collections', json({ collection, schema: {} }));
        expect(reply.status, reply.text).to.equal(200);
      }
    } finally {
      await service.stop();
    }
    return connectionString;
  }

  async function sql(connectionString: string, ...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  async function examine(settings: Record<string, string>): Promise<{ code: number; found: string[]; text: string }> {
    const { code, out } = await dps(['doctor', '--json'], settings);
    const { checks } = JSON.parse(out) as { checks: ExaminedCheck[] };
    return { code, found: checks.flatMap(({ findings }) => findings.map((each) => each.code)), text: out };
  }

  /** An error makes the exit code 1, a warning leaves it 0. */
  async function expectFound(settings: Record<string, string>, ...codes: FindingCode[]): Promise<void> {
    const { code, found, text } = await examine(settings);
    expect(found, text).to.deep.equal(codes);
    expect(code).to.equal(codes.some((each) => FINDINGS[each].severity === 'error') ? 1 : 0);
  }

  it('finds nothing in a healthy database, and lists its checks', async () => {
    const settings = { DATABASE_URL: await createUsedDatabase() };
    await expectFound(settings);
    const { out } = await dps(['doctor'], settings);
    expect(out).to.contain('ok       hash chain').and.contain('No problems found.');
  });

  for (const [what, statements, codes] of [
    ['a read-only database', [`alter database %D set default_transaction_read_only = on`], ['DATABASE_READ_ONLY']],
    ['a short statement timeout', [`alter database %D set statement_timeout = '20s'`], ['STATEMENT_TIMEOUT']],
    [
      'a migration that is missing',
      [`delete from service.service_migrations where number > 1`],
      ['MIGRATIONS_PENDING'],
    ],
    ['newer release', [`insert into service.service_migrations values (9999, 'later')`], ['MIGRATIONS_NEWER']],
    [
      'a restore that was broken off',
      [`insert into service.service_settings values ('restoring', '{}')`],
      ['RESTORE_UNFINISHED'],
    ],
    [
      'a log without its trigger',
      [`drop trigger service_events_append_only on service.service_events`],
      ['OWN_TABLES_DIFFER', 'LOG_UNPROTECTED'],
    ],
    [
      'a trigger that replication passes by',
      [`alter table service.service_events enable trigger service_events_append_only`],
      ['OWN_TABLES_DIFFER', 'LOG_UNPROTECTED'],
    ],
    [
      'a changed event',
      [
        `alter table service.service_events disable trigger service_events_append_only`,
        `update service.service_events set actor = '{"id": "x", "name": "Mallory"}' where position = 1`,
        `alter table service.service_events enable always trigger service_events_append_only`,
      ],
      ['CHAIN_BROKEN'],
    ],
    [
      'an event that can not be read',
      [
        `alter table service.service_events disable trigger service_events_append_only`,
        `update service.service_events set type = 'collection.sung' where position = 2`,
        `alter table service.service_events enable always trigger service_events_append_only`,
      ],
      ['CHAIN_BROKEN', 'LOG_UNREADABLE'],
    ],
    [
      'an event of tomorrow',
      [
        `alter table service.service_events disable trigger service_events_append_only`,
        `update service.service_events set occurred_at = now() + interval '1 day' where position = 2`,
        `alter table service.service_events enable always trigger service_events_append_only`,
      ],
      ['LOG_IN_FUTURE', 'CHAIN_BROKEN'],
    ],
    ['a forged row', [`update service.service_collections set meta = meta || '{"note": "forged"}'`], ['ROWS_DIFFER']],
    ['a changed table', [`alter table articles add column secret text`, `drop table authors`], ['TABLES_DIFFER']],
    [
      'a change request that nobody opened',
      [
        `insert into service.service_changes (id, state, collections, held, opened_position, request)
         select '00000000-0000-4000-8000-000000000001', 'applied', '{articles}', '{}', 1, '{"id": "00000000-0000-4000-8000-000000000001", "state": "applied", "collections": ["articles"]}'`,
      ],
      ['CHANGES_DIFFER'],
    ],
    [
      'a stored fold that is wrong',
      [
        `insert into service.service_folds (position, format, event_hash, occurred_at, hash, content)
         select position, ${FOLD_FORMAT}, hash, occurred_at, hash, 'nonsense' from service.service_events where position = 1`,
      ],
      ['STORED_FOLD_WRONG'],
    ],
    [
      'a projection that lags',
      [`update service.service_projections set position = 1, hash = null where name = 'metadata'`],
      ['PROJECTION_BEHIND'],
    ],
  ] as const) {
    it(`finds ${what}`, async () => {
      const connectionString = await createUsedDatabase();
      const database = new URL(connectionString).pathname.slice(1);
      await sql(connectionString, ...statements.map((each) => each.replace('%D', database)));
      await expectFound({ DATABASE_URL: connectionString }, ...codes);
    });
  }

  it('finds an index that cannot be built, and names the event', async () => {
    const connectionString = await emptyDatabase();
    const service = await startService({ DATABASE_URL: connectionString });
    const client = clientOf(service);
    const field = { field: 'body', type: 'text', schema: {}, meta: { interface: 'input' } };
    try {
      await client('/collections', json({ collection: 'pages', schema: {}, fields: [field] }));
      // Random, so that PostgreSQL cannot compress it. It is too large for a B-tree.
      await sql(
        connectionString,
        `insert into pages (body) select string_agg(md5(random()::text), '') from generate_series(1, 1000)`,
      );
      const patch = json({ schema: { is_indexed: true } }, 'PATCH');
      const reply = await client('/fields/pages/body?concurrentIndexCreation', patch);
      expect(reply.status, reply.text).to.equal(200);
      await until('the builder stops', async () => (await client('/server/health')).status === 503);
      await expectStopped(connectionString);
    } finally {
      await service.stop();
    }
  });

  async function expectStopped(connectionString: string): Promise<void> {
    await expectFound({ DATABASE_URL: connectionString }, 'PROJECTION_FAILED');
    const { code, out } = await dps(['status'], { DATABASE_URL: connectionString });
    expect(code).to.equal(1);
    expect(out)
      .to.match(/^projection +kind +position +lag +status +updated$/m)
      .and.match(/indexes stopped at event 2 \(field\.updated pages\.body/)
      .and.contain('SQLSTATE 54000')
      .and.contain('Next: A value is too large for such an index');
  }

  it('finds an unsupported database encoding', async () => {
    const connectionString = await emptyDatabase();
    const database = new URL(connectionString).pathname.slice(1);
    const { connectionString: maintenance, majorVersion } = await testServer();
    const provider = majorVersion >= 15 ? 'locale_provider libc' : '';
    await sql(
      maintenance,
      `drop database ${database}`,
      `create database ${database} template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C' ${provider}`,
    );
    await expectFound({ DATABASE_URL: connectionString }, 'DATABASE_UNSUPPORTED');
  });

  it('finds a user without privileges', async () => {
    const connectionString = await createUsedDatabase();
    const role = new URL(connectionString).pathname.slice(1);
    await asSuperuser(
      connectionString,
      `create role ${role} login password 'secret'`,
      `revoke create on schema public from public`,
      `grant usage on schema service to ${role}`,
      `grant select on all tables in schema service to ${role}`,
    );
    const url = new URL(connectionString);
    url.username = role;
    url.password = 'secret';
    try {
      await expectFound(
        { DATABASE_URL: url.href },
        'STATISTICS_HIDDEN',
        'SCHEMA_NOT_WRITABLE',
        'SCHEMA_NOT_WRITABLE',
        'TABLES_NOT_OWNED',
      );
    } finally {
      await asSuperuser(connectionString, `drop owned by ${role}`, `drop role ${role}`);
    }
  });

  it('finds a user that cannot see other sessions, until it is granted the privilege', async () => {
    const connectionString = await emptyDatabase();
    const role = `${new URL(connectionString).pathname.slice(1)}_owner`;
    const database = new URL(connectionString).pathname.slice(1);
    await asSuperuser(
      connectionString,
      `create role ${role} login password 'secret'`,
      `alter database ${database} owner to ${role}`,
      `grant create on schema public to ${role}`,
    );
    const url = new URL(connectionString);
    url.username = role;
    url.password = 'secret';
    const settings = { DATABASE_URL: url.href };
    try {
      await (await startService(settings)).stop();
      const { text } = await examine(settings);
      expect(text).to.contain(role);
      await expectFound(settings, 'STATISTICS_HIDDEN');
      await asSuperuser(connectionString, `grant pg_read_all_stats to ${role}`);
      await expectFound(settings);
    } finally {
      await asSuperuser(
        connectionString,
        `reassign owned by ${role} to current_user`,
        `drop owned by ${role}`,
        `drop role ${role}`,
      );
    }
  });

  it("names the service's schema in a fix that can be run as printed", async () => {
    const settings = { DATABASE_URL: await emptyDatabase(), SERVICE_SCHEMA: 'its own $& Schema' };
    await (await startService(settings)).stop();
    const name = '"its own $& Schema"';
    await sql(settings.DATABASE_URL, `alter table ${name}.service_events disable trigger service_events_append_only`);
    await sql(
      settings.DATABASE_URL,
      `insert into ${name}.service_folds (position, format, event_hash, occurred_at, hash, content)
       values (1, ${FOLD_FORMAT}, '', now(), '', 'nonsense')`,
    );
    const { text } = await examine(settings);
    const { checks } = JSON.parse(text) as { checks: ExaminedCheck[] };
    const fixes = checks.flatMap(({ findings }) => findings.map(({ fix }) => fix));
    const statements = fixes.flatMap((fix) => /(?:ALTER TABLE|DELETE FROM) "its.*?(?=,| removes)/.exec(fix) ?? []);
    expect(statements, text).to.have.length(2);
    await sql(settings.DATABASE_URL, ...statements);
    await expectFound(settings);
  });

  it('finds an empty database', async () => {
    await expectFound({ DATABASE_URL: await emptyDatabase() }, 'SERVICE_MISSING');
    await expectFound({ DATA_DIR: './no-such-directory' }, 'SERVICE_MISSING');
    await expectFound({ DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/none' }, 'DATABASE_UNREACHABLE');
  });

  it('finds a direct address that is unreachable or leads to a different database', async () => {
    const connectionString = await createUsedDatabase();
    const nowhere = {
      DATABASE_URL: connectionString,
      DIRECT_DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/none',
    };
    await expectFound(nowhere, 'DATABASE_UNREACHABLE');
    const other = { DATABASE_URL: connectionString, DIRECT_DATABASE_URL: await emptyDatabase() };
    await expectFound(other, 'POOLER_UNUSABLE');
  });

  it('finds that DB_POOLER contradicts the server', async () => {
    const connectionString = await createUsedDatabase();
    const settings = { DATABASE_URL: connectionString, DIRECT_DATABASE_URL: connectionString };
    await expectFound(settings);
    await expectFound({ ...settings, DB_POOLER: 'none' });
    await expectFound({ ...settings, DB_POOLER: 'transaction' }, 'POOLER_UNEXPECTED');
  });

  it("finds a pool larger than the server's connection limit", async () => {
    await expectFound({ DATABASE_URL: await createUsedDatabase(), DB_POOL: '500' }, 'CONNECTIONS_LOW');
  });

  it('finds too few lock slots', () => {
    const settings = { max_locks_per_transaction: 64, max_connections: 100, max_prepared_transactions: 0 };
    expect(lockFindings(settings, 6_000)).to.deep.equal([]);
    const [lockFinding] = lockFindings(settings, 20_000);
    expect(lockFinding).to.include({ code: 'LOCK_SLOTS_LOW', severity: 'warning' });
    expect(lockFinding?.message).to.contain('max_locks_per_transaction 200, now 64');
  });

  it('finds clocks that differ', async () => {
    const place = { connectionString: await createUsedDatabase(), schema: 'public', serviceSchema: 'service' };
    const pool = createPool({ ...place, max: 1, logger: silent });
    try {
      const at = async (shift: number, shiftAtEnd = shift) => {
        const shifts = [shift, shiftAtEnd];
        const now = () => Date.now() + (shifts.shift() ?? 0);
        const clockFindings = await clock.run({ pool, now } as unknown as DoctorContext);
        return clockFindings.map(({ code, message }) => `${code} ${message.replace(/\d+ ms/, 'n ms')}`);
      };
      expect(await at(0)).to.deep.equal([]);
      const behind = 'CLOCK_DIFFERENCE The clock of the database server is n ms behind the clock of this machine.';
      expect(await at(10_000)).to.deep.equal([behind]);
      expect(await at(0, 6_000), 'a slow response').to.deep.equal([]);
      expect(await at(10_000, 16_000)).to.deep.equal([behind]);
    } finally {
      await pool.end();
    }
  });

  it('reports a check that cannot run', async () => {
    const connectionString = await createUsedDatabase();
    await sql(connectionString, 'drop table service.service_folds');
    await expectFound({ DATABASE_URL: connectionString }, 'OWN_TABLES_DIFFER', 'CHECK_FAILED');
  });

  it('documents every code in docs/doctor.md', async function () {
    const readme = await readFile(new URL('../../docs/doctor.md', import.meta.url), 'utf8').catch(() => '');
    if (!readme.includes('dps doctor')) return this.skip();
    for (const code of Object.keys(FINDINGS)) expect(readme).to.match(new RegExp(`^\\| \`${code}\` +\\|`, 'm'));
  });
});
