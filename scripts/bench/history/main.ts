/**
 * `npm run bench -- history`: compares folds, starts and time travel on long logs with COPY of the same rows. Settings:
 * BENCH_EVENTS (20000), log lengths separated by commas; BENCH_TRAVELS (200), random positions; BENCH_WIDE (0),
 * collections of 20 fields whose memory is measured; BENCH_DATABASE_URL, your own server.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readDatabase } from '../../../src/postgres/server.js';
import { migrate } from '../../../src/postgres/migrate.js';
import { createPool } from '../../../src/postgres/pool.js';
import { type GeneratedLog, generatedHistory, writeEvents } from '../logs.js';
import { percentile } from '../measure.js';
import { printTable } from '../runner.js';
import { startServer } from '../servers.js';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const run = promisify(execFile);

const sizes = (process.env['BENCH_EVENTS'] ?? '20000').split(',').map(Number);
const wide = Number(process.env['BENCH_WIDE'] ?? 0);
const server = await startServer();
const rows: string[][] = [];

try {
  for (const events of sizes) await measureLog(events);
  if (wide > 0) await measureMemory(wide);
  printTable(`PostgreSQL ${server.version}, Node.js ${process.version}`, ['log', 'work', 'measured', 'limit'], rows);
} finally {
  await server.stop();
}

async function measureLog(events: number): Promise<void> {
  const url = await makeLog({ events, collections: Math.max(10, Math.round(events / 1000)), fields: 8 });
  const name = `${events.toLocaleString('en')} events`;
  const note = (work: string, measured: string, limit = ''): void => {
    rows.push([name, work, measured, limit]);
    process.stderr.write(`${name}: ${work}: ${measured} ${limit}\n`);
  };
  const copy = await best(url, 'copy');
  const copyAll = await best(url, 'copyAll');
  const fold = await best(url, 'fold');
  const perSecond = (milliseconds: number): string =>
    `${Math.round((events / milliseconds) * 1000).toLocaleString('en')} events/s`;
  note('fold, cold', perSecond(fold), `${(fold / copy).toFixed(2)} × COPY of the same rows`);
  note('start without stored folds', seconds(fold));
  await child<number>(url, 'store');
  note('start with stored folds', seconds(await best(url, 'start')));
  for (const [measurement, work] of Object.entries({
    travel: 'time travel',
    collection: 'one collection at a position',
  })) {
    const times = await child<number[]>(url, measurement);
    note(`${work}, p50, p99`, `${percentile(times, 0.5).toFixed(0)} ms, ${percentile(times, 0.99).toFixed(0)} ms`);
  }
  const batches = await child<{ first: number; again: number }>(url, 'batches');
  note(
    'a page of 100 batches of 5,000 events, first, again',
    `${batches.first.toFixed(0)}, ${batches.again.toFixed(0)} ms`,
  );
  const verify = await best(url, 'verify');
  note('verify the chain', perSecond(verify), `${(verify / copyAll).toFixed(2)} × COPY of the table`);
}

async function measureMemory(collections: number): Promise<void> {
  const url = await makeLog({ events: collections, collections, fields: 20 });
  const { heap } = await child<{ heap: number }>(url, 'memory');
  const name = `${collections.toLocaleString('en')} × 20 fields`;
  rows.push([name, 'memory of the state', `${Math.round(heap / 2 ** 20)} MiB`, '']);
  await child<number>(url, 'store');
  rows.push([name, 'start without stored folds', seconds(await best(url, 'fold')), '']);
  rows.push([name, 'start with stored folds', seconds(await best(url, 'start')), '']);
}

async function makeLog(log: GeneratedLog): Promise<string> {
  const url = await server.createDatabase();
  const pool = createPool({
    connectionString: url,
    schema: 'public',
    serviceSchema: 'service',
    max: 2,
    logger: silent,
  });
  await migrate({
    pool,
    schema: 'public',
    serviceSchema: 'service',
    database: await readDatabase(pool),
    logger: silent,
  });
  const client = await pool.connect();
  await writeEvents(client, generatedHistory(log));
  await client.query('VACUUM service.service_events');
  client.release();
  await pool.end();
  return url;
}

/** The best of three, because other processes can only add time. */
async function best(url: string, measurement: string): Promise<number> {
  const times = [];
  for (let count = 0; count < 3; count += 1) times.push(await child<number>(url, measurement));
  return Math.min(...times);
}

async function child<T>(url: string, measurement: string): Promise<T> {
  const args = ['--expose-gc', '--import', 'tsx', CHILD, measurement, url];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as T;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(2)} s`;
}
