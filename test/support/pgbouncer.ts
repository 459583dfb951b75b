/** PgBouncer from Debian as a process in front of the test server: transaction mode, otherwise defaults. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.js';
import { until } from './until.js';

export interface Pgbouncer {
  /** The address of the same database through PgBouncer. */
  through(connectionString: string): string;
  /** Stops PgBouncer immediately, with open connections. */
  kill(): Promise<void>;
  /** Starts PgBouncer on the same port after `kill`. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Added to its defaults: `{ pool_mode: 'statement', default_pool_size: '1' }`. */
export type PgbouncerSettings = Readonly<Record<string, string>>;

/** The installed path, or null. */
export function pgbouncerProgram(): string | null {
  const names = ['/usr/sbin/pgbouncer', 'pgbouncer'];
  return names.find((name) => spawnSync(name, ['--version']).status === 0) ?? null;
}

export const INSTALL_PGBOUNCER = 'PgBouncer is not installed: apt-get install pgbouncer';

const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** It refuses to run as root. */
const unprivilegedUser = (): { uid: number; gid: number } | undefined =>
  process.getuid?.() === 0 ? { uid: Number(idOf('-u')), gid: Number(idOf('-g')) } : undefined;

const idOf = (which: '-u' | '-g'): string => spawnSync('id', [which, 'nobody'], { encoding: 'utf8' }).stdout.trim();

/** @param address of a database on its server, with the user to log in as */
export async function startPgbouncer(address: string, settings: PgbouncerSettings = {}): Promise<Pgbouncer> {
  const program = pgbouncerProgram();
  if (program === null) throw new Error(INSTALL_PGBOUNCER);
  const user = unprivilegedUser();
  const directory = await mkdtemp(join(tmpdir(), 'dps-pgbouncer-'));
  await chmod(directory, 0o711);
  const port = await freePort();
  const { hostname, port: serverPort, username, password } = new URL(address);
  const ini = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users.txt');
  await writeFile(users, `"${username}" "${password}"\n`);
  await writeFile(ini, iniOf({ hostname, serverPort, port, users, settings }));
  if (user) for (const path of [directory, ini, users]) await chown(path, user.uid, user.gid);

  let child: ChildProcess | undefined;
  const output: string[] = [];
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
    running.delete(child);
  };
  const start = async (): Promise<void> => {
    child = spawn(program, [ini], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
    running.add(child);
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => output.push(chunk));
    await reachable(port, () => {
      if (child?.exitCode !== null) throw new Error(`PgBouncer ended: ${output.join('')}`);
    });
  };
  await start();
  return {
    through(connectionString) {
      const url = new URL(connectionString);
      [url.hostname, url.port] = ['127.0.0.1', String(port)];
      return url.href;
    },
    kill,
    start,
    async stop() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Ini {
  hostname: string;
  serverPort: string;
  port: number;
  users: string;
  settings: PgbouncerSettings;
}

function iniOf({ hostname, serverPort, port, users, settings }: Ini): string {
  const lines = Object.entries({ pool_mode: 'transaction', ...settings }).map(([name, value]) => `${name} = ${value}`);
  return `[databases]
* = host=${hostname} port=${serverPort || '5432'}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
${lines.join('\n')}
`;
}

const reachable = (port: number, check: () => void): Promise<void> =>
  until('PgBouncer answers', async () => {
    check();
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'pgbouncer', database: 'pgbouncer', password: '' });
    client.on('error', () => undefined);
    const answered = await client.connect().then(
      () => true,
      (error: unknown) => 'severity' in (error as object),
    );
    await client.end().catch(() => undefined);
    return answered;
  });
