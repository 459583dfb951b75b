import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, readdir, readlink, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../../support/until.js';
import pg from 'pg';
import { readPostmaster } from '../../../src/postgres/embedded/start-server.js';
import { recordedConnection, startEmbedded } from '../../../src/postgres/embedded/index.js';
import { temporaryDirectory } from '../../support/postgres.js';

const HOST = fileURLToPath(new URL('embedded-host.ts', import.meta.url));

interface Said {
  connectionString?: string;
  orphanStopped?: boolean;
  refused?: string;
}

describe('embedded PostgreSQL', () => {
  let dataDir: string;
  const hosts: ChildProcess[] = [];

  beforeEach(async () => {
    dataDir = await temporaryDirectory();
  });

  afterEach(async () => {
    for (const host of hosts.splice(0)) await end(host, 'SIGKILL');
    await serverGone(join(dataDir, 'postgres'));
    await rm(dataDir, { recursive: true, force: true });
  });

  function host(): { process: ChildProcess; said: Promise<Said> } {
    const child = spawn(process.execPath, ['--import', 'tsx', HOST, dataDir], { stdio: ['ignore', 'pipe', 'inherit'] });
    hosts.push(child);
    const output = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line as string) as Said);
    return { process: child, said: output };
  }

  const start = () => startEmbedded({ dataDir, connections: 20, throwaway: true });

  it('finds its data at the second start, and protects its secrets', async () => {
    const first = await start();
    await query(first.connectionString, 'create table kept as select 42 as answer');
    await first.stop();
    // Left by a killed start, with changed permissions.
    await writeFile(join(dataDir, 'connection.new'), '', { mode: 0o644 });
    const second = await start();
    const rows = await query(second.connectionString, 'select answer from kept');
    expect(await recordedConnection(dataDir)).to.equal(second.connectionString);
    await second.stop();
    expect(rows).to.deep.equal([{ answer: 42 }]);
    for (const name of ['password', 'service-password', 'connection']) {
      expect((await stat(join(dataDir, name))).mode & 0o077, name).to.equal(0);
    }
  });

  it('creates UTF8 databases in UTC with code point order and Unicode lower case', async () => {
    const embedded = await start();
    const [row] = await query(
      embedded.connectionString,
      `select current_setting('server_encoding') as encoding, lower('ÄΩ') as lower, current_setting('TimeZone') as zone,
              array(select x from unnest(array['b','B','a','ä']) x order by x) as sorted`,
    );
    await embedded.stop();
    expect(row).to.deep.equal({ encoding: 'UTF8', lower: 'äω', zone: 'UTC', sorted: ['B', 'a', 'b', 'ä'] });
  });

  it('runs the service as database owner without superuser', async () => {
    const embedded = await start();
    const { connectionString, superuserConnectionString } = embedded;
    const account =
      'select rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls from pg_roles where rolname = current_user';
    const nothing = {
      rolsuper: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      rolbypassrls: false,
    };
    try {
      expect(await query(connectionString, account)).to.deep.equal([nothing]);
      await query(connectionString, 'create extension citext; create table public.mine (name citext)');
      for (const text of [
        "select pg_read_file('PG_VERSION')",
        "copy (select 1) to program 'true'",
        "select lo_export(lo_creat(-1), '/tmp/dps-export')",
        'create extension plpython3u',
        "set session_replication_role = 'replica'",
      ]) {
        expect(await rejectionOf(query(connectionString, text)), text).to.match(/permission denied|must be superuser/);
      }
      expect(
        await query(
          superuserConnectionString,
          'select usesuper, current_database()::text as name from pg_user where usename = current_user',
        ),
      ).to.deep.equal([{ usesuper: true, name: 'dps' }]);
    } finally {
      await embedded.stop();
    }
  });

  it('sets the password of the file at each start, and rejects tampered settings', async () => {
    const first = await start();
    await query(first.superuserConnectionString, "alter role dps password 'other'");
    const url = new URL(first.superuserConnectionString);
    url.pathname = '/postgres';
    await first.stop();
    const second = await start();
    expect(await query(second.connectionString, 'select 1 as one')).to.deep.equal([{ one: 1 }]);
    url.port = new URL(second.connectionString).port;
    await query(url.href, 'create table service_migrations (number int)');
    await second.stop();
    expect(await rejectionOf(start())).to.contain('development version');
    await serverGone(join(dataDir, 'postgres'));
  });

  it('rejects a second service on the same data, naming the first', async () => {
    const first = host();
    await first.said;
    const { refused } = await host().said;
    expect(refused).to.match(
      new RegExp(`^Another service uses the data directory .* \\(process ${first.process.pid}\\)`),
    );
  });

  it('lets exactly one of several concurrent starts use the data', async () => {
    const all = await Promise.all(Array.from({ length: 4 }, () => host().said));
    expect(all.filter((text) => text.connectionString !== undefined)).to.have.length(1);
    expect(all.filter((text) => text.refused !== undefined)).to.have.length(3);
  });

  it('stops when the service is killed, and the next start finds everything', async () => {
    for (let round = 0; round < 3; round += 1) {
      const killed = host();
      const { connectionString = '' } = await killed.said;
      await query(connectionString, `create table round_${round} ()`);
      await end(killed.process, 'SIGKILL');
      const next = await start();
      const rows = await query(next.connectionString, `select to_regclass('round_${round}') is not null as there`);
      await next.stop();
      expect(rows).to.deep.equal([{ there: true }]);
    }
  });

  it('stops when the service is killed and not restarted', async () => {
    const killed = host();
    await killed.said;
    const server = await readPostmaster(join(dataDir, 'postgres'));
    await end(killed.process, 'SIGKILL');
    await serverGone(join(dataDir, 'postgres'));
    expect(server?.pid).to.be.greaterThan(1);
    // Its last file disappears just before the process.
    await until('the server is gone', () => Promise.resolve(!existsSync(`/proc/${server?.pid}/cwd`)));
  });

  it('ends a server that also lost its supervisor, then starts', async function () {
    if (process.platform !== 'linux') this.skip();
    const killed = host();
    const { connectionString = '' } = await killed.said;
    const postmaster = (await readPostmaster(join(dataDir, 'postgres')))!;
    const group = Number((await readFile(`/proc/${postmaster.pid}/stat`, 'utf8')).split(' ')[3]);
    for (const pid of await childrenOf(group)) process.kill(pid, 'SIGKILL');
    process.kill(group, 'SIGKILL');
    await end(killed.process, 'SIGKILL');
    await query(connectionString, 'select 1');
    const next = await start();
    expect(next.orphanStopped).to.equal(true);
    await next.stop();
  });

  it('starts despite a postmaster.pid with a foreign process id', async () => {
    const first = await start();
    await first.stop();
    const stranger = spawn('sleep', ['60'], { ...(await ownerOf(join(dataDir, 'postgres'))), stdio: 'ignore' });
    const file = join(dataDir, 'postgres', 'postmaster.pid');
    await writeFile(file, `${stranger.pid}\n${join(dataDir, 'postgres')}\n1\n5432\n\n127.0.0.1\n\nready   \n`);
    const second = await start();
    expect(await query(second.connectionString, 'select 1 as one')).to.deep.equal([{ one: 1 }]);
    await second.stop();
    stranger.kill('SIGKILL');
  });

  it('reports a missing password', async () => {
    await (await start()).stop();
    await rm(join(dataDir, 'password'));
    expect(await rejectionOf(start())).to.contain('is missing. Restore it');
  });

  it('reports data files of another release', async () => {
    await (await start()).stop();
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '17\n');
    expect(await rejectionOf(start()))
      .to.contain('PostgreSQL 17')
      .and.contain('PostgreSQL 18');
  });

  it('reports a data directory that is a file', async () => {
    await writeFile(join(dataDir, 'file'), '');
    expect(await rejectionOf(startEmbedded({ dataDir: join(dataDir, 'file'), connections: 5 }))).to.contain('DATA_DIR');
  });

  it('removes the remains of a killed start', async () => {
    const early = host();
    while (!(await readdir(dataDir)).some((name) => name.includes('.draft-'))) await sleep(5);
    await end(early.process, 'SIGKILL');
    await (await start()).stop();
    expect((await readdir(dataDir)).sort()).to.deep.equal([
      'connection',
      'lock',
      'password',
      'postgres',
      'service-password',
    ]);
    expect(await readdir(join(dataDir, 'lock'))).to.deep.equal([]);
  });

  it('accepts data directories with long paths and unusual characters', async () => {
    const deep = join(dataDir, `it's "quoted" $HOME; ${'x'.repeat(100)}`);
    await mkdir(deep, { mode: 0o711 });
    const embedded = await startEmbedded({ dataDir: deep, connections: 5, throwaway: true });
    const again = await rejectionOf(startEmbedded({ dataDir: deep, connections: 5, throwaway: true }));
    await embedded.stop();
    expect(again).to.contain('Another service uses');
  });

  it('runs as root with files where their user can reach them', async function () {
    if (process.getuid?.() !== 0) this.skip();
    await chmod(dataDir, 0o700);
    await (await start()).stop();
    const home = await readlink(join(dataDir, 'postgres'));
    const second = await start();
    await second.stop();
    expect(await readlink(join(dataDir, 'postgres'))).to.equal(home);
    await rm(join(home, '..'), { recursive: true });
    expect(await rejectionOf(start())).to.contain(home);
  });
});

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(connectionString);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function rejectionOf(starting: Promise<unknown>): Promise<string> {
  return starting.then(
    () => '',
    (error: Error) => error.message,
  );
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

async function serverGone(home: string): Promise<void> {
  for (let waited = 0; existsSync(join(home, 'postmaster.pid')) && waited < 20_000; waited += 50) await sleep(50);
}

async function childrenOf(parent: number): Promise<number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '');
  const postmaster = await Promise.all(
    children
      .split(' ')
      .filter((pid) => pid.trim() !== '')
      .map(async (pid) => ({ pid: Number(pid), command: await readFile(`/proc/${pid}/comm`, 'utf8') })),
  );
  return postmaster.filter(({ command }) => command.trim() === 'sh').map(({ pid }) => pid);
}

async function ownerOf(path: string): Promise<{ uid?: number; gid?: number }> {
  const { uid, gid } = await stat(path);
  return process.getuid?.() === 0 ? { uid, gid } : {};
}
