/** The servers that are compared: the service, PostgreSQL alone, a bare Express server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbedded } from '../../src/postgres/embedded/index.js';

const TOKEN = 'bench-admin-token-0123456789abcdef';
const SERVICE = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const BARE = fileURLToPath(new URL('./bare-express.ts', import.meta.url));
const PROCESSOR_TIME = new URL('./processor-time.mjs', import.meta.url);

/**
 * Gives the service priority over other processes (Linux, root), so that a busy machine measures like an idle one. The
 * priority applies to the new session as a group; see autogroups in sched(7).
 */
const FIRST = ['sh', '-c', 'echo -20 > /proc/self/autogroup; exec nice -n -20 "$@"', 'first'];
const isFirst = process.env['BENCH_FIRST'] !== undefined;

export interface Server {
  /** Connection string of an empty database. */
  createDatabase(): Promise<string>;
  version: string;
  stop(): Promise<void>;
}

/** An embedded server in its own directory, started as by the service, or the server of BENCH_DATABASE_URL. */
export async function startServer(): Promise<Server> {
  const given = process.env['BENCH_DATABASE_URL'];
  if (given !== undefined) return server({ maintenance: given, service: given }, () => Promise.resolve());
  const dataDir = await mkdtemp(join(tmpdir(), 'dps-bench-'));
  if (process.getuid?.() === 0) await chmod(dataDir, 0o711);
  const embedded = await startEmbedded({ dataDir, connections: 60 });
  const { connectionString: service, superuserConnectionString: maintenance } = embedded;
  return server({ maintenance, service }, async () => {
    // An immediate shutdown: writing a checkpoint of files that are deleted next takes minutes on a busy disk.
    const [pid] = (await readFile(join(embedded.home, 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGQUIT');
    await embedded.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
}

/** The database role that creates the databases, and the one that owns and uses them. */
interface Addresses {
  maintenance: string;
  service: string;
}

async function server({ maintenance, service }: Addresses, stop: () => Promise<void>): Promise<Server> {
  const client = new pg.Client({ connectionString: maintenance });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  let databases = 0;
  return {
    version: rows[0]?.server_version ?? 'unknown',
    async createDatabase() {
      databases += 1;
      const name = `bench_${process.pid}_${databases}`;
      const url = new URL(service);
      const owner = client.escapeIdentifier(decodeURIComponent(url.username));
      await client.query(`CREATE DATABASE ${name} OWNER ${owner}`);
      url.pathname = `/${name}`;
      return url.toString();
    },
    async stop() {
      await client.end();
      await stop();
    },
  };
}

/** A process that reports its processor time. */
export interface Metered {
  /** Milliseconds since its start, including garbage collection. */
  processorTime(): Promise<number>;
}

export interface Service extends Metered {
  url: string;
  process: ChildProcess;
  call<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** The text of the response. `body` is sent unchanged. */
  send(method: string, path: string, body?: string): Promise<string>;
  headers: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Starts the built service as a process.
 * @param preload a module that is loaded before it and communicates over IPC, instead of the one for processor time
 * @param more settings by name
 */
export async function startService(
  databaseUrl: string,
  preload = PROCESSOR_TIME,
  more: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const settings = {
    DATABASE_URL: databaseUrl,
    PORT: '0',
    ADMIN_TOKEN: TOKEN,
    ADMIN_PASSWORD: TOKEN,
    LOG_LEVEL: 'error',
    ...more,
  };
  const command = [...(isFirst ? FIRST : []), process.execPath, '--import', preload.href, SERVICE];
  const child = spawn(command[0] as string, command.slice(1), {
    env: { ...process.env, MAX_BODY: '256mb', STATEMENT_TIMEOUT: '60min', LOCK_TIMEOUT: '60s', ...settings },
    detached: isFirst,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const url = await addressOf(child, /listens on (\S+)/);
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const send = async (method: string, path: string, body?: string) => {
    const response = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return text;
  };
  return {
    url,
    process: child,
    processorTime: () => processorTimeOf(child),
    headers,
    send,
    async call<T>(method: string, path: string, body?: unknown): Promise<T> {
      const text = await send(method, path, body === undefined ? undefined : JSON.stringify(body));
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
    stop: () => end(child),
  };
}

export interface BareExpress extends Metered {
  url: string;
  stop(): Promise<void>;
}

/** An Express server that only sends `body`, or reads and parses the request. */
export async function startBareExpress(body: string): Promise<BareExpress> {
  const child = spawn(process.execPath, ['--import', PROCESSOR_TIME.href, '--import', 'tsx', BARE], {
    stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
  });
  child.stdin?.end(body);
  const url = await addressOf(child, /listens on (\S+)/);
  return { url, processorTime: () => processorTimeOf(child), stop: () => end(child) };
}

async function processorTimeOf(child: ChildProcess): Promise<number> {
  const answered = once(child, 'message');
  child.send('processor time');
  const [spent] = (await answered) as [number];
  return spent;
}

async function addressOf(child: ChildProcess, pattern: RegExp): Promise<string> {
  let output = '';
  child.stdout?.setEncoding('utf8');
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const url = pattern.exec(output)?.[1];
    if (url === undefined) continue;
    return url;
  }
  throw new Error(`the process ended before it listened: ${output}`);
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, 'exit');
  child.kill('SIGTERM');
  await closed;
}
