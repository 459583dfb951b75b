/**
 * `npm run bench -- crowd`: measures how long one ordinary reader waits during a crowd of requests, and the memory of the service.
 * The crowd has 400 readers (each reads its own pages of /fields), 300 authors (270 snapshots as YAML or XML, 30 large
 * diffs), 100 slow bodies (a declared length of 32 MiB, one byte per second) and 100 slow readers (each reads its own
 * snapshot at 1 KB per second). Settings: BENCH_SECONDS (20) under load, BENCH_ACCOUNTS (800) that share the requests,
 * BENCH_COLLECTIONS (900). The run ends early if the service uses more than BENCH_MEMORY (8192) MiB. BENCH_FIRST and
 * BENCH_DATABASE_URL work as for `npm run bench -- loop`.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { readRelease } from '../../../src/release.js';
import { makeSo } from '../event-loop/requests.js';
import { percentile } from '../measure.js';
import { snapshotOf } from '../schemas.js';
import { type Service, startServer, startService } from '../servers.js';

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

const SECONDS = number('BENCH_SECONDS', 20);
const ACCOUNTS = number('BENCH_ACCOUNTS', 800);
const COLLECTIONS = number('BENCH_COLLECTIONS', 900);
const MOST_MEMORY = number('BENCH_MEMORY', 8_192);

const READERS = 400;
const AUTHORS = 300;
const DIFFS = 30;
const SLOW_BODIES = 100;
const DECLARED_BYTES = 32 * 1024 ** 2;
const SLOW_READERS = 100;
const READ_BYTES_PER_SECOND = 1_000;

/** Milliseconds between two requests of the ordinary reader. */
const EVERY = 100;

const GOAL = { milliseconds: 100, factor: 2, further: 512 } as const;

interface Answer {
  status: number;
  milliseconds: number;
}

const release = readRelease();
const server = await startServer();
try {
  const service = await startService(await server.createDatabase(), undefined, {
    MAX_BODY: '32mb',
    LOCK_TIMEOUT: '10s',
  });
  try {
    await measure(service);
  } finally {
    await service.stop();
  }
} finally {
  await server.stop();
}

async function measure(service: Service): Promise<void> {
  await makeSo(service, snapshotOf(COLLECTIONS, release));
  const ordinary = await tokenOf(service, 'reader', 'ordinary');
  const readers = await tokensOf(service, 'reader', Math.max(1, Math.floor(ACCOUNTS / 2)));
  const authors = await tokensOf(service, 'author', Math.max(1, Math.ceil(ACCOUNTS / 2)));
  const idle = memoryOf(service);
  const quiet = await waits(service, ordinary, () => sleep(2_000));
  const crowd = createCrowd(service);
  let peak = 0;
  const loaded = await waits(service, ordinary, async () => {
    start(crowd, { readers, authors });
    for (let left = SECONDS * 10; left > 0; left -= 1) {
      await sleep(100);
      peak = Math.max(peak, memoryOf(service));
      if (peak > MOST_MEMORY) break;
    }
  });
  crowd.stop();
  await sleep(5_000);
  const after = memoryOf(service);
  print({ quiet, loaded, crowd, memory: { idle, peak, after } });
}

async function tokenOf(service: Service, role: string, name: string): Promise<string> {
  const { data: user } = await service.call<{ data: { id: string } }>('POST', '/users', {
    email: `${name}@example.com`,
    role,
  });
  const { data } = await service.call<{ data: { token: string } }>('POST', `/users/${user.id}/tokens`, {});
  return data.token;
}

async function tokensOf(service: Service, role: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) tokens.push(await tokenOf(service, role, `${role}-${index}`));
  return tokens;
}

/** Resident memory of the service's process in MiB, from the kernel (Linux). */
function memoryOf({ process: child }: Service): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

type Waits = Record<'collection' | 'page' | 'ping', Answer[]>;

async function waits({ url }: Service, token: string, meanwhile: () => Promise<void>): Promise<Waits> {
  const headers = { Authorization: `Bearer ${token}` };
  const worker = new Worker(new URL('./reader.mjs', import.meta.url), { workerData: { url, headers, every: EVERY } });
  await meanwhile();
  worker.postMessage('stop');
  const [answers] = (await once(worker, 'message')) as [Waits];
  return answers;
}

interface Crowd {
  send(token: string, call: { method: string; path: string; body?: string }): Promise<void>;
  sendSlowly(token: string): Promise<void>;
  /** Reads the response at `READ_BYTES_PER_SECOND`. */
  readSlowly(token: string, path: string): Promise<void>;
  stop(): void;
  stopped: boolean;
  statuses: Map<number, number>;
}

function createCrowd({ url }: Service): Crowd {
  const open = new Set<ClientRequest>();
  const statuses = new Map<number, number>();
  const opened = (
    token: string,
    method: string,
    path: string,
    { length, read = readAll }: { length?: number; read?: (response: IncomingMessage) => void } = {},
  ): [ClientRequest, Promise<number>] => {
    const headers = {
      Authorization: `Bearer ${token}`,
      ...(length !== undefined && { 'Content-Type': 'application/json', 'Content-Length': length }),
    };
    const sent = request(url + path, { method, headers, agent: false });
    open.add(sent);
    const answered = new Promise<number>((resolve) => {
      sent.on('response', (response) => {
        response.on('end', () => resolve(response.statusCode ?? 0)).on('error', () => resolve(0));
        read(response);
      });
      sent.on('error', () => resolve(0)).on('close', () => resolve(0));
    });
    return [sent, answered];
  };
  const noted = async (sent: ClientRequest, answered: Promise<number>): Promise<void> => {
    const status = await answered;
    open.delete(sent);
    sent.destroy();
    if (!crowd.stopped) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    // A rejected client waits before its next request.
    if (status >= 429 || status === 0) await sleep(1_000);
  };
  const crowd: Crowd = {
    stopped: false,
    statuses,
    async send(token, { method, path, body }) {
      const [sent, answered] = opened(
        token,
        method,
        path,
        body === undefined ? {} : { length: Buffer.byteLength(body) },
      );
      sent.end(body);
      await noted(sent, answered);
    },
    async sendSlowly(token) {
      const [sent, answered] = opened(token, 'POST', '/schema/diff', { length: DECLARED_BYTES });
      const timer = setInterval(() => sent.write(' '), 1_000);
      sent.write('{');
      await noted(sent, answered);
      clearInterval(timer);
    },
    async readSlowly(token, path) {
      const [sent, answered] = opened(token, 'GET', path, { read: readSlowly });
      sent.end();
      await noted(sent, answered);
    },
    stop() {
      crowd.stopped = true;
      for (const sent of open) sent.destroy();
    },
  };
  return crowd;
}

function readAll(response: IncomingMessage): void {
  response.resume();
}

function readSlowly(response: IncomingMessage): void {
  response.on('readable', () => undefined);
  const timer = setInterval(() => response.read(READ_BYTES_PER_SECOND) ?? response.read(), 1_000);
  response.on('close', () => clearInterval(timer));
}

function start(crowd: Crowd, { readers, authors }: { readers: string[]; authors: string[] }): void {
  const repeat = (work: (count: number) => Promise<void>): void => {
    const run = async (): Promise<void> => {
      for (let count = 0; !crowd.stopped; count += 1) await work(count);
    };
    void run();
  };
  const tokenAt = (tokens: string[], index: number): string => tokens[index % tokens.length] as string;
  for (let index = 0; index < READERS; index += 1) {
    const path = (count: number) => `/fields?limit=${5_000 + index}&offset=${index + count * READERS}`;
    repeat((count) => crowd.send(tokenAt(readers, index), { method: 'GET', path: path(count) }));
  }
  const snapshotWithout = (index: number): string =>
    `/schema/snapshot?excludeCollections=collection_${String(index % COLLECTIONS).padStart(5, '0')}`;
  for (let index = 0; index < AUTHORS - DIFFS; index += 1) {
    const format = index % 2 === 0 ? 'yaml' : 'xml';
    const path = (count: number) => `${snapshotWithout(index + count * AUTHORS)}&export=${format}`;
    repeat((count) => crowd.send(tokenAt(authors, index), { method: 'GET', path: path(count) }));
  }
  const large = JSON.stringify(snapshotOf(COLLECTIONS * 2, release)).replaceAll('"measured"', '"another"');
  for (let index = 0; index < DIFFS; index += 1) {
    const call = { method: 'POST', path: '/schema/diff?mode=merge', body: large };
    repeat(() => crowd.send(tokenAt(authors, AUTHORS - 1 - index), call));
  }
  for (let index = 0; index < SLOW_BODIES; index += 1) repeat(() => crowd.sendSlowly(tokenAt(authors, index)));
  for (let index = 0; index < SLOW_READERS; index += 1) {
    repeat((count) => crowd.readSlowly(tokenAt(readers, index), snapshotWithout(index + count * SLOW_READERS)));
  }
}

interface Measured {
  quiet: Waits;
  loaded: Waits;
  crowd: Crowd;
  memory: Record<'idle' | 'peak' | 'after', number>;
}

function print({ quiet, loaded, crowd, memory }: Measured): void {
  const shown = (answers: Answer[]): string => {
    const times = answers.map(({ milliseconds }) => milliseconds);
    const well = answers.filter(({ status }) => status === 200).length;
    return `${[0.5, 0.99, 1].map((p) => percentile(times, p).toFixed(0)).join(' | ')} | ${well} of ${answers.length}`;
  };
  const rows = (['collection', 'page', 'ping'] as const).flatMap((name) => [
    `| ${name}, alone | ${shown(quiet[name])} |`,
    `| ${name}, beside the crowd | ${shown(loaded[name])} |`,
  ]);
  const wait = percentile(
    loaded.collection.map(({ milliseconds }) => milliseconds),
    0.5,
  );
  const limit = GOAL.factor * memory.idle + GOAL.further;
  const statuses = [...crowd.statuses].map(([status, count]) => `${count} × ${status || 'no answer'}`).join(', ');
  process.stdout.write(
    [
      `\nPostgreSQL ${server.version}, Node.js ${process.version}, release ${release}, ${ACCOUNTS} accounts, ${SECONDS} s\n`,
      '| the ordinary reader waits, ms | median | 99 % | longest | answered 200 |',
      '|---|---|---|---|---|',
      ...rows,
      `\nThe crowd was answered: ${statuses}`,
      `Memory, MiB: ${memory.idle.toFixed(0)} idle, ${memory.peak.toFixed(0)} at most, ${memory.after.toFixed(0)} 5 s after the crowd has gone`,
      `Median ${wait.toFixed(0)} ms, limit ${GOAL.milliseconds} ms: ${wait <= GOAL.milliseconds ? 'kept' : '**missed**'}`,
      `Memory over idle ${(memory.peak - memory.idle).toFixed(0)} MiB, ${memory.peak.toFixed(0)} MiB in all, limit ${GOAL.factor} × idle + ${GOAL.further} = ${limit.toFixed(0)} MiB: ${memory.peak <= limit ? 'kept' : '**missed**'}\n`,
    ].join('\n'),
  );
}
