/**
 * `npm run bench -- service`: the main work against its limits on this machine, in one run.
 *
 * Sizes: BENCH_APPLY (100,1000) collections of the applies, BENCH_READS (100), BENCH_NOOP (1000), BENCH_FINDINGS (1000) of a plan, BENCH_MANY (10000)
 * collections that exist while one more is made and gets a field, and that are merged, BENCH_ADOPT (1000) tables that are adopted,
 * BENCH_RUNS (20), BENCH_SECONDS (5) per throughput measurement. BENCH_ROWS: some of the rows (create, apply, reads, findings,
 * types, noop, among, merge, adopt, beside), with commas.
 */
import { readRelease } from '../../src/release.js';
import { adoptMany } from './adopt.js';
import { findingsOfMany } from './findings.js';
import { mergeMany } from './merge.js';
import { type Row, printTable } from './report.js';
import { noopDiff, reads } from './reads.js';
import { startServer } from './servers.js';
import { typesOfMany } from './types.js';
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
const many = number('BENCH_MANY', 10_000);

type Measure = () => Row | Row[] | Promise<Row | Row[]>;

const MEASURES: [string, Measure][] = [
  ['create', () => createOne(server, runs * 2)],
  ...sizes.map((size): [string, Measure] => [
    'apply',
    () => applyMany(server, release, size, Math.max(3, Math.ceil((runs * 25) / size))),
  ]),
  ['reads', () => reads(server, release, number('BENCH_READS', 100), number('BENCH_SECONDS', 5))],
  ['findings', () => findingsOfMany(release, number('BENCH_FINDINGS', 1000), runs)],
  ['types', () => typesOfMany(release, number('BENCH_FINDINGS', 1000), runs)],
  ['noop', () => noopDiff(server, release, number('BENCH_NOOP', 1000), runs)],
  ['among', () => changeAmong(server, release, many, runs * 2)],
  ['merge', () => mergeMany(server, release, many, Math.ceil(runs / 4))],
  ['adopt', () => adoptMany(server, release, number('BENCH_ADOPT', 1000), Math.ceil(runs / 7))],
  ['beside', () => readsDuringApply(server, release, 1000)],
];
const asked = process.env['BENCH_ROWS']?.split(',');

try {
  for (const [name, measure] of MEASURES) {
    if (asked !== undefined && !asked.includes(name)) continue;
    for (const row of [await measure()].flat()) note(row);
  }
  printTable(`PostgreSQL ${server.version}, Node.js ${process.version}, release ${release}`, rows);
} finally {
  await server.stop();
}
