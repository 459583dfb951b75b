/**
 * Runs the server under a shell that outlives neither it nor us: when this process ends, however it ends, the pipe to
 * the shell closes and the shell stops the server. A `kill -9` of the service therefore leaves no server behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Account } from './system-user.js';
import { program } from './binaries.js';

/**
 * `read` returns when the pipe closes. SIGINT is PostgreSQL's fast shutdown: transactions are rolled back, files are
 * left clean. The server gets no stdin of its own, so nothing else holds the pipe.
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
  /** The process that an outdated postmaster.pid names, surely not a server on these files. */
  stalePid: number | null;
  settings: Readonly<Record<string, string | number>>;
}

export interface ServerProcess {
  /** Resolves when the server has ended, with what it wrote on stderr. */
  ended: Promise<string>;
  running(): boolean;
  /** Lets go of the server: it stops by itself, fast and clean. */
  release(): void;
}

/** Comes back at once, before the server takes connections. A start that fails shows in `ended`. */
export function spawnServer(command: ServerCommand): ServerProcess {
  const settings = Object.entries(command.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = [program(command.programs, 'postgres'), '-D', command.home, '-p', String(command.port), ...settings];
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', ...server], {
    ...command.account,
    cwd: '/',
    // A session of its own: Ctrl-C in the terminal reaches the service only, which then stops the server in its turn.
    detached: true,
    // The service's own environment holds secrets that the server has no use for.
    env: environment(command.stalePid),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return watch(child);
}

/**
 * PostgreSQL refuses to start when postmaster.pid names a living process of the same user, which after a crash may be a
 * stranger. The process named here is exempt from that check and from no other.
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
  // The pipe breaks when the server has ended before us.
  child.stdin?.on('error', () => undefined);
  return {
    ended,
    running: () => running,
    release: () => child.stdin?.end(),
  };
}
