/** Mocha's spec report with one plain summary line at its end. */
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

export default class Reporter extends Mocha.reporters.Spec {
  /** Milliseconds of the tests and hooks of each file. */
  readonly #durations: Record<string, number> = {};

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const add = ({ file, duration }: Mocha.Runnable): void => {
      if (file !== undefined) this.#durations[file] = (this.#durations[file] ?? 0) + (duration ?? 0);
    };
    runner.on('test end', add);
    runner.on('hook end', add);
  }

  override epilogue(): void {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const totals = process.env['TEST_TOTALS'];
    // For several runs, the caller adds up the numbers.
    if (totals !== undefined)
      return writeFileSync(
        totals,
        JSON.stringify({ passes, failures, pending, failed: failed(this), durations: this.#durations }),
      );
    if (pending > 0) console.log(`${pending} skipped`);
    console.log(`${passes} passed, ${failures} failed`);
  }
}

/** The failures, repeated at the end of a run with several parts. */
function failed({ failures }: Mocha.reporters.Spec): string[] {
  const { Base } = Mocha.reporters;
  return failures.map((test) => {
    const error: Partial<Error & { actual: unknown; expected: unknown }> = test.err ?? {};
    const { actual, expected } = error;
    const diff = typeof actual === 'string' && typeof expected === 'string' ? Base.generateDiff(actual, expected) : '';
    return `${test.fullTitle()}\n${error.stack ?? error.message}${diff}`;
  });
}
