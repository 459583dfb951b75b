/**
 * `npm run mutate -- --mutations 100 --seed 1 --under src/schema`: samples single changes of the sources, runs the
 * tests that reach each, and prints the changes that no test detected. Exit code 1 if fewer than 90 % were detected.
 * All changes happen in a copy of the working tree. The coverage of tests is recorded once and stored: `--fresh`
 * records it again, `--kept` uses the stored coverage. `--unit` runs only unit tests, which is quick but gives no
 * overall score. `--workers 1` leaves a core to others. `--verbose` also prints what detected each change.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stopTestServer, testServer } from '../../test/support/postgres.js';
import { build, createCopy } from './copy.js';
import { opensNoSocket, readCoverage } from './coverage.js';
import { drawSample, lineAt } from './sample.js';
import { testsFor } from './targets.js';
import { type Soundness, type Verdict, tryMutation } from './try.js';

const ENOUGH = 90;

const { values } = parseArgs({
  options: {
    mutations: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    under: { type: 'string', default: 'src' },
    fresh: { type: 'boolean', default: false },
    kept: { type: 'boolean', default: false },
    unit: { type: 'boolean', default: false },
    workers: { type: 'string', default: '2' },
    verbose: { type: 'boolean', default: false },
  },
});
const [count, seed, workers] = [Number(values.mutations), Number(values.seed), Number(values.workers)];
if (![count, seed, workers].every(Number.isSafeInteger))
  throw new Error('--mutations, --seed and --workers are numbers');

const since = Date.now();
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const note = (line: string): void => void process.stderr.write(`${line}\n`);

/** `file:line operator: the line`, for searching. */
async function described(directory: string, { mutation, outcome, by, tests, ms }: Verdict): Promise<string> {
  const source = await readFile(join(directory, mutation.file), 'utf8');
  const { line, text } = lineAt(source, mutation.start);
  const before = source.slice(mutation.start, mutation.end).replaceAll(/\s+/g, ' ').slice(0, 80);
  const change = `${before} -> ${mutation.text || '(nothing)'}`;
  const cost = `${tests} test files, ${Math.round(ms / 1_000)} s`;
  return `${outcome}: ${mutation.file}:${line} ${mutation.operator}: ${change}\n    ${text}\n    ${cost}${by && `; ${by}`}`;
}

print(`seed ${seed}`);
// One server for every run of mocha, because starting one takes longer than most tests.
process.env['TEST_DATABASE_URL'] = (await testServer()).connectionString;
const copies = [];
const verdicts: Verdict[] = [];
const soundness: Soundness = new Map();
try {
  const all = await readCoverage({ fresh: values.fresh, kept: values.kept, said: note });
  const coverage = values.unit ? all.filter(({ file }) => opensNoSocket(file)) : all;
  for (let worker = 0; worker < workers; worker++) copies.push(await createCopy());
  const [first] = copies;
  if (first === undefined) throw new Error('no copy');
  const sample = await drawSample(first, { seed, count, under: values.under });
  note(`${sample.length} mutations after ${Math.round((Date.now() - since) / 1_000)} s`);
  await Promise.all(
    copies.map(async (copy) => {
      await build(copy.directory);
      for (let mutation = sample.shift(); mutation !== undefined; mutation = sample.shift()) {
        const verdict = await tryMutation(copy, mutation, {
          tests: await testsFor(copy.directory, mutation, coverage),
          soundness,
        });
        verdicts.push(verdict);
        if (verdict.unsound.length > 0) note(`failed without a change, too: ${verdict.unsound.join(', ')}`);
        if (verdict.outcome !== 'killed' || values.verbose) print(await described(copy.directory, verdict));
        else note(`${verdicts.length}: killed in ${Math.round(verdict.ms / 1_000)} s`);
      }
    }),
  );
} finally {
  await Promise.all(copies.map((copy) => copy.remove()));
  await stopTestServer();
}

const countOf = (outcome: Verdict['outcome']): number => verdicts.filter((each) => each.outcome === outcome).length;
const score = (100 * (countOf('killed') + countOf('timeout'))) / Math.max(verdicts.length, 1);
print(
  `killed ${countOf('killed')}, timeouts ${countOf('timeout')}, survived ${countOf('survived')} of ${verdicts.length}`,
);
print(`score ${score.toFixed(1)} % (seed ${seed}, ${Math.round((Date.now() - since) / 1_000)} s)`);
if (score < ENOUGH) process.exitCode = 1;
