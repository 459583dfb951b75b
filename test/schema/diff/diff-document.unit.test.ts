import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { readDiffDocument } from '../../../src/schema/operations/apply-diff.js';

/** `path: message` of every problem, or the result. */
function read(body: unknown) {
  const result = runToEnd(readDiffDocument(body));
  return result.ok ? result.value : result.problems.map(({ code, path }) => `${code} ${path ?? ''}`);
}

const problems = (diff: unknown) => read({ hash: 'h', diff });
const at = (...paths: string[]) => paths.map((path) => `INVALID_PAYLOAD ${path}`);
/** Problems of one entry of a collection, relative to the entry. */
const problemsOfEntry = (...entries: unknown[]) => problems({ collections: [{ collection: 'a', diff: entries }] });
const ENTRY = 'diff.collections[0].diff[0]';

describe('the body of an apply', () => {
  it('is read as sent, with missing parts empty', () => {
    const fields = [{ collection: 'a', field: 'b', diff: [{ kind: 'E', path: ['meta', 'x'], lhs: 1, rhs: 2 }] }];
    expect(read({ hash: 'h', diff: { fields }, warnings: ['x'] })).to.deep.equal({
      hash: 'h',
      diff: { collections: [], fields, relations: [] },
    });
    expect(read({ hash: 'h', diff: {} })).to.deep.equal({
      hash: 'h',
      diff: { collections: [], fields: [], relations: [] },
    });
  });

  it('may contain names whose concatenations are equal', () => {
    const diff = [{ kind: 'E', path: ['meta', 'x'], lhs: 1, rhs: 2 }];
    const [one, other] = [
      { collection: 'a', field: 'bc', diff },
      { collection: 'ab', field: 'c', diff },
    ];
    expect(problems({ fields: [one, other] })).to.deep.equal({
      hash: 'h',
      diff: { collections: [], fields: [one, other], relations: [] },
    });
    expect(problems({ fields: [one, other, one] })).to.deep.equal(at('diff.fields[2]'));
  });

  it('reports every problem at its location', () => {
    expect(read({ diff: {}, foo: 1 })).to.deep.equal(at('foo', 'hash'));
    expect(read({ foo: 1 })).to.deep.equal(at('foo', 'hash', 'diff'));
    expect(problems({ foo: 1, collections: {}, fields: 5, relations: [null] })).to.deep.equal(
      at('diff.foo', 'diff.collections', 'diff.fields', 'diff.relations[0]'),
    );
    const item = { collection: 5, related_collection: 7, foo: 1, diff: [] };
    expect(problems({ relations: [item] })).to.deep.equal(
      at(
        ...['foo', 'collection', 'field', 'related_collection', 'diff'].map((member) => `diff.relations[0].${member}`),
      ),
    );
    expect(problems({ collections: [{ collection: 'service_users', diff: 1 }] })).to.deep.equal(
      at('diff.collections[0].collection', 'diff.collections[0].diff'),
    );
    expect(
      problems({ collections: [{ collection: 'a', related_collection: 'b', diff: [{ kind: 'N', rhs: 1 }] }] }),
    ).to.deep.equal(at('diff.collections[0].related_collection'));
  });

  it('requires the members of each entry kind', () => {
    expect(problemsOfEntry(null)).to.deep.equal(at(ENTRY));
    expect(problemsOfEntry({ kind: 'X' })).to.deep.equal(at(`${ENTRY}.kind`));
    expect(problemsOfEntry({ kind: 'E', foo: 1 })).to.deep.equal(
      at(...['foo', 'path', 'lhs', 'rhs'].map((each) => `${ENTRY}.${each}`)),
    );
    expect(problemsOfEntry({ kind: 'N', lhs: 1 })).to.deep.equal(at(`${ENTRY}.lhs`, `${ENTRY}.rhs`));
    expect(problemsOfEntry({ kind: 'D', path: ['meta'] })).to.deep.equal(at(`${ENTRY}.lhs`));
    expect(problemsOfEntry({ kind: 'A' })).to.deep.equal(
      at(...['path', 'index', 'item'].map((each) => `${ENTRY}.${each}`)),
    );
    expect(problemsOfEntry({ kind: 'D', lhs: 1 })).to.have.nested.property('diff.collections[0].collection', 'a');
  });

  it('requires a path of names and indexes', () => {
    for (const path of [[], 'meta', [true], ['a', -1], ['a', 0.5], {}, null]) {
      expect(problemsOfEntry({ kind: 'N', path, rhs: 1 }), JSON.stringify(path)).to.deep.equal(at(`${ENTRY}.path`));
    }
    expect(problemsOfEntry({ kind: 'N', path: ['meta', 0], rhs: 1 })).to.have.property('hash', 'h');
  });

  it('requires an index and a nested change for array elements', () => {
    const ofElement = (index: unknown, item: unknown) => problemsOfEntry({ kind: 'A', path: ['a'], index, item });
    const valid = { kind: 'N', rhs: 1 };
    for (const index of [-1, 0.5, '0', null]) expect(ofElement(index, valid)).to.deep.equal(at(`${ENTRY}.index`));
    expect(ofElement(0, valid)).to.have.property('hash', 'h');
    expect(ofElement(0, { kind: 'D', lhs: 1 })).to.have.property('hash', 'h');
    expect(ofElement(-1, null)).to.deep.equal(at(`${ENTRY}.index`, `${ENTRY}.item`));
    expect(ofElement(0, { kind: 'E', lhs: 1, rhs: 2 })).to.deep.equal(at(`${ENTRY}.item.kind`));
    expect(ofElement(0, { kind: 'N', lhs: 1 })).to.deep.equal(at(`${ENTRY}.item.lhs`, `${ENTRY}.item.rhs`));
    expect(ofElement(0, { kind: 'D' })).to.deep.equal(at(`${ENTRY}.item.lhs`));
  });

  it('allows only one entry for a whole object', () => {
    const edit = { kind: 'E', path: ['a'], lhs: 1, rhs: 2 };
    expect(problemsOfEntry({ kind: 'N', rhs: {} }, edit)).to.deep.equal(at('diff.collections[0].diff'));
    expect(problemsOfEntry(edit, { kind: 'D', lhs: {} })).to.deep.equal(at('diff.collections[0].diff'));
    expect(problemsOfEntry(edit, { kind: 'N', path: ['b'], rhs: {} })).to.have.property('hash', 'h');
  });

  it('allows an object twice only if it is removed and added', () => {
    const gone = { collection: 'a', field: 'b', diff: [{ kind: 'D', lhs: {} }] };
    const come = { collection: 'a', field: 'b', diff: [{ kind: 'N', rhs: {} }] };
    const edited = { collection: 'a', field: 'b', diff: [{ kind: 'N', path: ['x'], rhs: 1 }] };
    expect(problems({ fields: [gone, come] })).to.have.property('hash', 'h');
    expect(problems({ fields: [come, gone] })).to.deep.equal(at('diff.fields[1]'));
    expect(problems({ fields: [gone, come, come, edited] })).to.deep.equal(at('diff.fields[2]', 'diff.fields[3]'));
    expect(problems({ fields: [gone, edited] })).to.deep.equal(at('diff.fields[1]'));
    expect(problems({ fields: [come, { ...come, field: 'c' }, { ...come, collection: 'c' }] })).to.have.property(
      'hash',
      'h',
    );
  });
});
