import { expect } from 'chai';
import fc from 'fast-check';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { readState, writeState } from '../../../src/reads/stored-folds.js';
import { fold } from '../../../src/schema/fold/evolve.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { snapshotHash, snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { transition } from '../../../src/schema/transition/transition.js';
import { schemaState } from '../../support/arbitraries.js';
import { withRelations } from '../../support/library.js';
import { limitRuns } from '../../support/runs.js';

describe('stored states', () => {
  const same = async (state: State): Promise<void> => {
    const read = await readState(await writeState(state), state.position);
    expect(runToEnd(snapshotOf(read, '1'))).to.deep.equal(runToEnd(snapshotOf(state, '1')));
    expect(runToEnd(snapshotHash(read, '1'))).to.equal(runToEnd(snapshotHash(state, '1')));
    expect(read.collections.toJS()).to.deep.equal(state.collections.toJS());
    for (const [name, node] of state.collections) {
      expect([...(read.collections.get(name)?.fields.keys() ?? [])]).to.deep.equal([...node.fields.keys()]);
    }
    expect(read.referencedBy.equals(state.referencedBy)).to.equal(true);
    expect(read.indexNames.equals(state.indexNames)).to.equal(true);
  };

  it('are equal after they were stored and read', async () => {
    await same(initialState());
    await same(withRelations());
    await fc.assert(fc.asyncProperty(schemaState, same), limitRuns(100));
  });
});

describe('folding', () => {
  it('yields the same at once and event by event, and keeps earlier states', () => {
    fc.assert(
      fc.property(schemaState, schemaState, (from, to) => {
        const events = runToEnd(transition(from, to, new Set([...from.collections.keys(), ...to.collections.keys()])));
        const placed = events.map((event, index) => ({ ...event, position: index + 1 }));
        const before = JSON.stringify(runToEnd(snapshotOf(from, '1')));
        let state = from;
        for (const event of placed) state = fold([event], state);
        expect(runToEnd(snapshotHash(fold(placed, from), '1'))).to.equal(runToEnd(snapshotHash(state, '1')));
        expect(JSON.stringify(runToEnd(snapshotOf({ ...from }, '1')))).to.equal(before);
      }),
      limitRuns(100),
    );
  });
});
