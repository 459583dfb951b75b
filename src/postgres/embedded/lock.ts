/**
 * Limits a data directory to one service. The lock is a listening socket, which the system releases however its holder
 * ends. A process first listens under a unique name and then checks the other sockets. A socket that answers belongs to
 * a live process. One that refuses connections was left by a dead process.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import { type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DataLock {
  release(): Promise<void>;
}

/** The process that holds the lock. */
export interface LockHolder {
  pid: number;
}

interface LockContender extends LockHolder {
  held: boolean;
}

const PATIENCE_MS = 10_000;
const POLL_MS = 20;
/** Maximum bytes of a socket path. macOS allows 103 bytes, Linux 107. */
const MAX_SOCKET_PATH = 100;

/** Takes the lock of `dataDir`, or returns its holder. */
export async function takeLock(dataDir: string): Promise<DataLock | LockHolder> {
  const folder = join(dataDir, 'lock');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const name = `${randomBytes(6).toString('hex')}.sock`;
  const own: LockContender = { pid: process.pid, held: false };
  return withShortPath(folder, name.length, async (short) => {
    const server = await listen(join(short, name), own);
    const lock = {
      async release() {
        await rm(join(folder, name), { force: true });
        await close(server);
      },
    };
    const holder = await contend(short, name);
    if (holder) {
      await lock.release();
      return holder;
    }
    own.held = true;
    return lock;
  });
}

/** True if the lock was taken. */
export function isLock(result: DataLock | LockHolder): result is DataLock {
  return 'release' in result;
}

/**
 * Decides between processes that contend for a free lock: the first by name wins. The others notice and give up. The
 * winner waits until they have, because one of them may have checked before the winner was visible.
 */
async function contend(folder: string, own: string): Promise<LockHolder | null> {
  const limit = Date.now() + PATIENCE_MS;
  for (;;) {
    const others = await listContenders(folder, own);
    const winner = others.find(({ name, held }) => held || name < own);
    if (winner) return winner;
    if (others.length === 0) return null;
    if (Date.now() > limit) return others[0] ?? null;
    await sleep(POLL_MS);
  }
}

async function listContenders(folder: string, own: string): Promise<(LockContender & { name: string })[]> {
  const files: (LockContender & { name: string })[] = [];
  for (const name of await readdir(folder)) {
    if (name === own || !name.endsWith('.sock')) continue;
    const other = await ask(join(folder, name));
    if (other) files.push({ ...other, name });
    else await rm(join(folder, name), { force: true });
  }
  return files;
}

/** Returns the answer of the process behind the socket, or null if there is none. */
function ask(path: string): Promise<LockContender | null> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(path);
    socket.setEncoding('utf8').setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(null);
      else reject(error);
    });
    // A process that accepts the connection but does not answer (stopped, overloaded) is alive and holds the lock.
    socket.once('close', () => resolve(parse(text) ?? { pid: 0, held: true }));
  });
}

function parse(text: string): LockContender | null {
  try {
    return JSON.parse(text) as LockContender;
  } catch {
    return null;
  }
}

/**
 * Listens on a socket that gets its final name only when it accepts connections. Before that, others would consider it
 * dead.
 */
async function listen(path: string, own: LockContender): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify(own));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(`${path}.new`, resolve);
  });
  await rename(`${path}.new`, path);
  return server.unref();
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Calls `use` with a path to `folder` that is short enough for a socket address, through a symbolic link if necessary.
 */
async function withShortPath<T>(folder: string, nameLength: number, use: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(folder) + 1 + nameLength + '.new'.length <= MAX_SOCKET_PATH) return use(folder);
  const temporary = await mkdtemp(join(tmpdir(), 'dps-'));
  const link = join(temporary, 'l');
  await symlink(folder, link);
  try {
    return await use(link);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
