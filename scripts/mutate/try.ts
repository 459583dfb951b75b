/** Whether the tests notice a mutation. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Copy, buildOne } from './copy.js';
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

/** Tests are taken until they take this long when nothing is wrong (milliseconds), the nearest ones in any case. */
const BUDGET = 90_000;
const NEAREST = 6;
/** The machine may be busy: a test has this long, and a run this many times what it took before, and a minute. */
const TEST_LIMIT = '90000';
const SLOWER = 6;
const START = 60_000;
/** What is said when something didn't happen in time, or a neighbour took what was needed for it. */
const WAITED = /Timeout of \d+ ?ms|not within \d+ ?ms|fetch failed|ECONNRE|Connection terminated|LOCK_TIMEOUT/;

/** Runs the tests, unit tests before the others, until one fails. The copy is as it was afterwards. */
export async function tryMutation(copy: Copy, mutation: Mutation, tests: readonly TestCoverage[]): Promise<Verdict> {
  const path = join(copy.directory, mutation.file);
  const source = await readFile(path, 'utf8');
  const write = async (text: string): Promise<void> => {
    await writeFile(path, text);
    await buildOne(copy.directory, mutation.file);
  };
  const since = Date.now();
  const chosen = withinBudget(tests);
  let run: MochaRun = { outcome: 'passed', output: '' };
  try {
    await write(mutated(source, mutation));
    for (const group of inRuns(chosen)) {
      run = await runTests(copy, group, expectedOf(group));
      if (run.outcome === 'timeout' || (run.outcome === 'failed' && WAITED.test(run.output))) {
        // On a busy machine a test may have waited too long: what passes at the same time without the change tells.
        await write(source);
        const began = Date.now();
        const control = await runTests(copy, group, 2 * expectedOf(group));
        await write(mutated(source, mutation));
        run =
          control.outcome === 'passed'
            ? await runTests(copy, group, Math.max(expectedOf(group), Date.now() - began))
            : { outcome: 'passed', output: '' };
      }
      if (run.outcome !== 'passed') break;
    }
  } finally {
    await write(source);
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
  return tests.filter(({ ms }, index) => {
    if (index >= NEAREST && spent + ms > BUDGET) return false;
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

function expectedOf(tests: readonly TestCoverage[]): number {
  return tests.reduce((sum, { ms }) => sum + ms, 0);
}

/** @param expected milliseconds that the tests take when nothing is wrong */
function runTests(copy: Copy, tests: readonly TestCoverage[], expected: number): Promise<MochaRun> {
  const args = ['--bail', '--timeout', TEST_LIMIT, ...tests.map(({ file }) => file)];
  return runMocha(copy.directory, args, expected * SLOWER + START);
}

/** What mocha's report says of the first failure: the test's names and the message. */
function failureIn(output: string): string {
  const at = output.lastIndexOf('1) ');
  return output.slice(Math.max(at, 0)).replaceAll(/\s+/g, ' ').slice(0, 500);
}
