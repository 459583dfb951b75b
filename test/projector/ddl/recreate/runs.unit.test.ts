import { expect } from 'chai';
import { initialState } from '../../../../src/schema/model/state.js';
import type { Change } from '../../../../src/projector/ddl/change.js';
import { fieldRuns } from '../../../../src/projector/ddl/recreate/runs.js';

describe('runs of changes of fields', () => {
  it('are gathered in steps, one for each event, whatever their number in one table is', function () {
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
