import { expect } from 'chai';
import {
  missingCollection,
  createNoFieldsProblem,
  systemCollection,
} from '../../../src/schema/operations/operation.js';
import type { OperationName } from '../../../src/schema/operations/index.js';
import { initialState } from '../../../src/schema/model/state.js';
import { parsed } from '../../support/given.js';

function problemsOf(name: OperationName, input: object): string[] {
  const result = parsed(name, input as never);
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe('a repeated name in a body', () => {
  it('must equal the path of a field, in either location', () => {
    const update = (body: unknown) =>
      problemsOf('update-fields', { collection: 'a', field: 'b', body, concurrentIndexes: false });
    expect(update({ collection: 'a', field: 'b' })).to.deep.equal([]);
    expect(update({ meta: {} })).to.deep.equal([]);
    expect(update({ collection: 'x', field: 'y' })).to.have.lengthOf(2);
    expect(update({ field: 'y' })[0]).to.match(/^field: /);
    expect(update([])).to.deep.equal([': the body must be an object with the members to change']);
  });

  it('is rejected with its index among several fields', () => {
    const update = (body: unknown) => problemsOf('update-fields', { collection: 'a', body, concurrentIndexes: false });
    expect(update([{ field: 'b' }, { field: 'c' }])).to.deep.equal([]);
    expect(update({})).to.deep.equal([
      ': the body must be an array of fields, each with its name and the members to change',
    ]);
    expect(
      update(['x', {}, { field: 5 }, { field: 'b', collection: 'x' }]).map((text) => text.split(':')[0]),
    ).to.deep.equal(['[0]', '[1].field', '[2].field', '[3].collection']);
    const twice = update([{ field: 'b' }, { field: 'c' }, { field: 'b' }]);
    expect(twice).to.have.lengthOf(1);
    expect(twice[0]).to.match(/^\[2\].*"b"/);
  });

  it('must be the many side of a relation', () => {
    const update = (body: unknown) => problemsOf('update-relation', { collection: 'a', field: 'b', body });
    const keeps = (member: string, now: string) =>
      `${member}: the many side of a relation cannot change. It is "${now}"; delete the relation and create another`;
    expect(update({ many_collection: 'a', many_field: 'b', collection: 'a', field: 'b' })).to.deep.equal([]);
    expect(update({ many_collection: 'x', field: 'y' })).to.deep.equal([
      keeps('many_collection', 'a'),
      keeps('field', 'b'),
    ]);
    expect(update({ collection: 'x', many_field: 'y' })).to.deep.equal([
      keeps('collection', 'a'),
      keeps('many_field', 'b'),
    ]);
    expect(update(null)).to.deep.equal([': the body must be an object with the members to change']);
    expect(update({ one_field: null })).to.deep.equal([]);
  });
});

describe('the error about a missing collection', () => {
  it('depends on its owner', () => {
    expect(missingCollection(initialState(), 'a')).to.deep.equal({
      code: 'NOT_FOUND',
      message: 'collection "a" does not exist',
      collection: 'a',
    });
    expect(systemCollection('a')).to.equal(undefined);
    expect(systemCollection('service_users')).to.include({ code: 'FORBIDDEN', collection: 'service_users' });
    expect(createNoFieldsProblem(initialState(), 'a')).to.deep.equal(missingCollection(initialState(), 'a'));
    expect(createNoFieldsProblem(initialState(), 'service_users')).to.deep.equal({
      code: 'NOT_FOUND',
      message: '"service_users" belongs to the service, which does not show its fields and relations',
      collection: 'service_users',
    });
  });
});
