import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { dps } from '../support/dps.js';
import { asSuperuser, query } from '../support/postgres.js';
import { ROOT } from '../support/documents.js';
import { startService } from '../support/service.js';
import { until } from '../support/until.js';
import { createApi } from '../support/api.js';
import { withService } from '../support/with-service.js';

describe('the notification for PostgREST', () => {
  const { service, api } = withService({
    settings: { NOTIFY_POSTGREST: 'on', OBJECTS: 'on' },
    atEnd: () => listener.end(),
  });
  const payloads: (string | undefined)[] = [];
  let listener: pg.Client;

  before(async () => {
    listener = new pg.Client({ connectionString: service.databaseUrl });
    await listener.connect();
    listener.on('notification', ({ payload }) => payloads.push(payload));
    await listener.query('LISTEN pgrst');
  });
  beforeEach(() => void payloads.splice(0));

  /** Notifications arrive in the order of the commits. */
  const received = async (): Promise<(string | undefined)[]> => {
    await api.sql(`NOTIFY pgrst, 'end'`);
    await until('the last notification arrives', () => payloads.includes('end'));
    return payloads.splice(0).filter((payload) => payload !== 'end');
  };

  it('is sent once for each change to the schema, in one transaction with it', async () => {
    await api.ok('POST', '/collections', { collection: 'books', schema: {} });
    await api.ok('POST', '/fields/books', { field: 'title', type: 'string', interface: 'input' });
    await api.ok('DELETE', '/collections/books');
    expect(await received()).to.deep.equal(Array(3).fill('reload schema'));
  });

  it('is sent for views', async () => {
    await api.ok('POST', '/objects', { kind: 'view', definition: 'CREATE VIEW ones AS SELECT 1 AS one' });
    expect(await received()).to.deep.equal(['reload schema']);
  });

  it('is sent when a repair or a rebuild changes tables without an event', async () => {
    await api.ok('POST', '/collections', { collection: 'drifted', schema: {} });
    await api.ok('POST', '/fields/drifted', { field: 'title', type: 'string', interface: 'input' });
    await api.sql('ALTER TABLE drifted DROP COLUMN title');
    await received();
    const settings = { DATABASE_URL: service.databaseUrl, NOTIFY_POSTGREST: 'on', OBJECTS: 'on' };
    const repaired = await dps(['drift', '--repair'], settings);
    expect([repaired.code, repaired.err]).to.deep.equal([0, '']);
    expect(await received()).to.deep.equal(['reload schema']);
    await api.sql('ALTER TABLE drifted DROP COLUMN title');
    await api.ok('POST', '/projections/tables/rebuild');
    expect(await received()).to.deep.equal(['reload schema']);
    expect((await dps(['drift'], settings)).code).to.equal(0);
    expect(await received()).to.deep.equal([]);
  });

  it('is not sent for rejected changes, dry runs or changes to accounts', async () => {
    await api.ok('POST', '/collections?dry_run', { collection: 'other', schema: {} });
    await api.refused({ status: 400, code: 'INVALID_PAYLOAD' }, 'POST', '/collections', { collection: '', schema: {} });
    await api.ok('POST', '/users', { email: 'a@example.com', role: 'reader' });
    expect(await received()).to.deep.equal([]);
  });

  it('is not sent without the setting', async () => {
    const other = await startService({ DATABASE_URL: service.databaseUrl });
    const quiet = createApi(other);
    try {
      await quiet.ok('POST', '/collections', { collection: 'quiet', schema: {} });
      expect(await received()).to.deep.equal([]);
    } finally {
      await quiet.stop();
      await other.stop();
    }
  });
});

describe('the roles of deploy/compose/postgrest-roles.sh', () => {
  const { service, api } = withService({ atEnd: () => dropRoles() });
  const password = 'a password of this test';

  /** As psql runs it, for the owner of this database. */
  function script(): string {
    const text = readFileSync(join(ROOT, 'deploy/compose/postgrest-roles.sh'), 'utf8');
    const [, statements = ''] = /<<'SQL'\n(.*)^SQL$/ms.exec(text) ?? [];
    expect(statements).to.contain("PASSWORD :'password'");
    const owner = decodeURIComponent(new URL(service.databaseUrl).username);
    return statements
      .replace(/^\\set .*$/m, '')
      .replace(":'password'", `'${password}'`)
      .replace('FOR ROLE dps', `FOR ROLE ${owner}`);
  }

  /** Roles belong to the whole server. */
  const dropRoles = async (): Promise<void> => {
    const sql = `SELECT rolname AS role FROM pg_roles WHERE rolname IN ('postgrest', 'web_anon')`;
    for (const { role } of (await query(service.databaseUrl, sql)) as { role: string }[])
      await asSuperuser(service.databaseUrl, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
  };

  before(async () => {
    await dropRoles();
    await asSuperuser(service.databaseUrl, script());
  });

  it('read tables that the service creates later, and nothing else', async () => {
    await api.ok('POST', '/collections', {
      collection: 'books',
      schema: {},
      fields: [{ field: 'title', type: 'string', interface: 'input' }],
    });
    await api.sql(`INSERT INTO books (title) VALUES ('Emma')`);
    const url = new URL(service.databaseUrl);
    url.username = 'postgrest';
    url.password = password;
    const before = await query(url.href, `SELECT has_table_privilege('books', 'SELECT') AS reads`);
    url.searchParams.set('options', '-c role=web_anon');
    const failure = (text: string) =>
      query(url.href, text).then(
        () => null,
        (error: unknown) => (error as Error).message,
      );

    expect(before).to.deep.equal([{ reads: false }]);
    expect(await query(url.href, 'SELECT title FROM books')).to.deep.equal([{ title: 'Emma' }]);
    expect(await failure('DELETE FROM books')).to.equal('permission denied for table books');
    expect(await failure('SELECT * FROM service.service_users')).to.equal('permission denied for schema service');
  });
});
