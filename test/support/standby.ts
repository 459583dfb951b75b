/**
 * A primary and its standbys from the npm server package, on loopback. A standby is a copy of the running primary's
 * files (the package has no pg_basebackup) that streams from it.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  findBinaries,
  program,
  ensureReachablePrograms,
  type Account,
  serverAccount,
  THROWAWAY_SETTINGS,
} from '../../src/postgres/embedded/cluster.js';
import { temporaryDirectory } from './server.js';
import { freePort } from './free-port.js';
import { until } from './until.js';

const run = promisify(execFile);

const PASSWORD = 'of servers that live for minutes';

/** The owner of the database: not a superuser, without further privileges. */
const OWNER = 'dps_owner';

export interface Server {
  port: number;
  /** For the owner of the database, who is not a superuser, like the service. */
  connectionString: string;
  /** Runs SQL as a superuser and returns the rows of the last statement. */
  sql(...statements: string[]): Promise<Record<string, unknown>[]>;
  /** Promotes it to a primary. */
  promote(): Promise<void>;
  /** Pauses replay until it is resumed. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Stops the standby, gracefully or immediately. */
  stop(how?: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  /**
   * Starts it again on its port.
   * @param follows its new primary, as a standby
   */
  start(follows?: Server): Promise<void>;
}

export interface Cluster {
  primary: Server;
  /** A standby of `of`, by default the primary. It streams and accepts queries when this resolves. */
  addStandby(of?: Server): Promise<Server>;
  stop(): Promise<void>;
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=120',
  'max_wal_senders=10',
  'wal_keep_size=512MB',
  'max_locks_per_transaction=256',
  'timezone=UTC',
  'wal_retrieve_retry_interval=200ms',
  'autovacuum=off',
];

const THROWAWAY = Object.entries(THROWAWAY_SETTINGS).map(([name, value]) => `${name}=${value}`);

interface ClusterOptions {
  /** Survives a power cut, like usual servers. */
  durable?: boolean;
  /** Further settings of its servers: `autovacuum=on`. */
  settings?: readonly string[];
}

/** A primary with an empty database of the owner. */
export async function startCluster({ durable = false, settings = [] }: ClusterOptions = {}): Promise<Cluster> {
  const folder = await temporaryDirectory();
  const account = await serverAccount(folder);
  const programs = await ensureReachablePrograms(await findBinaries(), account);
  const servers: Server[] = [];
  const installation: Installation = {
    folder,
    account,
    programs,
    settings: [...SETTINGS, ...(durable ? [] : THROWAWAY), ...settings],
  };
  const data = await initialise(installation);
  const primary = await startServer(installation, data);
  servers.push(primary);
  await primary.sql(`create role ${OWNER} login password '${PASSWORD}'`, `create database dps owner ${OWNER}`);
  return {
    primary,
    async addStandby(source = primary) {
      const standby = await copyOf(installation, source as StartedServer, servers.length + 1);
      servers.push(standby);
      await until('it streams', async () => {
        const [row] = await standby.sql('select status from pg_stat_wal_receiver');
        return row?.['status'] === 'streaming';
      });
      return standby;
    },
    async stop() {
      for (const server of servers.reverse()) await server.stop('SIGQUIT');
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

interface Installation {
  folder: string;
  account: Account | null;
  programs: string;
  settings: readonly string[];
}

interface StartedServer extends Server {
  data: string;
}

const environment = { PATH: process.env['PATH'], LC_ALL: 'C' };

async function initialise({ folder, account, programs }: Installation): Promise<string> {
  const data = join(folder, 'server-1');
  const passwordFile = join(folder, 'password');
  await mkdir(data, { mode: 0o700 });
  await writeFile(passwordFile, PASSWORD, { mode: 0o600 });
  if (account) await Promise.all([data, passwordFile].map((path) => chown(path, account.uid, account.gid)));
  const flags = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, '--username=postgres', '--encoding=UTF8'];
  await run(program(programs, 'initdb'), ['--pgdata', data, ...flags, '--locale=C', '--no-sync'], {
    ...account,
    cwd: '/',
    env: environment,
  });
  return data;
}

async function copyOf(installation: Installation, primary: StartedServer, number: number): Promise<Server> {
  const data = join(installation.folder, `server-${number}`);
  const client = new pg.Client(addressOf('postgres', primary.port, 'postgres'));
  await client.connect();
  try {
    await client.query(`select pg_backup_start('copy', true)`);
    // The write-ahead log repairs files that change during the copy.
    await run('cp', ['-a', primary.data, data]).catch(() => undefined);
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    for (const name of ['postmaster.pid', 'postmaster.opts', 'standby.signal'])
      await rm(join(data, name), { force: true });
    await write(installation, join(data, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  return startServer(installation, data, primary);
}

async function write({ account }: Installation, file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 });
  await chmod(file, 0o600);
  if (account) await chown(file, account.uid, account.gid);
}

function addressOf(user: string, port: number, database: string): string {
  return `postgresql://${user}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/${database}`;
}

async function startServer(installation: Installation, data: string, follows?: Server): Promise<StartedServer> {
  const port = await freePort();
  let running: { end(signal: NodeJS.Signals): Promise<void> } | null = null;

  const start = async (upstream?: Server): Promise<void> => {
    const signalFile = join(data, 'standby.signal');
    if (upstream) await write(installation, signalFile, '');
    const conninfo = upstream
      ? [`primary_conninfo=host=127.0.0.1 port=${upstream.port} user=postgres password='${PASSWORD}'`]
      : [];
    const settings = [...installation.settings, `port=${port}`, ...conninfo].flatMap((each) => ['-c', each]);
    const child = spawn(program(installation.programs, 'postgres'), ['-D', data, ...settings], {
      ...installation.account,
      cwd: '/',
      env: environment,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'exit');
    running = {
      async end(signal) {
        child.kill(signal);
        await ended;
      },
    };
    await until('the server answers', async () => {
      if (child.exitCode !== null) throw new Error(`the server ended: ${output}`);
      return sql('select 1').then(
        () => true,
        () => false,
      );
    });
  };

  const sql: Server['sql'] = async (...statements) => {
    const client = new pg.Client(addressOf('postgres', port, 'postgres'));
    client.on('error', () => undefined);
    try {
      await client.connect();
      let rows: Record<string, unknown>[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  };

  await start(follows);
  return {
    data,
    port,
    connectionString: addressOf(OWNER, port, 'dps'),
    sql,
    start,
    async promote() {
      await sql('select pg_promote(true, 60)');
    },
    async pause() {
      await sql('select pg_wal_replay_pause()');
      await until('replay has paused', async () => {
        const [row] = await sql('select pg_get_wal_replay_pause_state() as state');
        return row?.['state'] === 'paused';
      });
    },
    async resume() {
      await sql('select pg_wal_replay_resume()');
    },
    async stop(mode = 'SIGINT') {
      await running?.end(mode);
      running = null;
    },
  };
}
