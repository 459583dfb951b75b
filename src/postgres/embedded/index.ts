/**
 * Runs the embedded PostgreSQL. It keeps everything in one data directory, serves one service at a time, and leaves no
 * process behind.
 */
import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  lstat,
  mkdir,
  readFile,
  realpath,
  rename,
  stat,
  writeFile,
  mkdtemp,
  readdir,
  rm,
  symlink,
} from 'node:fs/promises';
import { type Server, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorError } from '../../kernel/problem.js';
import {
  type Account,
  serverAccount,
  findBinaries,
  findExistingHome,
  ensureReachableHome,
  ensureReachablePrograms,
  initialise,
  ensureServiceAccount,
  THROWAWAY_SETTINGS,
  serverSettings,
} from './cluster.js';
import { startServer, stopOrphan } from './start-server.js';

/** Another process uses the data directory. */
export class DataDirInUseError extends OperatorError {}

interface EmbeddedOptions {
  dataDir: string;
  /** Maximum number of connections. */
  connections: number;
  /** True to skip flushing writes to disk, for tests. */
  throwaway?: boolean;
}

interface EmbeddedPostgres {
  /** The address for the role of the service, which is not a superuser and owns the database. */
  connectionString: string;
  /** The address for the superuser, in the same database. The service itself does not use it. */
  superuserConnectionString: string;
  /** The folder of the server's files, usually in the data directory. */
  home: string;
  /** True if a server left behind by a crashed service was stopped first. */
  orphanStopped: boolean;
  /** Resolves with the last output of the server when it has ended, whether `stop` ended it or not. */
  ended: Promise<string>;
  stop(): Promise<void>;
}

/** @throws OperatorError with one sentence that names the problem and the fix */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const dataDir = await prepareDataDir(options.dataDir);
  const lock = await lockDataDir(dataDir);
  try {
    return await startLocked(dataDir, options, lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function startLocked(dataDir: string, options: EmbeddedOptions, lock: DataLock): Promise<EmbeddedPostgres> {
  const link = join(dataDir, 'postgres');
  const existing = await findExistingHome(link);
  const account = await serverAccount(existing ?? link);
  const binaries = await findBinaries();
  const programs = await ensureReachablePrograms(binaries, account);
  const password = await readPassword(join(dataDir, 'password'), existing !== null);
  const home = existing ?? (await create(link, { programs, account, password, durable: options.throwaway !== true }));
  await checkRelease(home, binaries.version);
  const orphanStopped = await stopOrphan(home);
  const settings = { ...serverSettings(options.connections), ...(options.throwaway ? THROWAWAY_SETTINGS : {}) };
  const server = await startServer({ programs, account, home, settings });
  const passwords = { superuser: password, service: await readPassword(join(dataDir, 'service-password'), false) };
  const addresses = await ensureServiceAccount(server.port, passwords).catch(async (error: unknown) => {
    await server.stop();
    throw error;
  });
  await writeSecret(join(dataDir, 'connection'), addresses.service);
  return {
    connectionString: addresses.service,
    superuserConnectionString: addresses.superuser,
    home,
    orphanStopped,
    ended: server.ended,
    async stop() {
      await server.stop();
      await lock.release();
    },
  };
}

async function create(
  link: string,
  cluster: { programs: string; account: Account | null; password: string; durable: boolean },
): Promise<string> {
  const home = await ensureReachableHome(link, cluster.account);
  await initialise({ ...cluster, home, link });
  return home;
}

/** Returns the recorded connection of the server that runs on `dataDir`, or null. */
export async function recordedConnection(dataDir: string): Promise<string | null> {
  return readFile(join(resolve(dataDir), 'connection'), 'utf8').catch(() => null);
}

/** True if `dataDir` contains the files of a server. */
export async function containsServer(dataDir: string): Promise<boolean> {
  return (await lstat(join(resolve(dataDir), 'postgres')).catch(() => null)) !== null;
}

/**
 * Creates the data directory if it is missing. If root owns the directory, it must be traversable, because the user of
 * the server needs the files in it.
 */
async function prepareDataDir(path: string): Promise<string> {
  const dataDir = resolve(path);
  try {
    await makeDirectory(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(dataDir);
  } catch (cause) {
    throw new OperatorError(
      `This user cannot use DATA_DIR ${dataDir} (${(cause as Error).message}). Set a directory that the user can write to.`,
      { cause },
    );
  }
}

/**
 * Creates a directory and its parents. The `recursive` option of Node.js loops forever if the system reports an
 * existing parent as missing (/proc).
 */
async function makeDirectory(path: string, mode: number): Promise<void> {
  if ((await stat(path).catch(() => null))?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) await makeDirectory(parent, mode);
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    // Another service may be starting with the same directory.
    if (error.code !== 'EEXIST') throw error;
  });
}

async function lockDataDir(dataDir: string): Promise<DataLock> {
  const lock = await takeLock(dataDir);
  if (isLock(lock)) return lock;
  throw new DataDirInUseError(
    `Another service uses the data directory ${dataDir} (process ${lock.pid}). Stop it, or set another DATA_DIR.`,
  );
}

/**
 * Reads or creates a random server password. @param needed the file must exist, because the superuser's password was
 * created with the server files
 */
async function readPassword(file: string, needed: boolean): Promise<string> {
  const stored = await readFile(file, 'utf8').catch(() => null);
  if (stored !== null) return stored.trim();
  if (needed) {
    throw new OperatorError(
      `${file}, which contains the password of the embedded PostgreSQL, is missing. Restore it, or move the data directory away to start with an empty database.`,
    );
  }
  const password = randomBytes(24).toString('hex');
  await writeSecret(file, password);
  return password;
}

async function writeSecret(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
}

async function checkRelease(home: string, programs: string): Promise<void> {
  await checkOwner(home);
  const files = (await readFile(join(home, 'PG_VERSION'), 'utf8')).trim();
  const release = programs.split('.')[0];
  if (files === release) return;
  throw new OperatorError(
    `PostgreSQL ${files} wrote the data in ${home}, but this release includes PostgreSQL ${release}. ` +
      'Use the earlier release to dump the database, and load the dump into a new DATA_DIR.',
  );
}

async function checkOwner(home: string): Promise<void> {
  const user = process.getuid?.() ?? 0;
  const { uid } = await stat(home);
  if (user === 0 || uid === user) return;
  throw new OperatorError(
    `The data in ${home} belongs to user ${uid}, but this process runs as user ${user}. Start the service as user ${uid} or as root.`,
  );
}

/*
 * Limits a data directory to one service. The lock is a listening socket, which the system releases however its holder
 * ends. A process first listens under a unique name and then checks the other sockets. A socket that answers belongs to
 * a live process. One that refuses connections was left by a dead process.
 */

export interface DataLock {
  release(): Promise<void>;
}

/** The process that holds the lock. */
interface LockHolder {
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
