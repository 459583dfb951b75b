/** Whether the tests notice a mutation. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Copy, build } from './copy.js';
import type { TestCoverage } from './coverage.js';
import { type Mutation, mutated } from './mutations.js';
import { type MochaRun, runMocha } from './processes.js';

export type Outcome = 'killed' | 'timeout' | 'survived';

export interface Verdict {
  mutation: Mutation;
  outcome: Outcome;
  /** The test that noticed it, and how. */
  by: string;
  tests: number;
  ms: number;
}

/** Tests are taken until they take this long when nothing is wrong (milliseconds): who is past it counts as blind. */
const BUDGET = 60_000;
/** The machine may be busy: a test has this long, and a run this many times what it took before, and a minute. */
const TEST_LIMIT = '180000';
const SLOWER = 6;
/** What is said when something didn't happen in time. */
const WAITED = /Timeout of \d+ ?ms|not within \d+ ?ms/;

/** Runs the tests, unit tests before the others, until one fails. The copy is as it was afterwards. */
export async function tryMutation(copy: Copy, mutation: Mutation, tests: readonly TestCoverage[]): Promise<Verdict> {
  const path = join(copy.directory, mutation.file);
  const source = await readFile(path, 'utf8');
  const since = Date.now();
  const chosen = withinBudget(tests);
  await writeFile(path, mutated(source, mutation));
  let run: MochaRun = { outcome: 'passed', output: '' };
  try {
    await build(copy.directory);
    for (const group of inRuns(chosen)) {
      run = await runTests(copy, group);
      // On a busy machine a test may have waited too long: that counts only when it does so again.
      if (run.outcome === 'failed' && WAITED.test(run.output)) run = await runTests(copy, group);
      if (run.outcome !== 'passed') break;
    }
  } finally {
    await writeFile(path, source);
  }
  const outcome = { passed: 'survived', failed: 'killed', timeout: 'timeout' } as const;
  return {
    mutation,
    outcome: outcome[run.outcome],
    by: run.outcome === 'failed' ? failureIn(run.output) : '',
    tests: chosen.length,
    ms: Date.now() - since,
  };
}

function withinBudget(tests: readonly TestCoverage[]): TestCoverage[] {
  let spent = 0;
  return tests.filter(({ ms }) => {
    if (spent + ms > BUDGET && spent > 0) return false;
    spent += ms;
    return true;
  });
}

/** Unit tests together, the first few others, the rest: each run costs a start. */
function inRuns(tests: readonly TestCoverage[]): TestCoverage[][] {
  const unit = tests.filter(({ file }) => file.endsWith('.unit.test.ts'));
  const others = tests.filter((each) => !unit.includes(each));
  return [unit, others.slice(0, 4), others.slice(4)].filter((group) => group.length > 0);
}

function runTests(copy: Copy, tests: readonly TestCoverage[]): Promise<MochaRun> {
  const expected = tests.reduce((sum, { ms }) => sum + ms, 0);
  const args = ['--bail', '--timeout', TEST_LIMIT, ...tests.map(({ file }) => file)];
  return runMocha(copy.directory, args, expected * SLOWER + 60_000);
}

/** What mocha's report says of the first failure: the test's names and the message. */
function failureIn(output: string): string {
  const at = output.lastIndexOf('1) ');
  return output.slice(Math.max(at, 0)).replaceAll(/\s+/g, ' ').slice(0, 300);
}
