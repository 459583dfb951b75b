/**
 * `npm run bench -- service`: compares the main work with its limits on this machine, in one run. `npm run bench --
 * check`: compares only the small cases, in under five minutes; fails if a ratio misses its goal by more than the
 * noise.
 *
 * BENCH_ROWS: names of cases, with commas. BENCH_SCALE: a factor of the number of pairs (1).
 */
import { adopt } from './cases/adopt.js';
import { apply, diff, merge, readsDuringApply } from './cases/bulk.js';
import { among, clients, create, patch, remove, streams } from './cases/changes.js';
import { adoptObjects, belowViews, sameObjects } from './cases/objects.js';
import { findings, types } from './cases/plans.js';
import { afterChange, longLog, tables, unchanged } from './cases/reads.js';
import { type Case, isMissed, runTable } from './runner.js';

/** Seconds per comparison of the check, so that all of them take less than five minutes on two idle cores. */
const SECONDS_EACH = 6;

const scale = Number(process.env['BENCH_SCALE'] ?? 1);
const pairs = (count: number): number => Math.max(3, Math.ceil(count * scale));

type Cases = Readonly<Record<string, Case>>;

const SMALL: Cases = {
  create: create(pairs(100)),
  patch: patch(pairs(200)),
  delete: remove(pairs(60)),
  clients: clients(pairs(7)),
  streams: streams(2_000, pairs(20)),
  retrieve: longLog(1_000, 30_000, pairs(9)),
  after: afterChange(1_000, pairs(15)),
  tables: tables(1_000, pairs(7)),
  diff: diff(1_000, pairs(20)),
  apply: apply(300, pairs(7)),
  adopt: adopt(300, pairs(7)),
};

const FULL: Cases = {
  ...SMALL,
  'apply-100': apply(100, pairs(20)),
  apply: apply(1_000, pairs(7)),
  tables: tables(10_000, pairs(5)),
  reads: unchanged(100, pairs(15)),
  findings: findings(1_000, pairs(20)),
  types: types(1_000, pairs(20)),
  among: among(10_000, pairs(40)),
  merge: merge(10_000, pairs(5)),
  adopt: adopt(1_000, pairs(7)),
  beside: readsDuringApply(1_000, pairs(5)),
  'same-objects': sameObjects(2_500, pairs(15)),
  'adopt-objects': adoptObjects(1_000, pairs(7)),
  'below-views': belowViews(50, pairs(15)),
};

async function run(title: string, cases: Cases, secondsEach?: number): Promise<boolean> {
  const selected = process.env['BENCH_ROWS']?.split(',') ?? Object.keys(cases);
  const chosen = selected.map((name) => {
    const benchCase = cases[name];
    if (benchCase === undefined) throw new Error(`there is no case ${name}; use ${Object.keys(cases).join(', ')}`);
    return benchCase;
  });
  return !(await runTable(title, chosen, secondsEach)).some(isMissed);
}

export const service = (): Promise<boolean> => run('service', FULL);

export async function check(): Promise<void> {
  if (!(await run('check', SMALL, SECONDS_EACH))) process.exitCode = 1;
}
