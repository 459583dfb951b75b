/** Mocha's spec report with one plain line at its end, for people and machines that read only that. */
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

export default class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    const totals = process.env['TEST_TOTALS'];
    // Of several runs, their caller adds the numbers up.
    if (totals !== undefined) return writeFileSync(totals, JSON.stringify({ passes, failures, pending }));
    if (pending > 0) console.log(`${pending} skipped`);
    console.log(`${passes} passed, ${failures} failed`);
  }
}
