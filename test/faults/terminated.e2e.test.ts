/**
 * All backends of the service are terminated repeatedly, while clients write, read, stream, schedule and prepare.
 * How many requests are scheduled and prepared depends on the machine, so only the chaos run counts them.
 */
import { expect } from 'chai';
import { chaos } from '../../scripts/chaos/run.js';

describe('a service whose backends are terminated repeatedly', function () {
  this.timeout(660_000);

  it('keeps running, and carries out everything that it acknowledged exactly once', async () => {
    const report = await chaos({
      seed: 1,
      // A limit in case the effects never occur.
      seconds: 600,
      writers: 16,
      processes: 1,
      program: 'built',
      terminate: 1_000,
      enough: (acknowledged, done) =>
        acknowledged >= 40 && ['reads answered', 'streams with events'].every((each) => done.has(each)),
    });
    // The duration of an attempt depends on the machine.
    expect(report.findings.filter((finding) => !finding.includes(': one try took'))).to.deep.equal([]);
    expect([...report.faults.keys()]).to.include.members([
      'backends terminated, all at once',
      'reads answered',
      'streams with events',
    ]);
  });
});
