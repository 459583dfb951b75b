/** Mocha's spec report with one plain line at its end, for people and machines that read only that. */
import Mocha from 'mocha';

export default class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    super.epilogue();
    const { passes, failures, pending } = this.stats;
    if (pending > 0) console.log(`${pending} skipped`);
    console.log(`${passes} passed, ${failures} failed`);
  }
}
