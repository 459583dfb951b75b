import { expect } from 'chai';
import { type LockedSession, openLockedSession } from '../../src/postgres/locked-session.js';
import { silent } from '../support/instance.js';
import { type TestDatabase, createDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

describe("the index builder's session", () => {
  let database: TestDatabase;
  const open: LockedSession[] = [];

  before(async () => {
    database = await createDatabase('migrated');
  });
  afterEach(async () => {
    for (const session of open.splice(0)) await session.close();
  });
  after(() => database.drop());

  const session = async (schema = 'public', connectionString = database.connectionString) => {
    const created = await openLockedSession({
      connection: {
        connectionString,
        schema,
        serviceSchema: 'service',
        applicationName: 'data-platform-service indexes',
      },
      database: 'd',
      purpose: 'concurrent-indexes',
      logger: silent,
    });
    if (created !== null) open.push(created);
    return created;
  };
  const value = async (created: LockedSession | null | undefined, expression: string): Promise<unknown> => {
    const { rows } = await created!.client.query<{ value: unknown }>(`SELECT ${expression} AS value`);
    return rows[0]?.value;
  };

  it('belongs to one process per schema, and to the next after it closed', async () => {
    const first = await session();
    expect(first).not.to.equal(null);
    expect(await session(), 'another process').to.equal(null);
    expect(await session('other'), 'another schema').not.to.equal(null);
    await first?.close();
    expect(await session()).not.to.equal(null);
  });

  it("allows long builds, and shows its backend's process id", async () => {
    const created = await session();
    expect(await value(created, 'pg_backend_pid()')).to.equal(created?.pid);
    expect(await value(created, `current_setting('statement_timeout')`)).to.equal('0');
    expect(await value(created, `current_setting('lock_timeout')`)).to.equal('0');
    expect(await value(created, `current_setting('application_name')`)).to.equal('data-platform-service indexes');
  });

  it('allows long builds despite database limits for transactions and idle sessions', async () => {
    const name = new URL(database.connectionString).pathname.slice(1);
    const first = await session();
    const version = Number(await value(first, `current_setting('server_version_num')`));
    const limits = ['statement_timeout', 'idle_session_timeout', ...(version < 170_000 ? [] : ['transaction_timeout'])];
    for (const limit of limits) await first?.client.query(`ALTER DATABASE "${name}" SET ${limit} = '90s'`);
    try {
      const other = await session('limited');
      for (const limit of limits) expect(await value(other, `current_setting('${limit}')`), limit).to.equal('0');
    } finally {
      for (const limit of limits) await first?.client.query(`ALTER DATABASE "${name}" RESET ${limit}`);
    }
  });

  it('leaves no connection if the lock is not available', async () => {
    const created = await session();
    expect(await session()).to.equal(null);
    const count = `(SELECT count(*)::int FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'data-platform-service indexes')`;
    await until('the other is gone', async () => (await value(created, count)) === 1);
  });

  it('fails without a server', async () => {
    const error: unknown = await session('public', 'postgresql://nobody@127.0.0.1:9/none').catch(
      (reason: unknown) => reason,
    );
    expect(error).to.have.property('code', 'ECONNREFUSED');
    expect(open).to.have.lengthOf(0);
  });

  it('does not crash the process when it is cut off', async () => {
    const created = await session();
    const other = await session('other');
    await other?.client.query('SELECT pg_terminate_backend($1)', [created?.pid]);
    const error: unknown = await value(created, '1').catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error);
    await until('another may have it', async () => (await session()) !== null);
  });
});
