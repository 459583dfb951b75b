import { expect } from 'chai';
import { attempt } from '../../support/given.js';
import { KEY, column, stateOf } from '../invariants/states.js';

const STATE = stateOf({ a: { fields: [KEY, column('plain'), column('indexed', 'integer', { is_indexed: true })] } });

/** Checks whether the field's event defers its index. */
function defersIndex(operation: 'create-field' | 'update-fields', input: object, concurrentIndexes: boolean): boolean {
  const decided = attempt(STATE, operation, { collection: 'a', concurrentIndexes, ...input } as never);
  if (!decided.ok) throw new Error(JSON.stringify(decided.problems));
  expect(decided.value).to.have.length(1);
  return decided.value.every(({ data }) => 'concurrent_indexes' in data && data.concurrent_indexes === true);
}

const updated = (field: string, schema: object, concurrent = true) =>
  defersIndex('update-fields', { field, body: { schema } }, concurrent);
const created = (schema: object, concurrent = true) =>
  defersIndex('create-field', { body: { ...column('new'), schema } }, concurrent);

describe('a deferred index', () => {
  it('can belong to a new or an existing field', () => {
    expect(created({ is_indexed: true })).to.equal(true);
    expect(updated('plain', { is_indexed: true })).to.equal(true);
  });

  it('cannot be one that exists, is dropped or was not requested', () => {
    expect(created({})).to.equal(false);
    expect(updated('plain', { comment: 'x' })).to.equal(false);
    expect(updated('indexed', { comment: 'x' })).to.equal(false);
    expect(updated('indexed', { is_indexed: false })).to.equal(false);
  });

  it('is built immediately without a request', () => {
    expect(created({ is_indexed: true }, false)).to.equal(false);
    expect(updated('plain', { is_indexed: true }, false)).to.equal(false);
  });
});
