/** Starts and stops the server. */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { execFile, type ChildProcess, spawn } from 'node:child_process';
import { readFile, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OperatorError } from '../../kernel/problem.js';
import { type Account, program } from './cluster.js';

/*
 * Runs the server under a shell that stops it when this process ends. The pipe to the shell then closes, even after
 * `kill -9`, so no server is left behind.
 */

/**
 * The shell script that supervises the server. `read` returns when the pipe closes. SIGINT requests PostgreSQL's fast
 * shutdown: transactions are rolled back and files are clean. The server has no stdin of its own, so only this process
 * holds the pipe.
 */
const SUPERVISOR = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
( read -r _ <&3; kill -INT "$server" 2>/dev/null ) &
watcher=$!
exec 3<&-
wait "$server"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

export interface ServerCommand {
  programs: string;
  account: Account | null;
  home: string;
  port: number;
  /** The process id in an outdated postmaster.pid. That process is known not to use these files. */
  stalePid: number | null;
  settings: Readonly<Record<string, string | number>>;
}

interface ServerProcess {
  /** Resolves with the stderr output when the server has ended. */
  ended: Promise<string>;
  running(): boolean;
  /** Closes the pipe to the shell, which then shuts the server down cleanly. */
  release(): void;
}

/** Returns immediately, before the server accepts connections. A failed start resolves `ended`. */
export function spawnServer(command: ServerCommand): ServerProcess {
  const settings = Object.entries(command.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = [program(command.programs, 'postgres'), '-D', command.home, '-p', String(command.port), ...settings];
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', ...server], {
    ...command.account,
    cwd: '/',
    // Starts a separate session. Ctrl-C in the terminal then reaches only the service, which stops the server.
    detached: true,
    // Passes a minimal environment, because that of the service contains secrets that the server does not need.
    env: environment(command.stalePid),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return watch(child);
}

/**
 * Returns the environment of the server. PostgreSQL does not start if postmaster.pid names a live process of the same
 * user. After a crash that may be an unrelated process. PG_GRANDPARENT_PID exempts only the process `stalePid` from
 * that check.
 */
function environment(stalePid: number | null): NodeJS.ProcessEnv {
  const base = { PATH: process.env['PATH'], LC_ALL: 'C' };
  return stalePid === null ? base : { ...base, PG_GRANDPARENT_PID: String(stalePid) };
}

function watch(child: ChildProcess): ServerProcess {
  let running = true;
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-10_000);
  });
  const ended = new Promise<string>((resolve) => {
    const end = () => {
      running = false;
      resolve(text);
    };
    child.once('error', (error) => {
      text += error.message;
      end();
    });
    child.once('close', end);
  });
  // The pipe breaks if the server ends first.
  child.stdin?.on('error', () => undefined);
  return {
    ended,
    running: () => running,
    release: () => child.stdin?.end(),
  };
}

/* Reads `postmaster.pid`, the server's own record of its process and port. */

const run = promisify(execFile);

interface Postmaster {
  pid: number;
  port: number;
  /** True if the server accepts connections. */
  ready: boolean;
}

/**
 * Reads postmaster.pid. Its lines are pid, data directory, start time, port, socket directory, listen address, shared
 * memory and status.
 */
export async function readPostmaster(home: string): Promise<Postmaster | null> {
  const text = await readFile(join(home, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Math.abs(Number.parseInt(lines[0] ?? '', 10));
  if (!Number.isInteger(pid) || pid < 2) return null;
  return { pid, port: Number.parseInt(lines[3] ?? '0', 10), ready: lines[7] === 'ready' };
}

/**
 * Returns the server that runs on these files, or null. After a crash the file may name a dead process or an unrelated
 * one.
 */
export async function runningPostmaster(home: string): Promise<Postmaster | null> {
  const noted = await readPostmaster(home);
  return noted && (await servesFrom(noted.pid, home)) ? noted : null;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * True if the process is the server of this data directory. On Linux, the working directory of a postmaster is its data
 * directory. On other systems, its command line contains the directory.
 */
async function servesFrom(pid: number, home: string): Promise<boolean> {
  if (!isAlive(pid)) return false;
  if (process.platform === 'linux') {
    const directory = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    if (directory !== null) return directory === (await realpath(home));
  }
  const { stdout } = await run('ps', ['-o', 'command=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return stdout.includes('postgres') && stdout.includes(home);
}

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 60_000;
const POLL_MS = 15;
const ATTEMPTS = 10;
const RETRY_MS = 500;

/**
 * Start errors that may pass: another process took the port after it was found free, or processes of a killed server
 * are still ending.
 */
const PASSING_OBSTACLES = /could not bind|pre-existing shared memory block/;

export interface Server {
  port: number;
  /** Resolves when the server has ended, whether `stop` ended it or not. */
  ended: Promise<string>;
  /** Performs a fast shutdown and resolves when the server has ended. */
  stop(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1 and waits until it accepts connections. */
export async function startServer(command: Omit<ServerCommand, 'port' | 'stalePid'>): Promise<Server> {
  let text = '';
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = await freePort();
    const stalePid = (await readPostmaster(command.home))?.pid ?? null;
    const server = spawnServer({ ...command, port, stalePid });
    if (await waitUntilReady(server, command.home, port)) return asServer(server, port);
    server.release();
    text = await server.ended;
    if (!PASSING_OBSTACLES.test(text)) break;
    await sleep(RETRY_MS);
  }
  throw new OperatorError(`The embedded PostgreSQL in ${command.home} did not start: ${reason(text)}.`);
}

function asServer(server: ServerProcess, port: number): Server {
  return {
    port,
    ended: server.ended,
    async stop() {
      server.release();
      await server.ended;
    },
  };
}

async function waitUntilReady(server: ServerProcess, home: string, port: number): Promise<boolean> {
  const limit = Date.now() + START_LIMIT_MS;
  while (server.running() && Date.now() < limit) {
    const noted = await readPostmaster(home);
    if (noted?.ready === true && noted.port === port) return true;
    await sleep(POLL_MS);
  }
  return false;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/**
 * Stops a server that a crashed service left behind. Usually its supervisor is already stopping it, and this only
 * waits. The caller holds the lock of the data directory, so no live service uses the server.
 */
export async function stopOrphan(home: string): Promise<boolean> {
  const orphan = await runningPostmaster(home);
  if (!orphan) return false;
  const limit = Date.now() + STOP_LIMIT_MS;
  signal(orphan.pid, 'SIGINT');
  while (await runningPostmaster(home)) {
    if (Date.now() > limit) {
      throw new OperatorError(
        `The PostgreSQL server that an earlier run left in ${home} (process ${orphan.pid}) does not stop. End the process and start again.`,
      );
    }
    await sleep(POLL_MS);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The server has ended in the meantime, so there is nothing to stop.
  }
}

/** Returns the line of the server's output that contains the reason. */
function reason(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const fatal = lines.findLast((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? 'it did not become ready in time';
  return fatal.replace(/^.*FATAL:\s*/, '').replace(/\.$/, '');
}
