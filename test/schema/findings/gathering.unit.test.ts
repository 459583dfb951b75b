import { expect } from 'chai';
import { createGathering, ruleOf } from '../../../src/schema/findings/finding.js';
import type { Observation, PlannedEvent, Rule } from '../../../src/schema/findings/model.js';

const rule = ruleOf('CHAR_TYPE') as Rule;

/** For a field of `articles`, which the batch creates or not. */
const plannedField = (field: string, isNew: boolean): PlannedEvent =>
  ({ event: { collection: 'articles', field }, index: 0, batch: { isNew: () => isNew } }) as unknown as PlannedEvent;

function gatherAll(isNew: boolean, ...messages: [field: string, observed: Observation][]) {
  const gathering = createGathering();
  for (const [field, observed] of messages) gathering.add(rule, observed, plannedField(field, isNew));
  return gathering
    .findings()
    .map(({ field, object, message }) => [field, object?.kind, object?.name, message].filter(Boolean).join(' '));
}

describe('combining findings', () => {
  const object = { kind: 'index', name: 'i' };

  it('merges findings with the same code and reason', () => {
    expect(gatherAll(false, ['a', { message: 'm' }], ['a', { message: 'm' }])).to.deep.equal(['a m']);
  });

  it('keeps those with another field, object or message', () => {
    expect(
      gatherAll(
        false,
        ['a', { message: 'm' }],
        ['b', { message: 'm' }],
        ['a', { message: 'n' }],
        ['a', { message: 'm', object }],
        ['a', { message: 'm', object: { ...object, kind: 'constraint' } }],
        ['a', { message: 'm', object: { ...object, name: 'j' } }],
      ),
    ).to.deep.equal(['a m', 'b m', 'a n', 'a index i m', 'a constraint i m', 'a index j m']);
  });

  it('merges notes about new objects and names each once', () => {
    const note: Observation = { message: 'm', level: 'note' };
    expect(gatherAll(true, ['a', note], ['a', note])).to.deep.equal(['a m']);
    expect(gatherAll(true, ['a', note], ['b', note], ['b', note])).to.deep.equal(['a m; also applies to articles.b']);
    const warned: Observation = { message: 'm', level: 'warn' };
    expect(gatherAll(true, ['a', warned], ['a', warned])).to.deep.equal(['a m', 'a m']);
  });
});
