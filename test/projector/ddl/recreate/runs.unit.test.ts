import { expect } from 'chai';
import { runToEnd } from '../../../../src/kernel/resumable.js';
import type { NewEvent } from '../../../../src/schema/model/events.js';
import { type State, initialState } from '../../../../src/schema/model/state.js';
import type { Change } from '../../../../src/projector/ddl/step.js';
import { fieldRuns } from '../../../../src/projector/ddl/recreate.js';
import { follow } from '../../../support/given.js';
import { changed, column, created, deleted, renamed } from '../../columns.js';

/** The runs of events with the states around them, as event numbers. */
function runsOf(start: State, ...events: NewEvent[]): number[][] {
  let state = start;
  const changes = events.map((event, index): Change => {
    const before = state;
    state = follow(state, [event]);
    return { event, index, before, after: state } as Change;
  });
  return runToEnd(fieldRuns(changes)).map((run) => run.changes.map(({ index }) => index));
}

describe('runs of field changes', () => {
  const [a, other] = [column('a', 'text'), column('u.a', 'text')];
  const wider = column('a', 'string');
  const generated = column('g', 'text', { generation_expression: 'lower(a)' });
  const state = follow(initialState(), [created('t', [a, generated]), created('u', [other])]);
  const [there, back] = [changed(a, wider), changed(wider, a)];

  it('continue beside changes of other tables', () => {
    expect(runsOf(state, there, back)).to.deep.equal([[0, 1]]);
    expect(runsOf(state, there, deleted('u'), back)).to.deep.equal([[0, 2]]);
  });

  it('end at a rename, because later events use the new name', () => {
    for (const rename of [renamed('u.a', 'b'), renamed('u', 'v')])
      expect(runsOf(state, there, rename, back)).to.deep.equal([[0], [2]]);
  });

  it('are collected in one step per event', function () {
    this.timeout(20_000);
    const COUNT = 200_000;
    const state = initialState();
    const event = { type: 'field.updated', collection: 't', field: 'f', data: { patch: [] } };
    const changes = Array.from({ length: COUNT }, (_, index) => ({ event, index, before: state, after: state }));
    const steps = fieldRuns(changes as unknown as Change[]);
    let taken = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) taken += 1;
    expect(step.value).to.deep.equal([]);
    expect(taken).to.be.at.least(COUNT);
  });
});
