/**
 * `npm test`, `node --import tsx scripts/test.ts [files and patterns] [--ignore file]`: test files in as many processes as there are cores,
 * all on one PostgreSQL server and with the program built once; then, each by itself, those that measure time or memory.
 * `--pooler`: their services reach the databases through PgBouncer. TEST_JOBS: another number of processes. Exit code 1 when a test fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureBuilt } from '../test/support/built.js';
import { INSTALL_PGBOUNCER, pgbouncerProgram } from '../test/support/pgbouncer.js';
import { startTestServer } from '../test/support/server.js';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** What they measure would be the neighbours' doing; and what takes every lock slot of the server would be felt by them. */
const ALONE = [
  'test/faults/hostile-bodies.e2e.test.ts',
  'test/auth/login-limit.unit.test.ts',
  'test/pipeline/endings.int.test.ts',
];

/** The longest, so that none of them is what the others' processes wait for in the end. */
const FIRST = [
  'test/documents.e2e.test.ts',
  'test/faults/kill.e2e.test.ts',
  'test/main.e2e.test.ts',
  'test/projector/adopt/real-schemas.int.test.ts',
];

interface Totals {
  passes: number;
  failures: number;
  pending: number;
}

const {
  values: { ignore, pooler },
  positionals: patterns,
} = parseArgs({
  options: { ignore: { type: 'string', multiple: true, default: [] }, pooler: { type: 'boolean', default: false } },
  allowPositionals: true,
});
if (pooler) throughPooler();
const wanted = (patterns.length > 0 ? patterns : ['test/**/*.test.ts']).map(asExpression);
const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name}`)
  .filter((file) => wanted.some((pattern) => pattern.test(file)))
  .filter((file) => !ignore.includes(file))
  .sort((one, other) => rank(one) - rank(other));

ensureBuilt();
const server = await startTestServer();
const directory = await mkdtemp(join(tmpdir(), 'dps-totals-'));
try {
  const shared = files.filter((file) => !ALONE.includes(file));
  const alone = files.filter((file) => ALONE.includes(file));
  const totals = [
    ...(shared.length > 0 ? [await run(['--parallel', '--jobs', jobs(), ...shared])] : []),
    ...(alone.length > 0 ? [await run(alone)] : []),
  ];
  const sum = (name: keyof Totals) => totals.reduce((total, each) => total + each[name], 0);
  if (sum('pending') > 0) console.log(`${sum('pending')} skipped`);
  console.log(`${sum('passes')} passed, ${sum('failures')} failed`);
} finally {
  await rm(directory, { recursive: true });
  await server.stop();
}

function throughPooler(): void {
  process.env['TEST_POOLER'] = 'transaction';
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

function rank(file: string): number {
  const place = FIRST.indexOf(file);
  return place === -1 ? FIRST.length : place;
}

function jobs(): string {
  return process.env['TEST_JOBS'] ?? String(Math.max(2, availableParallelism()));
}

async function run(args: string[]): Promise<Totals> {
  const totals = join(directory, 'totals.json');
  await rm(totals, { force: true });
  const program = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: ROOT,
    env: { ...process.env, TEST_SERVER: JSON.stringify(server.address), TEST_TOTALS: totals },
    stdio: 'inherit',
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) process.exitCode = 1;
  // A run that broke off has counted nothing.
  const counted = await readFile(totals, 'utf8').catch(() => '{"passes":0,"failures":1,"pending":0}');
  return JSON.parse(counted) as Totals;
}
