/**
 * Records which test file runs which blocks, and stores that in node_modules/.cache. A test file that changed or failed
 * runs again. For sources with changed blocks only the file is known, until `--fresh`.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { blocksOf, instrumented } from './blocks.js';
import { type Copy, ROOT, build, createCopy, projectFiles } from './copy.js';
import { runMocha } from './processes.js';

export interface TestCoverage {
  file: string;
  /** Duration of its tests. */
  ms: number;
  /** Number of tests that fail without a mutation. */
  failed: number;
  /** `src/…ts#number`: the blocks that ran. */
  blocks: string[];
  /** Hash of the test file's text. */
  hash: string;
  /** Number of blocks of each listed source. */
  sources: Record<string, number>;
}

const CACHE = join(ROOT, 'node_modules', '.cache', 'mutate', 'coverage.json');
const BATCH = { unit: 32, other: 6 };
const LIMIT = 20 * 60_000;

/** These check the project as a whole or the built app, so samples do not use them. */
const LEFT_OUT = /^test\/corpus\/|^test\/web\/.*\.e2e|real-schemas|documents\.e2e|packed\.e2e/;

export interface CoverageOptions {
  /** Discards the stored coverage. */
  fresh: boolean;
  /** Uses the stored coverage and runs nothing. */
  kept: boolean;
  said: (line: string) => void;
}

/** The coverage of every test file. */
export async function readCoverage(options: CoverageOptions): Promise<TestCoverage[]> {
  const { said } = options;
  const files = await projectFiles();
  const tests = files.filter((file) => file.endsWith('.test.ts') && !LEFT_OUT.test(file));
  const kept = new Map((options.fresh ? [] : withMoved(await readCache(), tests)).map((entry) => [entry.file, entry]));
  const waiting: string[] = [];
  for (const test of options.kept ? [] : tests) {
    const stored = kept.get(test);
    if (stored === undefined || stored.failed > 0 || stored.hash !== (await hashOf(test))) waiting.push(test);
  }
  for (const file of kept.keys()) if (!tests.includes(file)) kept.delete(file);
  if (waiting.length > 0) said(`coverage: ${waiting.length} test files to run`);
  const batches = splitIntoBatches(waiting);
  const work = async (): Promise<void> => {
    if (batches.length === 0) return;
    const copy = await createInstrumented();
    try {
      for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
        for (const entry of await runBatch(copy, batch)) kept.set(entry.file, entry);
        await writeCache([...kept.values()]);
        said(`coverage: ${kept.size} of ${tests.length} test files`);
      }
    } finally {
      await copy.remove();
    }
  };
  await Promise.all([work(), work()]);
  return [...kept.values()];
}

async function hashOf(file: string): Promise<string> {
  const text = await readFile(join(ROOT, file), 'utf8').catch(() => '');
  // Import paths change when a file moves, without any effect on what it tests.
  const meaning = text.replaceAll(/from '[^']*'/g, '');
  return createHash('sha256').update(meaning).digest('hex').slice(0, 16);
}

/** Test files that moved keep their coverage. */
function withMoved(entries: readonly TestCoverage[], tests: readonly string[]): TestCoverage[] {
  const removed = entries.filter(({ file }) => !tests.includes(file));
  const coveredFiles = new Set(entries.map(({ file }) => file));
  const moved = tests.flatMap((file) => {
    const from = coveredFiles.has(file) ? undefined : removed.find((entry) => basename(entry.file) === basename(file));
    return from === undefined ? [] : [{ ...from, file }];
  });
  return [...entries, ...moved];
}

interface Instrumented extends Copy {
  /** The number of blocks of each source. */
  counts: ReadonlyMap<string, number>;
}

async function createInstrumented(): Promise<Instrumented> {
  const copy = await createCopy();
  const recorder = pathToFileURL(join(copy.directory, 'scripts/mutate/recorder.mjs')).href;
  const counts = new Map<string, number>();
  for (const file of (await projectFiles()).filter(isSource)) {
    const path = join(copy.directory, file);
    const source = await readFile(path, 'utf8').catch(() => null);
    if (source === null) continue;
    counts.set(file, blocksOf(file, source).length);
    await writeFile(path, instrumented(file, source, recorder));
  }
  await build(copy.directory);
  return { ...copy, counts };
}

async function runBatch({ directory, counts }: Instrumented, batch: readonly string[]): Promise<TestCoverage[]> {
  const results = join(directory, 'scripts/mutate/results.jsonl');
  await rm(results, { force: true });
  const args = ['--timeout', '120000', '--reporter', './scripts/mutate/coverage-reporter.mjs', ...batch];
  const { output } = await runMocha(directory, args, LIMIT);
  const text = await readFile(results, 'utf8').catch(() => '');
  if (text === '') process.stderr.write(`${output.slice(-2_000)}\n`);
  const entries: TestCoverage[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const entry = JSON.parse(line) as Omit<TestCoverage, 'hash' | 'sources'>;
    const sources = new Set(entry.blocks.map((block) => block.slice(0, block.indexOf('#'))));
    entries.push({
      ...entry,
      hash: await hashOf(entry.file),
      sources: Object.fromEntries([...sources].map((file) => [file, counts.get(file) ?? 0])),
    });
  }
  return entries;
}

/**
 * Quick unit tests first. Tests of adopted databases and killed processes last, so that most coverage is stored early.
 */
function splitIntoBatches(files: readonly string[]): string[][] {
  const unit = files.filter(opensNoSocket);
  const others = files.filter((file) => !unit.includes(file)).toSorted((a, b) => slow(a) - slow(b));
  const cut = (list: readonly string[], size: number): string[][] =>
    Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
  return [...cut(unit, BATCH.unit), ...cut(others, BATCH.other)];
}

/** These tests start quickly and run together. */
export function opensNoSocket(file: string): boolean {
  return /\.(unit|long)\.test\.ts$/.test(file);
}

function slow(file: string): number {
  if (/main\.e2e|stopped\.e2e/.test(file)) return 2;
  return /adopt|lifecycle/.test(file) ? 1 : 0;
}

async function readCache(): Promise<TestCoverage[]> {
  return JSON.parse(await readFile(CACHE, 'utf8').catch(() => '[]')) as TestCoverage[];
}

async function writeCache(entries: readonly TestCoverage[]): Promise<void> {
  await mkdir(join(CACHE, '..'), { recursive: true });
  await writeFile(CACHE, JSON.stringify(entries));
}

function isSource(file: string): boolean {
  return file.startsWith('src/') && file.endsWith('.ts');
}
