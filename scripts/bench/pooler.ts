/**
 * `npm run bench -- pooler`: what PgBouncer in transaction mode costs, in one run: the same work by two processes on one
 * server, one through it and one past it, taken in turns. The last row is the same process past it twice: what a ratio
 * says by chance. BENCH_RUNS: changes of each kind (100); BENCH_SECONDS: of each measurement of reads (5).
 */
import { readRelease } from '../../src/release.js';
import { INSTALL_PGBOUNCER, pgbouncerProgram, startPgbouncer } from '../../test/support/pgbouncer.js';
import { median, milliseconds, throughput } from './measure.js';
import { NO_BUDGET, type Row, printTable, show } from './report.js';
import { createBody, emptySnapshot, snapshotOf } from './schemas.js';
import { type Service, startServer, startService } from './servers.js';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 100);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const COLLECTIONS = 100;
const WARM_UP = 10;

/** Some work on one of the services. */
type Work = (service: Service, run: number) => Promise<unknown>;

if (pgbouncerProgram() === null) {
  console.log(INSTALL_PGBOUNCER);
  process.exit();
}
const release = readRelease();
const server = await startServer();
const behind = await server.createDatabase();
const pooler = await startPgbouncer(behind);
const services: Service[] = [];
try {
  const pooled = await startService(pooler.through(behind), undefined, { DIRECT_DATABASE_URL: behind });
  services.push(pooled);
  const direct = await startService(await server.createDatabase());
  services.push(direct);
  const create: Work = (service, run) => service.call('POST', '/collections', createBody(`measured_${run}`));
  const rows: Row[] = [await inTurns('create one collection with 7 fields', [pooled, direct], RUNS, create)];
  for (const service of services) await applied(service, snapshotOf(COLLECTIONS, release));
  const again: Work = async (service) => {
    await applied(service, emptySnapshot(release));
    await applied(service, snapshotOf(COLLECTIONS, release));
  };
  rows.push(await inTurns(`apply ${COLLECTIONS} collections away and back`, [pooled, direct], RUNS / 10, again));
  for (const [work, path] of [
    ['list 100 collections', '/collections'],
    ['retrieve one', '/collections/collection_00001'],
  ] as const)
    rows.push(await reads(work, path, [pooled, direct]));
  rows.push(await inTurns('by chance: past it against past it', [direct, direct], RUNS, otherwise()));
  printTable(
    `PostgreSQL ${server.version}, Node.js ${process.version}, release ${release}; limit: past the pooler`,
    rows,
  );
} finally {
  for (const service of services) await service.stop();
  await pooler.stop();
  await server.stop();
}

/** Names that no other work has taken. */
function otherwise(): Work {
  let made = 0;
  return (service) => service.call('POST', '/collections', createBody(`otherwise_${(made += 1)}`));
}

async function applied(service: Service, snapshot: object): Promise<void> {
  const { hash, diff } = await service.call<{ hash: string; diff: unknown }>('POST', '/schema/diff', snapshot);
  await service.call('POST', '/schema/apply', { hash, diff });
}

/** One after the other, and each first every other time. */
async function inTurns(work: string, [one, other]: readonly [Service, Service], runs: number, on: Work): Promise<Row> {
  const taken: [number[], number[]] = [[], []];
  for (let run = -WARM_UP; run < runs; run += 1) {
    const order = run % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const which of order) {
      const time = await milliseconds(() => on(which === 0 ? one : other, run + WARM_UP));
      if (run >= 0) taken[which].push(time);
    }
  }
  const [ours, limit] = [median(taken[0]), median(taken[1])];
  return { work, measured: show(ours, 'ms'), limit: show(limit, 'ms'), ratio: ours / limit, budget: NO_BUDGET };
}

async function reads(work: string, path: string, both: readonly Service[]): Promise<Row> {
  const perSecond: number[][] = both.map(() => []);
  for (let round = -1; round < 3; round += 1) {
    for (const [index, { url, headers }] of both.entries()) {
      const measured = await throughput(url + path, headers, round < 0 ? 1 : SECONDS);
      if (round >= 0) perSecond[index]?.push(measured.perSecond);
    }
  }
  const [ours, limit] = perSecond.map(median) as [number, number];
  return { work, measured: show(ours, '/s'), limit: show(limit, '/s'), ratio: ours / limit, budget: NO_BUDGET };
}
