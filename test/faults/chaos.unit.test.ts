/** The criteria of `npm run chaos`. */
import { expect } from 'chai';
import { faultOf } from '../../scripts/chaos/run.js';
import { outcomeUnknown } from '../../src/pipeline/transaction/commit.js';
import { type Command, type Fate, fateOf, chooseWork } from '../../scripts/chaos/writers.js';
import { createRandom } from '../../scripts/fuzz/random.js';

describe('the chaos test', () => {
  it('reports lost and repeated commands, and rejected commands that took effect', () => {
    const fault = (fate: Fate, times: number, more: Partial<Command> = {}) => {
      const command = { id: 'x', method: 'PATCH', path: '/', resolved: false, waited: 1, said: '', tries: [] };
      const batches = new Set(['first', 'second'].slice(0, times));
      return faultOf({ ...command, fate, keyed: true, position: 7, batch: 'first', ...more }, batches, 7);
    };
    expect(fault('acknowledged', 1)).to.equal(null);
    expect(fault('refused', 0)).to.equal(null);
    expect(fault('ambiguous', 1, { keyed: false })).to.equal(null);
    expect(fault('acknowledged', 0)).to.include('not in the log');
    expect(fault('acknowledged', 0, { batch: null })).to.include('a change of nothing');
    expect(fault('acknowledged', 1, { batch: 'other' })).to.include('another one');
    expect(fault('acknowledged', 2)).to.include('2 times');
    expect(fault('acknowledged', 1, { position: 6 })).to.include('goes on to 7');
    expect(fault('refused', 1)).to.include('is in the log');
    expect(fault('ambiguous', 0)).to.include('unknown');
    expect(fault('acknowledged', 1, { waited: 50_000 })).to.include('took');
  });

  it('knows the outcome of a response, unless the service itself reports it as unknown', () => {
    expect(fateOf(200, '')).to.equal('acknowledged');
    expect(fateOf(503, '{"errors":[{"message":"Nothing was changed."}]}')).to.equal('refused');
    for (const hasKey of [true, false])
      expect(fateOf(503, JSON.stringify({ errors: [outcomeUnknown(hasKey)] }))).to.equal('ambiguous');
  });

  it('sends no two commands with the same effect, because the second would change nothing', () => {
    // This seed yields the same number below a million twice, sixty draws apart.
    const random = createRandom(8);
    const sent = new Set<string>();
    for (let turn = 0; turn < 5_000; turn++) {
      const { method, body } = chooseWork({ id: `w7/${turn}`, name: 'w7', made: true }, random);
      if (method !== 'PATCH') continue;
      expect(sent).to.not.include(JSON.stringify(body));
      sent.add(JSON.stringify(body));
    }
    expect(sent.size).to.be.greaterThan(1_000);
  });
});
