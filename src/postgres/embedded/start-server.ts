/** Starts and stops the server. */
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../kernel/operator-error.js';
import { readPostmaster, runningPostmaster } from './postmaster.js';
import { type ServerCommand, type ServerProcess, spawnServer } from './supervise.js';

const START_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 60_000;
const POLL_MS = 15;
const ATTEMPTS = 10;
const RETRY_MS = 500;

/** Another process took the port after it was free, or processes of a killed server are still ending. */
const PASSING_OBSTACLES = /could not bind|pre-existing shared memory block/;

export interface Server {
  port: number;
  /** Resolves when the server has ended, by itself or by `stop`. */
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
    if (await becameReady(server, command.home, port)) return asServer(server, port);
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

async function becameReady(server: ServerProcess, home: string, port: number): Promise<boolean> {
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
        `The PostgreSQL server that an earlier run left in ${home} (process ${orphan.pid}) doesn't stop: end it and start again.`,
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
    // It has ended meanwhile.
  }
}

/** Returns the line of the server's output that contains the reason. */
function reason(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const fatal = lines.findLast((line) => line.includes('FATAL:')) ?? lines.at(-1) ?? 'it did not become ready in time';
  return fatal.replace(/^.*FATAL:\s*/, '').replace(/\.$/, '');
}
