import fc from 'fast-check';
import { schemaState } from '../../support/arbitraries.js';
import { type Projected, startProjected } from '../../support/projected.js';

describe('verification after every batch (generated schemas)', () => {
  let projected: Projected;
  before(async () => {
    projected = await startProjected();
  });
  after(() => projected.stop());

  it('finds fold, metadata rows and catalog equal, from any schema to any other', async function () {
    this.timeout(300_000);
    await fc.assert(
      fc.asyncProperty(schemaState, async (target) => {
        await projected.become(target);
        await projected.expectVerified();
      }),
      { numRuns: Number(process.env['RUNS'] ?? 60), endOnFailure: true },
    );
  });
});
