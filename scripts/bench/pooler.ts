/**
 * `npm run bench -- pooler`: measures the cost of PgBouncer in transaction mode. Two processes on one server do the
 * same work in turns, one through PgBouncer and one directly. The last row compares two direct runs, which shows the
 * noise. BENCH_RUNS: pairs of each kind (100); BENCH_SECONDS: of each measurement of reads (5).
 */
import { INSTALL_PGBOUNCER, pgbouncerProgram, startPgbouncer } from '../../test/support/pgbouncer.js';
import { milliseconds, throughput } from './measure.js';
import { type Case, type Comparison, runTable } from './runner.js';
import { applySnapshot, createBody, emptySnapshot, snapshotOf } from './schemas.js';
import type { Service } from './servers.js';

const RUNS = Number(process.env['BENCH_RUNS'] ?? 100);
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 5);
const COLLECTIONS = 100;

const throughPooler: Case = async (resources) => {
  const { release, server } = resources;
  const behind = await server.createDatabase();
  const pooler = await startPgbouncer(behind);
  resources.onEnd(() => pooler.stop());
  const pooled = await resources.service(pooler.through(behind), { DIRECT_DATABASE_URL: behind });
  const direct = await resources.service();
  let made = 0;
  const created = (service: Service): Promise<number> => {
    made += 1;
    return milliseconds(() => service.call('POST', '/collections', createBody(`measured_${made}`)));
  };
  const createAgain = (service: Service): Promise<number> =>
    milliseconds(async () => {
      await applySnapshot(service, emptySnapshot(release));
      await applySnapshot(service, snapshotOf(COLLECTIONS, release));
    });
  const requests = (path: string) => async (service: Service) =>
    (await throughput(service.url + path, service.headers, SECONDS)).perSecond;
  const row = (work: string, runs: number, on: (service: Service) => Promise<number>): Comparison => ({
    work,
    against: 'past the pooler',
    runs,
    measured: () => on(pooled),
    limit: () => on(direct),
  });
  return [
    row('create one collection with 7 fields', RUNS, created),
    row(`apply ${COLLECTIONS} collections away and back`, RUNS / 10, createAgain),
    { ...row('list 100 collections', 3, requests('/collections')), unit: 'req/s', warmUps: 1 },
    { ...row('retrieve one', 3, requests('/collections/collection_00001')), unit: 'req/s', warmUps: 1 },
    { ...row('create one past the pooler', RUNS, created), measured: () => created(direct) },
  ];
};

if (pgbouncerProgram() === null) {
  console.log(INSTALL_PGBOUNCER);
  process.exit();
}
await runTable('pooler', [throughPooler]);
