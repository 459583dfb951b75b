/** Runs the tests on a mutation to see whether one detects it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Copy, asScript, buildOne } from './copy.js';
import { type TestCoverage, opensNoSocket } from './coverage.js';
import { type Mutation, mutated } from './mutations.js';
import { type MochaRun, runMocha } from './processes.js';

type Outcome = 'killed' | 'timeout' | 'survived';

export interface Verdict {
  mutation: Mutation;
  outcome: Outcome;
  /** The test that detected it, and how. */
  by: string;
  tests: number;
  /** Test files that also fail without the mutation. */
  unsound: string[];
  ms: number;
}

/** The nearest tests always run. Others run while they fit into this time (milliseconds). */
const BUDGET = 120_000;
const NEAREST = 6;
/** Limits for a busy machine: per test, and for a run a multiple of its earlier duration plus a minute. */
const TEST_LIMIT = '90000';
const SLOWER = 6;
const START = 60_000;
/** Messages of timeouts and of missing resources. */
const WAITED = /Timeout of \d+ ?ms|not within \d+ ?ms|fetch failed|ECONNRE|Connection terminated|LOCK_TIMEOUT/;

/** Test files that have run without any mutation since the start, and whether they pass. */
export type Soundness = Map<string, Promise<boolean>>;

/** Runs the tests, unit tests first, until one fails. Restores the copy afterwards. */
export async function tryMutation(
  copy: Copy,
  mutation: Mutation,
  { tests, soundness }: { tests: readonly TestCoverage[]; soundness: Soundness },
): Promise<Verdict> {
  const path = join(copy.directory, mutation.file);
  const source = await readFile(path, 'utf8');
  const write = async (text: string): Promise<void> => {
    await writeFile(path, text);
    await buildOne(copy.directory, mutation.file);
  };
  const unsound: string[] = [];
  /** The result of the same tests without the change, at about the same time. */
  const control = async (group: readonly TestCoverage[]): Promise<{ passes: boolean; ms: number }> => {
    await write(source);
    const began = Date.now();
    const { outcome } = await runTests(copy, group, 2 * expectedOf(group));
    await write(mutated(source, mutation));
    if (outcome !== 'passed') unsound.push(...group.map(({ file }) => file));
    return { passes: outcome === 'passed', ms: Date.now() - began };
  };
  const judge = async (group: readonly TestCoverage[]): Promise<MochaRun> => {
    const run = group.length === 0 ? PASSED : await runTests(copy, group, expectedOf(group));
    if (run.outcome === 'passed') return run;
    const failure = failureIn(run.output);
    const noticed = run.outcome === 'failed' ? group.filter(({ file }) => failure.includes(asScript(file))) : [];
    const hasWaited = run.outcome === 'timeout' || WAITED.test(failure);
    const suspects = hasWaited && noticed.length === 0 ? group : noticed;
    const confirmed = hasWaited ? await runAgain(suspects) : (await areSound(noticed)) ? run : PASSED;
    if (confirmed.outcome !== 'passed') return confirmed;
    return judge(group.filter((each) => !suspects.includes(each)));
  };
  /**
   * On a busy machine a test may time out. If it passes without the change at the same time, it detected the change.
   */
  const runAgain = async (group: readonly TestCoverage[]): Promise<MochaRun> => {
    const { passes, ms } = await control(group);
    return passes ? runTests(copy, group, Math.max(expectedOf(group), ms)) : PASSED;
  };
  /** A test that always fails detects nothing. */
  const areSound = async (noticed: readonly TestCoverage[]): Promise<boolean> => {
    for (const test of noticed) {
      const sound = soundness.get(test.file) ?? control([test]).then(({ passes }) => passes);
      soundness.set(test.file, sound);
      if (!(await sound)) return false;
    }
    return true;
  };

  const since = Date.now();
  const chosen = limitToBudget(tests);
  let run = PASSED;
  try {
    await write(mutated(source, mutation));
    for (const group of groupIntoRuns(chosen)) {
      run = await judge(group);
      if (run.outcome !== 'passed') break;
    }
  } finally {
    await write(source);
  }
  const outcome = { passed: 'survived', failed: 'killed', timeout: 'timeout' } as const;
  return {
    mutation,
    outcome: outcome[run.outcome],
    by: run.outcome === 'failed' ? failureIn(run.output).slice(0, 500) : '',
    tests: chosen.length,
    unsound,
    ms: Date.now() - since,
  };
}

const PASSED: MochaRun = { outcome: 'passed', output: '' };

function limitToBudget(tests: readonly TestCoverage[]): TestCoverage[] {
  let spent = 0;
  return tests.filter(({ ms }, index) => {
    if (index < NEAREST) return true;
    if (spent + ms > BUDGET) return false;
    spent += ms;
    return true;
  });
}

/** Groups: unit tests, a few others, the rest. Each run costs a start. */
function groupIntoRuns(tests: readonly TestCoverage[]): TestCoverage[][] {
  const unit = tests.filter(({ file }) => opensNoSocket(file));
  const others = tests.filter((each) => !unit.includes(each));
  return [unit, others.slice(0, 4), others.slice(4)].filter((group) => group.length > 0);
}

function expectedOf(tests: readonly TestCoverage[]): number {
  return tests.reduce((sum, { ms }) => sum + ms, 0);
}

/** @param expected milliseconds that the tests normally take */
function runTests(copy: Copy, tests: readonly TestCoverage[], expected: number): Promise<MochaRun> {
  const args = ['--bail', '--timeout', TEST_LIMIT, ...tests.map(({ file }) => file)];
  return runMocha(copy.directory, args, expected * SLOWER + START);
}

/** The first failure of mocha's report: the test's titles and the message. */
function failureIn(output: string): string {
  const at = output.lastIndexOf('1) ');
  return output.slice(Math.max(at, 0)).replaceAll(/\s+/g, ' ');
}
