/**
 * `npm run bench -- standbys`: what standbys add, in one run on one machine. Requests per second of one process on a primary,
 * then with one and with two processes on standbys beside it; and how long a client that has written on the primary waits
 * until a standby shows it (`X-Log-Position-At-Least`).
 *
 * All servers, processes and clients share the cores of this machine: only where there are more than all of them take at
 * once can the sum grow with the standbys. BENCH_SECONDS: of each measurement (5); BENCH_WRITES: how many are waited for (300).
 */
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { readRelease } from '../../src/release.js';
import { startCluster } from '../../test/support/standby.js';
import { milliseconds, percentile, throughput } from './measure.js';
import { NO_BUDGET, type Row, printTable, show } from './report.js';
import { snapshotOf } from './schemas.js';
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
  await primary.call(
    'POST',
    '/schema/apply',
    await primary.call('POST', '/schema/diff', snapshotOf(COLLECTIONS, release)),
  );
  for (let count = 1; count <= 2; count += 1) {
    const standby = await cluster.addStandby();
    services.push(await startService(standby.connectionString));
  }
  const rows: Row[] = [];
  for (const [work, path] of Object.entries(PATHS)) rows.push(...(await together(work, path)));
  rows.push(...(await ownWrites(primary, services[1] as Service)));
  const [version] = await cluster.primary.sql('show server_version');
  const cores = `${availableParallelism()} cores for everything`;
  printTable(
    `PostgreSQL ${String(version?.['server_version'])}, Node.js ${process.version}, release ${release}, ${cores}`,
    rows,
  );
} finally {
  for (const service of services) await service.stop();
  await cluster.stop();
}

/** The sum of all processes, each asked by 16 connections at the same time. */
async function sum(path: string, asked: readonly Service[]): Promise<number> {
  const measured = await Promise.all(asked.map(({ url, headers }) => throughput(url + path, headers, SECONDS)));
  return measured.reduce((total, { perSecond }) => total + perSecond, 0);
}

async function together(work: string, path: string): Promise<Row[]> {
  for (const { url, headers } of services) await throughput(url + path, headers, 1);
  const alone = await sum(path, services.slice(0, 1));
  const rows: Row[] = [];
  for (const count of [1, 2]) {
    const all = await sum(path, services.slice(0, 1 + count));
    rows.push({
      work: `${work}, a primary and ${count === 1 ? 'one standby' : 'two standbys'}`,
      measured: show(all, 'req/s'),
      limit: `${show(alone, 'req/s')} the primary alone`,
      ratio: all / alone,
      budget: NO_BUDGET,
    });
  }
  return rows;
}

/** Against the same read of the primary: what is left is what replication and waiting take. */
async function ownWrites(primary: Service, standby: Service): Promise<Row[]> {
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
    // A stream of writes without a pause would be waited for in one.
    await sleep(5);
  }
  return [0.5, 0.99].map((share) => ({
    work: `own write on a standby, p${share * 100} of ${WRITES}`,
    measured: show(percentile(waited, share), 'ms'),
    limit: `${show(percentile(there, share), 'ms')} on the primary`,
    ratio: percentile(waited, share) / percentile(there, share),
    budget: NO_BUDGET,
  }));
}

async function read({ url, headers }: Service, collection: string, position: string): Promise<void> {
  const answer = await fetch(`${url}/collections/${collection}`, {
    headers: { ...headers, 'x-log-position-at-least': position },
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${answer.status} for ${collection} at ${position}`);
}
