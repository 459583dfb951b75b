/**
 * Runs the server under a shell that stops it when this process ends. The pipe to the shell then closes, even after
 * `kill -9`, so no server is left behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Account } from './system-user.js';
import { program } from './binaries.js';

/**
 * `read` returns when the pipe closes. SIGINT is PostgreSQL's fast shutdown: transactions are rolled back and files are
 * clean. The server has no stdin of its own, so only this process holds the pipe.
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
  /** The process in an outdated postmaster.pid, which is known not to be a server on these files. */
  stalePid: number | null;
  settings: Readonly<Record<string, string | number>>;
}

export interface ServerProcess {
  /** Resolves with the stderr output when the server has ended. */
  ended: Promise<string>;
  running(): boolean;
  /** Closes the pipe, which shuts the server down cleanly. */
  release(): void;
}

/** Returns at once, before the server accepts connections. A failed start resolves `ended`. */
export function spawnServer(command: ServerCommand): ServerProcess {
  const settings = Object.entries(command.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = [program(command.programs, 'postgres'), '-D', command.home, '-p', String(command.port), ...settings];
  const child = spawn('/bin/sh', ['-c', SUPERVISOR, 'sh', ...server], {
    ...command.account,
    cwd: '/',
    // A separate session: Ctrl-C in the terminal reaches only the service, which then stops the server.
    detached: true,
    // The environment of the service contains secrets that the server does not need.
    env: environment(command.stalePid),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  return watch(child);
}

/**
 * PostgreSQL does not start if postmaster.pid names a live process of the same user. After a crash that may be an
 * unrelated process. The process named here is exempt from that check only.
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
