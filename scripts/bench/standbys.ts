/**
 * `npm run bench -- standbys`: requests per second of one process on a primary, then with one and with two processes on
 * standbys of it; and how long a client that has written on the primary waits until a standby shows the write
 * (`X-Log-Position-At-Least`).
 *
 * All servers, processes and clients share the machine, so the sum grows with the standbys only if it has more cores
 * than they use. BENCH_SECONDS: the length of each measurement (5); BENCH_WRITES: the number of measured writes (300).
 */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRelease } from '../../src/release.js';
import { startCluster } from '../../test/support/standby.js';
import { milliseconds, percentile, throughput } from './measure.js';
import { printTable } from './runner.js';
import { applySnapshot, snapshotOf } from './schemas.js';
import { type Service, startService } from './servers.js';

const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const WRITES = Number(process.env['BENCH_WRITES'] ?? 300);
const COLLECTIONS = 100;

const PATHS = { list: '/collections', retrieve: '/collections/collection_00001' };

const release = readRelease();
const cluster = await startCluster({ durable: true });
const services: Service[] = [];
try {
  const primary = await startService(cluster.primary.connectionString);
  services.push(primary);
  await applySnapshot(primary, snapshotOf(COLLECTIONS, release));
  for (let count = 1; count <= 2; count += 1) {
    const standby = await cluster.addStandby();
    services.push(await startService(standby.connectionString));
  }
  const lines: string[][] = [];
  for (const [work, path] of Object.entries(PATHS)) lines.push(...(await measureTogether(work, path)));
  lines.push(...(await ownWrites(primary, services[1] as Service)));
  const [version] = await cluster.primary.sql('show server_version');
  const machine = `PostgreSQL ${String(version?.['server_version'])}, Node.js ${process.version}`;
  const title = `${machine}, release ${release}, ${availableParallelism()} cores for everything`;
  printTable(title, ['work', 'measured', 'limit', 'ratio'], lines);
} finally {
  for (const service of services) await service.stop();
  await cluster.stop();
}

/** The sum of all processes, each with 16 connections at the same time. */
async function sum(path: string, services: readonly Service[]): Promise<number> {
  const measured = await Promise.all(services.map(({ url, headers }) => throughput(url + path, headers, SECONDS)));
  return measured.reduce((total, { perSecond }) => total + perSecond, 0);
}

async function measureTogether(work: string, path: string): Promise<string[][]> {
  for (const { url, headers } of services) await throughput(url + path, headers, 1);
  const primaryRate = await sum(path, services.slice(0, 1));
  const lines: string[][] = [];
  for (const count of [1, 2]) {
    const all = await sum(path, services.slice(0, 1 + count));
    const standbyLabel = count === 1 ? 'one standby' : 'two standbys';
    const limit = `${primaryRate.toFixed(0)} req/s the primary alone`;
    lines.push([
      `${work}, a primary and ${standbyLabel}`,
      `${all.toFixed(0)} req/s`,
      limit,
      (all / primaryRate).toFixed(2),
    ]);
  }
  return lines;
}

/** Compared with the same read on the primary. The difference is replication and waiting. */
async function ownWrites(primary: Service, standby: Service): Promise<string[][]> {
  const waited: number[] = [];
  const there: number[] = [];
  for (let count = 0; count < WRITES; count += 1) {
    const collection = `written_${count}`;
    const answer = await fetch(`${primary.url}/collections`, {
      method: 'POST',
      headers: primary.headers,
      body: JSON.stringify({ collection, schema: {} }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    const position = answer.headers.get('x-log-position') ?? '';
    await answer.arrayBuffer();
    waited.push(await milliseconds(() => read(standby, collection, position)));
    there.push(await milliseconds(() => read(primary, collection, position)));
    // Without a pause, replication would group the writes.
    await sleep(5);
  }
  return [0.5, 0.99].map((share) => {
    const [ours, limit] = [percentile(waited, share), percentile(there, share)];
    const work = `own write on a standby, p${share * 100} of ${WRITES}`;
    return [work, `${ours.toFixed(1)} ms`, `${limit.toFixed(1)} ms on the primary`, (ours / limit).toFixed(2)];
  });
}

async function read({ url, headers }: Service, collection: string, position: string): Promise<void> {
  const answer = await fetch(`${url}/collections/${collection}`, {
    headers: { ...headers, 'x-log-position-at-least': position },
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${answer.status} for ${collection} at ${position}`);
}
