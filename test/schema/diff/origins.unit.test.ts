import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { readDiffDocument } from '../../../src/schema/operations/apply-diff.js';
import { readOrigins, addOrigins } from '../../../src/schema/diff/origins.js';
import type { TrashNode } from '../../../src/schema/transition/restoring-transition.js';

const NEW = [{ kind: 'N', rhs: {} }];
const table = (more: object = {}) => ({ collection: 'a', diff: NEW, ...more });
const column = (more: object = {}) => ({ collection: 'a', field: 'b', diff: NEW, ...more });

/** `path: message` of every problem of a submitted diff. */
function faultsOf(diff: object): string[] {
  const result = runToEnd(readDiffDocument({ hash: 'h', diff }));
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

const IDENTITY = 'diff.collections[0].identity: identity must have the value that /history/diff returned';
const RESTORES = 'diff.collections[0].restores: restores must be the position of a deletion';
const NOT_NEW = 'diff.collections[0].identity: only a new object can have an identity here';

describe('the origins in a diff', () => {
  it('are identities in the format of the log', () => {
    for (const identity of ['7', '3.1', '999999999999999.999999'])
      expect(faultsOf({ collections: [table({ identity })] }), identity).to.deep.equal([]);
    for (const identity of ['', 'x', '7 ', '-7', '7.', '.7', '1.2.3', '1234567890123456', '1.1234567', 7, null, []])
      expect(faultsOf({ collections: [table({ identity })] }), String(identity)).to.deep.equal([IDENTITY]);
  });

  it('are positions of deletions', () => {
    for (const restores of [1, 7, Number.MAX_SAFE_INTEGER])
      expect(faultsOf({ collections: [table({ identity: '7', restores })] }), String(restores)).to.deep.equal([]);
    for (const restores of [0, -1, 1.5, 2 ** 53, '7', null, true])
      expect(faultsOf({ collections: [table({ identity: '7', restores })] }), String(restores)).to.deep.equal([
        RESTORES,
      ]);
    expect(faultsOf({ collections: [table({ restores: 7 })] })).to.deep.equal([IDENTITY]);
    expect(faultsOf({ collections: [table({ restores: 0 })] })).to.deep.equal([IDENTITY, RESTORES]);
  });

  it('belong to wholly new objects', () => {
    for (const diff of [
      [{ kind: 'D', lhs: {} }],
      [{ kind: 'E', path: ['meta', 'note'], lhs: 'a', rhs: 'b' }],
      [{ kind: 'N', path: ['meta', 'note'], rhs: 'b' }],
    ])
      expect(faultsOf({ collections: [table({ diff, identity: '7' })] }), JSON.stringify(diff)).to.deep.equal([
        NOT_NEW,
      ]);
    expect(faultsOf({ collections: [table({ diff: [], identity: 'x' })] })).to.include.members([IDENTITY, NOT_NEW]);
    expect(faultsOf({ collections: [table({ diff: {}, identity: '7' })] })).to.include.members([NOT_NEW]);
  });

  it('are unique per object', () => {
    const twice = (part: string, index: number) =>
      `diff.${part}[${index}].identity: another object already has this identity`;
    const other = { collection: 'c' };
    expect(
      faultsOf({ collections: [table({ identity: '7' }), table(other), table({ collection: 'd', identity: '7' })] }),
    ).to.deep.equal([twice('collections', 2)]);
    expect(
      faultsOf({
        collections: [table({ identity: '7' })],
        fields: [
          column({ identity: '7.1' }),
          column({ ...other, identity: '7' }),
          column({ field: 'x', identity: '7.1' }),
        ],
      }),
    ).to.deep.equal([twice('fields', 1), twice('fields', 2)]);
    expect(faultsOf({ collections: [table(), table(other)], fields: [column(), column(other)] })).to.deep.equal([]);
  });
});

describe('origins of restored objects', () => {
  const again = new Map([
    ['a', '7'],
    ['a\0b', '7.1'],
    ['gone', '8'],
  ]);
  const diff = {
    collections: [table(), table({ collection: 'gone', diff: [{ kind: 'D', lhs: {} }] }), table({ collection: 'c' })],
    fields: [column(), column({ field: 'other' })],
    relations: [],
  } as unknown as Parameters<typeof addOrigins>[0];
  const kept = (identity: string, position: number, more: object = {}) =>
    ({ kind: 'collection', identity, position, ...more }) as unknown as TrashNode;

  it('are set for new objects, with the trash position if there are rows', () => {
    const diffWithOrigins = addOrigins(diff, again, [kept('7', 12), kept('7.1', 13, { empty: true }), kept('8', 14)]);
    expect(diffWithOrigins.collections).to.deep.equal([
      { ...diff.collections[0], identity: '7', restores: 12 },
      diff.collections[1],
      diff.collections[2],
    ]);
    expect(diffWithOrigins.fields).to.deep.equal([{ ...diff.fields[0], identity: '7.1' }, diff.fields[1]]);
    expect([...readOrigins(diffWithOrigins)]).to.deep.equal([
      ['a', '7'],
      ['a\0b', '7.1'],
    ]);
    expect([...readOrigins(diff)]).to.deep.equal([]);
  });
});
