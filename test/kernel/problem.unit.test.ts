import { type Resumable, runToEnd, stepsTo } from '../../src/kernel/resumable.js';
import { expect } from 'chai';
import { operations } from '../../src/schema/operations/index.js';
import { type Result, MAX_PROBLEMS, allOf, invalid, ok, refuse } from '../../src/kernel/problem.js';

describe('the items of a list', () => {
  it('are read until there are enough problems, and no further', () => {
    let read = 0;
    const result = allOf(Array(300_000).fill({}), (_, index) => {
      read++;
      return refuse(invalid([index], 'is wrong'));
    });
    expect(runToEnd(result)).to.include({ ok: false });
    expect(read).to.equal(MAX_PROBLEMS);
  });

  it('are all read when they are right', () => {
    expect(runToEnd(allOf(['a', 'b'], (item, index) => ok(`${item}${index}`)))).to.deep.equal(ok(['a0', 'b1']));
  });

  /** A list that tells how many of its items were looked at. */
  function watched(): { list: unknown[]; looked: () => number } {
    let looked = 0;
    const list = Array.from({ length: 1000 }, () => ({}));
    for (const index of list.keys()) {
      Object.defineProperty(list, index, { get: () => ((looked += 1), {}), enumerable: true });
    }
    return { list, looked: () => looked };
  }

  for (const [name, parse] of [
    ['create-collections', (list) => operations['create-collections'].parse({ body: list, concurrentIndexes: false })],
    ['update-collections', (list) => operations['update-collections'].parse({ body: list })],
    [
      'update-fields',
      (list) => operations['update-fields'].parse({ collection: 'a', body: list, concurrentIndexes: false }),
    ],
    [
      'create-collection',
      (list) =>
        operations['create-collection'].parse({
          body: { collection: 'a', schema: {}, fields: list },
          concurrentIndexes: false,
        }),
    ],
  ] as [string, (list: unknown[]) => Result<object> | Resumable<Result<object>>][]) {
    it(`of ${name} among them`, () => {
      const { list, looked } = watched();
      expect(runToEnd(stepsTo(parse(list))).ok).to.equal(false);
      expect(looked()).to.be.within(1, MAX_PROBLEMS);
    });
  }
});
