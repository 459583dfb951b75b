import { expect } from 'chai';
import { type Locations, documentLocation, locate, stepsIn } from '../../src/kernel/locate.js';
import type { Problem, Subject } from '../../src/kernel/problem.js';

const about = (subject: Subject, more: Partial<Problem> = {}): Problem => ({
  code: 'INVALID_PAYLOAD',
  message: 'is wrong',
  subject,
  ...more,
});

/** `a` has its own document, and its field `b` and the relation of `b` have theirs. */
const places: Locations = {
  collection: (collection) =>
    collection === 'a' ? documentLocation(['collections', 0], { meta: { sort: 1 } }) : undefined,
  field: (_collection, field) => (field === 'b' ? documentLocation(['fields', 2], { schema: { x: [1] } }) : undefined),
  relation: (_collection, field) => (field === 'c' ? documentLocation(['relations', 1], {}) : undefined),
};
const path = (subject: Subject): string | undefined => locate(about(subject), places).path;

describe('the location of a problem', () => {
  it('is that of the member, or of the first missing one on its path', () => {
    const field = { kind: 'field', collection: 'a', field: 'b' } as const;
    expect(path({ ...field, member: ['schema', 'x', 0] })).to.equal('fields[2].schema.x[0]');
    expect(path({ ...field, member: ['schema', 'x', 1] })).to.equal('fields[2].schema.x');
    expect(path({ ...field, member: ['schema', 'y', 'z'] })).to.equal('fields[2].schema.y');
    expect(path({ ...field, member: ['meta'] })).to.equal('fields[2].meta');
    expect(path(field)).to.equal('fields[2]');
    expect(path({ kind: 'collection', collection: 'a', member: ['meta', 'sort'] })).to.equal(
      'collections[0].meta.sort',
    );
    expect(path({ kind: 'relation', collection: 'a', field: 'c', member: ['schema'] })).to.equal('relations[1].schema');
  });

  it('is that of the nearest parent if the body has no such member', () => {
    expect(path({ kind: 'field', collection: 'a', field: 'z', member: ['schema'] })).to.equal('collections[0]');
    expect(path({ kind: 'relation', collection: 'a', field: 'b', member: ['schema'] })).to.equal('fields[2]');
    expect(path({ kind: 'relation', collection: 'a', field: 'z' })).to.equal('collections[0]');
    expect(path({ kind: 'index', collection: 'a', name: 'i' })).to.equal('collections[0]');
  });

  it('is left out if the body has none, and kept if it is already set', () => {
    expect(locate(about({ kind: 'field', collection: 'z', field: 'z' }), places)).not.to.have.property('path');
    expect(locate(about({ kind: 'collection', collection: 'a' }), {})).not.to.have.property('path');
    expect(locate(about({ kind: 'collection', collection: 'a' }, { path: 'x' }), places).path).to.equal('x');
    const bare: Problem = { code: 'NOT_FOUND', message: 'is not there' };
    expect(locate(bare, places)).to.equal(bare);
  });
});

describe('steps into a document', () => {
  const CASES: [document: unknown, path: (string | number)[], steps: (string | number)[]][] = [
    [{ a: { b: 1 } }, ['a', 'b'], ['a', 'b']],
    [{ a: { b: 1 } }, ['a', 'b', 'c'], ['a', 'b']],
    [{ a: null }, ['a', 'b'], ['a']],
    [{}, ['a', 'b'], ['a']],
    [[1], [0], [0]],
    [[1], [1], []],
    [{ a: [] }, ['a', 0, 'b'], ['a']],
    ['text', ['length'], []],
    [{}, ['toString'], ['toString']],
    [{}, [], []],
  ];
  for (const [document, input, steps] of CASES) {
    it(`lead from ${JSON.stringify(input)} of ${JSON.stringify(document)} to ${JSON.stringify(steps)}`, () => {
      expect(stepsIn(document, input)).to.deep.equal(steps);
    });
  }
});
