/** Indexes that are asked to be built after the commit: what the event of a field says of its own. */
import { expect } from 'chai';
import { attempt } from '../../support/given.js';
import { KEY, column, stateOf } from '../invariants/states.js';

const STATE = stateOf({ a: { fields: [KEY, column('plain'), column('indexed', 'integer', { is_indexed: true })] } });

/** Whether the field's event leaves its index to be built afterwards. */
function laterBy(operation: 'create-field' | 'update-fields', input: object, concurrentIndexes: boolean): boolean {
  const decided = attempt(STATE, operation, { collection: 'a', concurrentIndexes, ...input } as never);
  if (!decided.ok) throw new Error(JSON.stringify(decided.problems));
  expect(decided.value).to.have.length(1);
  return decided.value.every(({ data }) => 'concurrent_indexes' in data && data.concurrent_indexes === true);
}

const updated = (field: string, schema: object, concurrent = true) =>
  laterBy('update-fields', { field, body: { schema } }, concurrent);
const created = (schema: object, concurrent = true) =>
  laterBy('create-field', { body: { ...column('new'), schema } }, concurrent);

describe('an index that is asked to be built later', () => {
  it('is one that is new, of a new field or of one that was there', () => {
    expect(created({ is_indexed: true })).to.equal(true);
    expect(updated('plain', { is_indexed: true })).to.equal(true);
  });

  it('is none that is there already, that goes or that nobody wants', () => {
    expect(created({})).to.equal(false);
    expect(updated('plain', { comment: 'x' })).to.equal(false);
    expect(updated('indexed', { comment: 'x' })).to.equal(false);
    expect(updated('indexed', { is_indexed: false })).to.equal(false);
  });

  it('is built at once where that was not asked for', () => {
    expect(created({ is_indexed: true }, false)).to.equal(false);
    expect(updated('plain', { is_indexed: true }, false)).to.equal(false);
  });
});
