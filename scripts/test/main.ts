/**
 * `npm test -- [kinds, files and patterns] [--ignore file]`: runs test files in a few processes, all on one PostgreSQL
 * server and with the program built once. The files that measure time or memory follow, with those that use a browser.
 * Without files it skips those that take minutes (`takesLong`); `--all` runs them too. `--pooler` runs those that may
 * differ behind PgBouncer. `--slowest 30` prints the time of the slowest files. Tests of the kinds unit, long and corpus start no server. TEST_JOBS sets the number of
 * processes. The exit code is 1 if a test fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../../test/support/built.js';
import type { StartedServer } from '../../test/support/server.js';
import { bundle } from './bundle.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Other processes would distort their measurements. */
const ALONE = ['test/faults/hostile-bodies.e2e.test.ts', 'test/features/accounts/login-limit.long.test.ts'];

/** The longest files start first, so that none is left at the end. Busy and waiting files alternate. */
const LONGEST = [
  'test/documents.e2e.test.ts',
  'test/faults/silence.e2e.test.ts',
  'test/faults/kill.e2e.test.ts',
  'test/faults/online-changes.e2e.test.ts',
  'test/faults/online-servers.e2e.test.ts',
  'test/faults/scheduled-servers.e2e.test.ts',
  'test/pipeline/silence.int.test.ts',
  'test/main.e2e.test.ts',
  'test/faults/patience.e2e.test.ts',
  'test/features/adopt/generated-extras.int.test.ts',
  'test/postgres/embedded/embedded.int.test.ts',
  'test/log/divergence.e2e.test.ts',
  'test/cli/packed.e2e.test.ts',
  'test/features/adopt/real-schemas.int.test.ts',
  'test/features/adopt/changed-needs.int.test.ts',
  'test/http/unavailable.e2e.test.ts',
  'test/reads/history/time-travel.int.test.ts',
  'test/features/adopt/shared-needs.int.test.ts',
  'test/features/adopt/every-member.int.test.ts',
  'test/http/hostile.e2e.test.ts',
  'test/pipeline/locks.int.test.ts',
  'test/http/openapi/api-document.long.test.ts',
  'test/postgres/silent-connections.int.test.ts',
  'test/features/adopt/deleted.int.test.ts',
  'test/cli/doctor.e2e.test.ts',
  'test/cli/backup.e2e.test.ts',
  'test/features/change-requests/schedule.e2e.test.ts',
  'test/http/extremes.e2e.test.ts',
  'test/cli/schema-files/interrupted.e2e.test.ts',
];

/** `npm test -- unit long`: the files of a kind. */
const KINDS: Record<string, string[]> = {
  unit: ['test/**/*.unit.test.ts'],
  long: ['test/**/*.long.test.ts'],
  int: ['test/**/*.int.test.ts'],
  e2e: ['test/**/*.e2e.test.ts'],
  corpus: ['test/corpus/*.test.ts', 'test/**/*.corpus.test.ts'],
};

/**
 * A pooler affects sessions: settings, locks, prepared statements, notifications, the outcome of a transaction. Tests
 * of values and messages, of permissions, and of documents that the service computes would give the same results.
 */
const POOLED = new RegExp(
  `^test/(?:features|http|projector|reads)/(?:.*/)?(?:${[
    'accept-drift|adopt|collection-batches|concurrent-index-names|decoys|dry-runs|examination|fields|field-deletes',
    'history|locks|online-changes|online-in-use|online-rows|online-waiting|overload|partitions|projections|relations',
    'rename|rename-beside|rows-in-the-way|schema|second-session|sequences|session|sessions|stream|table',
    'trash|trash-fields|trash-restore|trash-tables|values-stay',
  ].join('|')})\\.e2e\\.test\\.ts$`,
);

const CONFIGURATION = JSON.parse(readFileSync(join(ROOT, '.mocharc.json'), 'utf8')) as {
  timeout: number;
  'reporter-option': string[];
};

/** Tests leave much garbage at once. A larger young generation saves a quarter of the time for garbage collection. */
const NODE = ['--enable-source-maps', '--min-semi-space-size=16', '--max-semi-space-size=64'];

const SUPPORT = ['test/support/hooks.ts', 'test/support/reporter.ts'];
/** The service as tests start it in separate processes. */
const PROGRAM = 'src/main.ts';

interface Counts {
  passes: number;
  failures: number;
  pending: number;
}

interface Totals extends Counts {
  /** Names of failed tests with their errors. */
  failed: string[];
  /** Milliseconds of the tests and hooks of each file. */
  durations: Record<string, number>;
}

const {
  values: { ignore, pooler, all, slowest },
  positionals,
} = parseArgs({
  options: {
    ignore: { type: 'string', multiple: true, default: [] },
    pooler: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    slowest: { type: 'string', default: '0' },
  },
  allowPositionals: true,
});
const chosen = positionals.flatMap((name) => KINDS[name] ?? [name]);
if (pooler) await throughPooler();
const wanted = chosen.length > 0 ? chosen : ['test/**/*.test.ts'];
const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' }).map((name) => `test/${name}`);
for (const pattern of wanted) {
  if (tests.some((file) => asExpression(pattern).test(file))) continue;
  console.error(`No test file fits ${pattern}.`);
  process.exit(1);
}
const matching = tests
  .filter((file) => wanted.some((pattern) => asExpression(pattern).test(file)))
  .filter((file) => !ignore.includes(file) && (chosen.length > 0 || !pooler || POOLED.test(file)))
  .sort((one, other) => rank(one) - rank(other));
const files = all || pooler || chosen.length > 0 ? matching : matching.filter((file) => !isLong(file));

const needsServer = !files.every((file) => /\.(unit|long|corpus)\.test\.ts$/.test(file));
// Coverage cannot see the sources of a bundle.
const bundled = process.env['NODE_V8_COVERAGE'] === undefined ? await bundle([...files, ...SUPPORT, PROGRAM]) : null;
const server = needsServer ? await start() : null;
const directory = await mkdtemp(join(tmpdir(), 'dps-totals-'));
try {
  const alone = needsServer ? files.filter(isAlone) : [];
  const shared = files.filter((file) => !alone.includes(file));
  const totals = [
    ...(shared.length > 0 ? [await run(shared, ['--parallel', '--jobs', jobs()])] : []),
    ...(alone.length > 0 ? [await run(alone, ['--parallel', '--jobs', String(cores())])] : []),
  ];
  const sum = (name: keyof Counts) => totals.reduce((total, each) => total + each[name], 0);
  for (const failed of totals.flatMap((total) => total.failed)) console.log(`Failed: ${failed}\n`);
  printSlowest(totals, Number(slowest));
  const left = matching.length - files.length;
  if (left > 0)
    console.log(
      `${left} more test files with npm test -- --all: the longest, faults, real schemas, and the app in a browser`,
    );
  if (sum('pending') > 0) console.log(`${sum('pending')} skipped`);
  console.log(`${sum('passes')} passed, ${sum('failures')} failed`);
} finally {
  await rm(directory, { recursive: true });
  await bundled?.remove();
  await server?.stop();
}

/** Prints the files that took longest. */
function printSlowest(totals: readonly Totals[], count: number): void {
  const durations = totals.flatMap(({ durations }) => Object.entries(durations));
  durations.sort(([, one], [, other]) => other - one);
  for (const [file, milliseconds] of durations.slice(0, count))
    console.log(`${(milliseconds / 1_000).toFixed(1).padStart(7)} s  ${sourceOf(file)}`);
}

function sourceOf(file: string): string {
  const path = relative(ROOT, file);
  return files.find((each) => path === each || path === bundled?.of(each)) ?? path;
}

/** Loaded on demand, because it is slow. */
async function start(): Promise<StartedServer> {
  ensureBuilt();
  const { startTestServer } = await import('../../test/support/server.js');
  return startTestServer();
}

async function throughPooler(): Promise<void> {
  process.env['TEST_POOLER'] = 'transaction';
  const { INSTALL_PGBOUNCER, pgbouncerProgram } = await import('../../test/support/pgbouncer.js');
  if (pgbouncerProgram() !== null) return;
  console.log(INSTALL_PGBOUNCER);
  process.exit(0);
}

/** `**` and `*`, as in mocha's own patterns. */
function asExpression(pattern: string): RegExp {
  const parts = pattern.split(/(\*\*\/|\*)/);
  const written = parts.map((part) =>
    part === '**/' ? '(?:.*/)?' : part === '*' ? '[^/]*' : part.replaceAll('.', '\\.'),
  );
  return new RegExp(`^${written.join('')}$`);
}

/**
 * Only with `--all`: the longest files; servers that are killed, disconnected and switched over; real schemas; the app
 * in a browser.
 */
function isLong(file: string): boolean {
  if (file.endsWith('.unit.test.ts')) return false;
  return LONGEST.includes(file) || /^test\/(web|faults|corpus)\/|\.corpus\.test\.ts$/.test(file);
}

/** A browser that waits for a core does not behave like a user's browser. */
function isAlone(file: string): boolean {
  return ALONE.includes(file) || file.startsWith('test/web/');
}

function rank(file: string): number {
  const place = LONGEST.indexOf(file);
  return place === -1 ? LONGEST.length : place;
}

/** Tests with a server mostly wait, so two more processes keep the cores busy. */
function jobs(): string {
  return process.env['TEST_JOBS'] ?? String(needsServer ? cores() + 2 : cores());
}

function cores(): number {
  return Math.max(2, availableParallelism());
}

/** Arguments of mocha: with the configuration that loads sources, or with bundles. */
function command(tests: string[]): string[] {
  const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
  if (bundled === null) return [mocha, ...tests];
  const [hooks = '', reporter = ''] = SUPPORT.map((file) => join(ROOT, bundled.of(file)));
  const { timeout, 'reporter-option': options } = CONFIGURATION;
  const settings = ['--no-config', '--no-package', '--forbid-only', '--timeout', String(timeout)];
  const report = ['--reporter', reporter, ...options.flatMap((option) => ['--reporter-option', option])];
  return [...NODE, mocha, ...settings, '--require', hooks, ...report, ...tests.map((file) => bundled.of(file))];
}

async function run(tests: string[], flags: string[]): Promise<Totals> {
  const totals = join(directory, 'totals.json');
  await rm(totals, { force: true });
  const child = spawn(process.execPath, [...command(tests), ...flags], {
    cwd: ROOT,
    env: {
      ...process.env,
      TEST_TOTALS: totals,
      ...(bundled && { TEST_PROGRAM: join(ROOT, bundled.of(PROGRAM)) }),
      ...(server && { TEST_SERVER: JSON.stringify(server.address) }),
    },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) process.exitCode = 1;
  // An aborted run has no counts.
  const counted = await readFile(totals, 'utf8').catch(
    () => '{"passes":0,"failures":1,"pending":0,"failed":[],"durations":{}}',
  );
  return JSON.parse(counted) as Totals;
}
