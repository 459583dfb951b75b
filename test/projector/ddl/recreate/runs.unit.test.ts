import { expect } from 'chai';
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
  return fieldRuns(changes).map((run) => run.changes.map(({ index }) => index));
}

describe('runs of field changes', () => {
  const [a, other] = [column('a', 'text'), column('u.a', 'text')];
  const wider = column('a', 'string');
  const generated = column('g', 'text', { generation_expression: 'lower(a)' });
  const state = follow(initialState(), [created('t', [a, generated]), created('u', [other])]);
  const [there, back] = [changed(a, wider), changed(wider, a)];

  it('continue across changes to other tables', () => {
    expect(runsOf(state, there, back)).to.deep.equal([[0, 1]]);
    expect(runsOf(state, there, deleted('u'), back)).to.deep.equal([[0, 2]]);
  });

  it('end at a rename, because later events use the new name', () => {
    for (const rename of [renamed('u.a', 'b'), renamed('u', 'v')])
      expect(runsOf(state, there, rename, back)).to.deep.equal([[0], [2]]);
  });
});
