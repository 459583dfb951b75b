import { expect } from 'chai';
import { answeredFinding } from '../support/answered.js';
import { type DiffDocument, describeDiff, describeWarning, isEmpty } from '../../src/cli/planned-changes.js';

const document = (diff: Partial<DiffDocument['diff']>, warnings?: DiffDocument['warnings']): DiffDocument => ({
  hash: '',
  diff: { collections: [], fields: [], relations: [], ...diff },
  ...(warnings && { warnings }),
});

const edit = (...path: (string | number)[]) => ({ kind: 'E' as const, path, lhs: 1, rhs: 2 });

describe('a diff as text', () => {
  it('has one line for each entry and warning', () => {
    expect(
      describeDiff(
        document(
          {
            collections: [
              { collection: 'new', diff: [{ kind: 'N', rhs: {} }] },
              { collection: 'old', diff: [{ kind: 'D', path: [], lhs: {} }] },
            ],
            fields: [{ collection: 'a', field: 'b', diff: [edit('meta', 'note'), edit('type'), edit('meta', 'note')] }],
            relations: [{ collection: 'a', field: 'c\n', related_collection: 'd', diff: [{ kind: 'N', rhs: {} }] }],
            objects: [
              { kind: 'view', id: 'v', diff: [edit('definition')] },
              { kind: 'materialized_view', id: 'x\n', diff: [{ kind: 'D', lhs: {} }] },
            ],
          },
          [
            answeredFinding({ code: 'A', message: 'first' }),
            answeredFinding({ code: 'B', collection: 'a', field: 'b', message: 'second\u001b', action: 'refuse' }),
          ],
        ),
      ).split('\n'),
    ).to.deep.equal([
      '+ collection new',
      '- collection old',
      '~ field a.b: meta.note, type',
      String.raw`+ relation a.c\n`,
      '~ view v: definition',
      String.raw`- materialized view x\n`,
      '! A: first',
      String.raw`! B a.b: second\u001b; the policy rejects it`,
    ]);
    expect(describeDiff(document({}))).to.equal('No differences.');
    expect(describeWarning({ code: 'A', collection: 'a', message: 'm' })).to.equal('A a: m');
  });

  it('is empty if it has no entries', () => {
    expect(isEmpty(document({ objects: [{ kind: 'view', id: 'v', diff: [edit('comment')] }] }))).to.equal(false);
    expect(isEmpty(document({}, [answeredFinding({ code: 'A', message: 'a' })]))).to.equal(true);
    for (const part of ['collections', 'fields', 'relations'] as const) {
      expect(isEmpty(document({ [part]: [{ collection: 'a', diff: [] }] })), part).to.equal(false);
    }
  });
});
