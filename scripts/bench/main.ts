/**
 * `npm run bench`: the main work against its limits on this machine, in one run.
 *
 * Sizes: BENCH_APPLY (100,1000) collections of the applies, BENCH_READS (100), BENCH_NOOP (1000), BENCH_FINDINGS (1000) of a plan, BENCH_MANY (10000)
 * collections that exist while one more is made and gets a field, and that are merged, BENCH_ADOPT (1000) tables that are adopted,
 * BENCH_RUNS (20), BENCH_SECONDS (5) per throughput measurement.
 */
import { readRelease } from '../../src/release.js';
import { adoptMany } from './adopt.js';
import { findingsOfMany } from './findings.js';
import { mergeMany } from './merge.js';
import { type Row, printTable } from './report.js';
import { noopDiff, reads } from './reads.js';
import { startServer } from './servers.js';
import { applyMany, changeAmong, createOne, readsDuringApply } from './writes.js';

const number = (name: string, otherwise: number): number => Number(process.env[name] ?? otherwise);

const sizes = (process.env['BENCH_APPLY'] ?? '100,1000').split(',').map(Number);
const runs = number('BENCH_RUNS', 20);
const release = readRelease();
const server = await startServer();
const rows: Row[] = [];
const note = (row: Row) => {
  rows.push(row);
  process.stderr.write(`${row.work}: ${row.ratio.toFixed(2)}\n`);
};
try {
  note(await createOne(server, runs * 2));
  for (const size of sizes) note(await applyMany(server, release, size, Math.max(3, Math.ceil((runs * 25) / size))));
  for (const row of await reads(server, release, number('BENCH_READS', 100), number('BENCH_SECONDS', 5))) note(row);
  note(findingsOfMany(release, number('BENCH_FINDINGS', 1000), runs));
  note(await noopDiff(server, release, number('BENCH_NOOP', 1000), runs));
  for (const row of await changeAmong(server, release, number('BENCH_MANY', 10_000), runs * 2)) note(row);
  note(await mergeMany(server, release, number('BENCH_MANY', 10_000), Math.ceil(runs / 4)));
  for (const row of await adoptMany(server, release, number('BENCH_ADOPT', 1000), Math.ceil(runs / 7))) note(row);
  note(await readsDuringApply(server, release, 1000));
  printTable(`PostgreSQL ${server.version}, Node.js ${process.version}, release ${release}`, rows);
} finally {
  await server.stop();
}
