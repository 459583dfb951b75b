import { expect } from 'chai';
import fc from 'fast-check';
import { createShown, type ChangedBatch } from '../../../src/reads/history/changes.js';

const MOST = 2_000;

const batchOf = (documents: number, index: number): ChangedBatch => {
  const collections = Array.from({ length: documents }, () => ({ before: null, after: null }));
  const changes = documents > MOST ? null : { collections, fields: [], relations: [] };
  return { first_position: index, changes } as unknown as ChangedBatch;
};
const countOf = ({ changes }: ChangedBatch): number => changes?.collections.length ?? 0;
const sum = (batches: readonly ChangedBatch[]): number => batches.reduce((all, each) => all + countOf(each), 0);

describe('the page of changes', () => {
  const counts = fc.array(fc.oneof(fc.nat(3), fc.nat(2_500)), { maxLength: 12 });

  it('fills up from the first one, and the rest is not read', () => {
    fc.assert(
      fc.property(counts, (documents) => {
        const all = documents.map(batchOf);
        const shown = createShown('asc');
        const looked = all.findIndex((batch) => !shown.add(batch));
        const fitting = all.filter((_, index) => sum(all.slice(0, index + 1)) <= MOST);
        expect(shown.batches).to.deep.equal(fitting);
        expect(looked).to.equal(fitting.length === all.length ? -1 : fitting.length);
      }),
    );
  });

  it('fills up backward from the last one within bounded memory', () => {
    fc.assert(
      fc.property(counts, (documents) => {
        const all = documents.map(batchOf);
        const shown = createShown('desc');
        for (const batch of all) {
          expect(shown.add(batch)).to.equal(true);
          expect(sum(shown.batches)).to.be.at.most(MOST);
        }
        expect(shown.batches).to.deep.equal(all.filter((_, index) => sum(all.slice(index)) <= MOST));
      }),
    );
  });

  it('is full at its limit, and one more document exceeds it', () => {
    for (const order of ['asc', 'desc'] as const) {
      for (const [documents, positions] of [
        [
          [1_000, 1_000],
          [0, 1],
        ],
        [[1_000, 1_001], order === 'asc' ? [0] : [1]],
        [[2_000], [0]],
        [
          [2_001, 2_000],
          [0, 1],
        ],
      ] as const) {
        const shown = createShown(order);
        documents.map(batchOf).every((batch) => shown.add(batch));
        expect(
          shown.batches.map(({ first_position }) => first_position),
          order,
        ).to.deep.equal(positions);
      }
    }
  });
});
