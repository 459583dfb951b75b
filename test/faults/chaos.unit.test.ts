/** What `npm run chaos` takes for a finding. */
import { expect } from 'chai';
import { faultOf } from '../../scripts/chaos/run.js';
import type { Command, Fate } from '../../scripts/chaos/writers.js';

describe('chaos', () => {
  it('takes a command for broken that was lost, doubled, or done although it was refused', () => {
    const fault = (fate: Fate, times: number, more: Partial<Command> = {}) => {
      const command = { id: 'x', method: 'PATCH', path: '/', resolved: false, waited: 1, said: '', tries: [] };
      return faultOf({ ...command, fate, keyed: true, position: 7, ...more }, times, 7);
    };
    expect(fault('acknowledged', 1)).to.equal(null);
    expect(fault('refused', 0)).to.equal(null);
    expect(fault('ambiguous', 1, { keyed: false })).to.equal(null);
    expect(fault('acknowledged', 0)).to.include('not in the log');
    expect(fault('acknowledged', 2)).to.include('2 times');
    expect(fault('acknowledged', 1, { position: 6 })).to.include('goes on to 7');
    expect(fault('refused', 1)).to.include('is in the log');
    expect(fault('ambiguous', 0)).to.include('unknown');
    expect(fault('acknowledged', 1, { waited: 50_000 })).to.include('took');
  });
});
