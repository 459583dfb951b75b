import { existsSync } from 'node:fs';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pg from 'pg';
import { recordedConnection } from '../src/postgres/embedded/index.js';
import { readPostmaster } from '../src/postgres/embedded/start-server.js';
import { freePort } from './support/free-port.js';
import { createDatabase, temporaryDirectory, testServer } from './support/postgres.js';
import { type ServiceProcess, spawnService } from './support/process.js';
import { until, untilAwaited } from './support/until.js';

describe('the service as a process', () => {
  let directory: string;
  let dataDir: string;
  const started: ServiceProcess[] = [];

  beforeEach(async () => {
    directory = await temporaryDirectory();
    dataDir = join(directory, 'data');
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((service) => service.end('SIGKILL')));
    await serverGone(dataDir);
    await rm(directory, { recursive: true, force: true });
  });

  function start(settings: Record<string, string> = {}, from?: 'built'): ServiceProcess {
    const service = spawnService({ DATA_DIR: dataDir, ...settings }, from);
    started.push(service);
    return service;
  }

  it('starts without settings, prints a token once, stops on SIGTERM, and finds its data again', async () => {
    const first = start({}, 'built');
    const greeting = await first.ready();
    expect(greeting.text).to.contain('Admin: admin@example.com').and.contain('curl');
    expect(greeting.token).to.match(/^dps_/);
    expect(greeting.password).to.be.a('string');
    expect((await create(greeting.url, greeting.token!, 'kept')).status).to.equal(200);
    const end = await first.end('SIGTERM');
    expect([end.code, end.signal]).to.deep.equal([0, null]);
    expect(end.stderr).to.contain('embedded PostgreSQL started').and.contain(join(dataDir, 'postgres'));
    expect(end.stderr).not.to.contain(greeting.token).and.not.to.contain(greeting.password);
    expect(await readPostmaster(join(dataDir, 'postgres'))).to.equal(null);

    const again = await start({}, 'built').ready();
    expect(again.token).to.equal(undefined);
    expect(again.text).not.to.contain('dps_');
    expect((await get(again.url, greeting.token!, '/collections/kept')).status).to.equal(200);
  });

  it('stops on Ctrl-C, even when npm forwards it twice', async () => {
    const service = start();
    await service.ready();
    service.child.kill('SIGINT');
    const end = await service.end('SIGINT');
    expect(end.code).to.equal(0);
    expect(await readPostmaster(join(dataDir, 'postgres'))).to.equal(null);
  });

  it('stops when signalled during the start', async () => {
    const service = start();
    await sleep(1_500);
    const end = await service.end('SIGTERM');
    expect(end.code === 0 || end.signal === 'SIGTERM').to.equal(true);
    await serverGone(dataDir);
    await start().ready();
  });

  it('does not start on a data directory that another service uses, and says so in one sentence', async () => {
    const first = start();
    const { url, token } = await first.ready();
    const end = await start().ended();
    expect(end.code).to.equal(2);
    expect(end.stdout).to.equal('');
    const sentence = new RegExp(
      `^Another service uses the data directory .* \\(process ${first.child.pid}\\)\\. [^\\n]+\\.$`,
    );
    expect(lastLine(end.stderr)).to.match(sentence);
    expect((await get(url, token!, '/collections')).status).to.equal(200);
  });

  it('starts after kill -9 with all accepted changes', async () => {
    const first = start();
    const { url, token } = await first.ready();
    expect((await create(url, token!, 'accepted')).status).to.equal(200);
    await first.end('SIGKILL');
    const second = await start().ready();
    expect((await get(second.url, token!, '/collections/accepted')).status).to.equal(200);
  });

  it('completes running requests during shutdown and accepts no new ones', async () => {
    const service = start();
    const { url, token } = await service.ready();
    const blocker = await blockWrites(dataDir);
    const running = create(url, token!, 'late');
    await writeIsBlocked(blocker);
    service.child.kill('SIGTERM');
    await waitUntilStopping(url);
    await blocker.end();
    expect((await running).status).to.equal(200);
    expect((await service.ended()).code).to.equal(0);
  });

  it('stops immediately on a second signal', async () => {
    const service = start({ LOCK_TIMEOUT: '60s' });
    const { url, token } = await service.ready();
    const blocker = await blockWrites(dataDir);
    const running = create(url, token!, 'never').catch((error: Error) => error);
    await writeIsBlocked(blocker);
    service.child.kill('SIGTERM');
    await waitUntilStopping(url);
    // An earlier signal is npm's copy of the first one.
    await sleep(1_300);
    const end = await service.end('SIGTERM');
    await blocker.end().catch(() => undefined);
    expect(end.code).to.equal(1);
    expect(await running).to.be.an.instanceOf(Error);
  });

  it('creates nothing on a used port, so the next start prints its credentials', async () => {
    const taken = await takenPort();
    for (let round = 0; round < 2; round += 1) expect((await start(taken).ended()).code).to.equal(2);
    expect(existsSync(dataDir)).to.equal(false);
    const { token, password } = await start().ready();
    expect(token).to.match(/^dps_/);
    expect(password).to.be.a('string');
  });

  it('returns 503 until it is ready', async () => {
    const port = await freePort();
    const service = start({ PORT: String(port) });
    const early = await answered(`http://127.0.0.1:${port}/server/ping`);
    expect(early.status).to.equal(503);
    expect(early.headers.get('retry-after')).to.equal('1');
    expect(await early.json()).to.have.nested.property('errors[0].extensions.code', 'UNAVAILABLE');
    await service.ready();
    expect((await fetch(`http://127.0.0.1:${port}/server/ping`)).status).to.equal(200);
  });

  it('continues when the reader of its output disappears', async () => {
    const service = start({ LOG_LEVEL: 'debug' });
    const { url, token } = await service.ready();
    service.child.stdout!.destroy();
    service.child.stderr!.destroy();
    for (const name of ['one', 'two', 'three']) expect((await create(url, token!, name)).status).to.equal(200);
    expect((await get(url, token!, '/collections/three')).status).to.equal(200);
    expect((await service.end('SIGTERM')).code).to.equal(0);
  });

  it('ends when its embedded server has ended', async () => {
    const service = start();
    await service.ready();
    process.kill((await readPostmaster(join(dataDir, 'postgres')))!.pid, 'SIGINT');
    const end = await service.ended();
    expect(end.code).to.equal(1);
    expect(end.stderr).to.contain('the embedded PostgreSQL has exited');
  });

  it('ends in one sentence if the default data directory is not writable', async () => {
    const database = await createDatabase();
    try {
      const client = await connect(database.connectionString);
      const { rows } = await client.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
      await client.query(`ALTER DATABASE ${rows[0]?.name} SET default_transaction_read_only = on`);
      await client.end();
      const end = await start({ DATABASE_URL: database.connectionString }).ended();
      expect([end.code, end.stdout]).to.deep.equal([2, '']);
      expect(lastLine(end.stderr)).to.match(/^Transactions are read-only by default in this database\. [^\n]+\.$/);
    } finally {
      await database.drop();
    }
  });

  it('ends in one sentence where rows of its own tables were deleted', async () => {
    const cases = [
      ['service_auth_epoch', /^The table "service_auth_epoch" has no row, [^\n]+\);$/],
      [
        'service_migrations',
        /^The table "service_migrations" has no row for the migration "0001_service_tables.sql", /,
      ],
      [
        'service_migrations WHERE number = 1',
        /"0001_service_tables.sql", which seems to be applied \(a later migration /,
      ],
    ] as const;
    for (const [rows, sentence] of cases) {
      const database = await createDatabase('migrated');
      try {
        const client = await connect(database.connectionString);
        await client.query(`DELETE FROM service.${rows}`);
        await client.end();
        const end = await start({ DATABASE_URL: database.connectionString }).ended();
        expect([end.code, end.stdout], end.stderr).to.deep.equal([2, '']);
        expect(lastLine(end.stderr)).to.match(sentence);
        expect(end.stderr).not.to.match(/^ {2,}at /m);
      } finally {
        await database.drop();
      }
    }
  });

  it('uses the given database and no data directory', async () => {
    const database = await createDatabase();
    const service = start({
      DATABASE_URL: database.connectionString,
      ADMIN_TOKEN: 'given-token-0123456789-0123456789',
    });
    const { url, text } = await service.ready();
    expect(text).not.to.contain('given-token');
    expect((await create(url, 'given-token-0123456789-0123456789', 'there')).status).to.equal(200);
    expect((await service.end('SIGTERM')).code).to.equal(0);
    const client = await connect(database.connectionString);
    expect((await client.query('select count(*)::int as n from there')).rows).to.deep.equal([{ n: 0 }]);
    await client.end();
    await database.drop();
    expect(existsSync(dataDir)).to.equal(false);
  });

  it('runs as root with a data directory below a private directory', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const closed = join(directory, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await chmod(closed, 0o700);
    dataDir = join(closed, 'data');
    const first = start();
    const { url, token } = await first.ready();
    expect((await create(url, token!, 'kept')).status).to.equal(200);
    expect((await first.end('SIGTERM')).code).to.equal(0);
    const second = start();
    expect((await get((await second.ready()).url, token!, '/collections/kept')).status).to.equal(200);
    const { stderr } = await second.end('SIGTERM');
    const home = /"files":"([^"]+)\/postgres"/.exec(stderr)?.[1] ?? '';
    expect(home).to.match(/^\/var\/lib\/data-platform-service\//);
    await rm(home, { recursive: true });
  });

  describe('with an invalid setting exits with 2 and one sentence that names it:', () => {
    const cases: [string, () => Promise<Record<string, string>>, RegExp][] = [
      ['PORT', () => settings({ PORT: 'http' }), /^The setting PORT must be a port, an integer from 0 to 65535\.$/],
      [
        'TRUST_PROXY',
        () => settings({ TRUST_PROXY: 'loopback, ::/0' }),
        /^The setting TRUST_PROXY must not contain every address, because .*\.$/,
      ],
      ['a taken PORT', takenPort, /^PORT \d+ is already in use on 127\.0\.0\.1. .*\.$/],
      [
        'HOST',
        () => settings({ HOST: '203.0.113.7' }),
        /^HOST 203\.0\.113\.7 is not an address of this machine. .*\.$/,
      ],
      [
        'DATABASE_URL',
        () => settings({ DATABASE_URL: 'mysql://u:hunter2@h/d' }),
        /^The setting DATABASE_URL must look like postgresql:.*\.$/,
      ],
      [
        'an address where nothing listens',
        () => settings({ DATABASE_URL: 'postgresql://u:hunter2@127.0.0.1:9/d' }),
        /^The database of DATABASE_URL cannot be used: no server listens at its address\.$/,
      ],
      [
        'a missing database',
        () => onServer((url) => (url.pathname = '/dps_none')),
        /^The database of DATABASE_URL cannot be used: the database does not exist\.$/,
      ],
      [
        'a user that does not exist',
        () => onServer((url) => (url.username = 'nobody_of_this_name')),
        /^The database of DATABASE_URL cannot be used: it rejected the role.*\.$/,
      ],
      [
        'a user without privileges',
        withoutRights,
        /^The schema "dps_limited_new" does not exist, and the role "dps_limited" cannot create it\. .*GRANT CREATE ON DATABASE .*\.$/,
      ],
      [
        'DATA_DIR',
        () => settings({ DATA_DIR: '/dev/null/data' }),
        /^This user cannot use DATA_DIR \/dev\/null\/data .*\.$/,
      ],
      [
        'DATA_DIR where nothing can be made',
        () => settings({ DATA_DIR: '/proc/x/y' }),
        /^This user cannot use DATA_DIR \/proc\/x\/y .*\.$/,
      ],
    ];
    for (const [name, environment, sentence] of cases) {
      it(name, async () => {
        const end = await start(await environment()).ended();
        expect(end.code, end.stderr).to.equal(2);
        expect(lastLine(end.stderr)).to.match(sentence);
        expect(end.stderr + end.stdout).not.to.contain('hunter2');
      });
    }
  });
});

const settings = (input: Record<string, string>) => Promise.resolve(input);

async function takenPort(): Promise<Record<string, string>> {
  const server = createServer().unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { PORT: String((server.address() as AddressInfo).port) };
}

/** The first response at `url` once a server listens there. */
async function answered(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    if (answer) return answer;
    await sleep(5);
  }
}

async function onServer(change: (url: URL) => unknown): Promise<Record<string, string>> {
  const url = new URL((await testServer()).connectionString);
  change(url);
  return { DATABASE_URL: url.href };
}

async function withoutRights(): Promise<Record<string, string>> {
  const { connectionString } = await testServer();
  const name = 'dps_limited';
  const client = await connect(connectionString);
  await client.query(`drop role if exists ${name}`);
  await client.query(`create role ${name} login password 'hunter2'`);
  await client.end();
  const url = new URL(connectionString);
  [url.username, url.password] = [name, 'hunter2'];
  return { DATABASE_URL: url.href, DB_SCHEMA: `${name}_new` };
}

function lastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? '';
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client(connectionString);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Blocks appends to the log until the returned client ends. */
async function blockWrites(dataDir: string): Promise<pg.Client> {
  const client = await connect((await recordedConnection(dataDir))!);
  await client.query('begin; lock table service.service_events in share mode');
  return client;
}

const writeIsBlocked = (blocker: pg.Client): Promise<void> =>
  untilAwaited('service.service_events', async (text) => (await blocker.query(text)).rows);

/** The service has received the stop signal. */
const waitUntilStopping = (url: string): Promise<void> =>
  until('it takes nothing new', () =>
    fetch(`${url}/server/ping`).then(
      () => false,
      () => true,
    ),
  );

function create(url: string, token: string, collection: string): Promise<Response> {
  return fetch(`${url}/collections`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ collection, schema: {} }),
  });
}

function get(url: string, token: string, path: string): Promise<Response> {
  return fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
}

async function serverGone(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  for (let waited = 0; existsSync(file) && waited < 20_000; waited += 50) await sleep(50);
}
