import { type Resumable, runToEnd, stepsTo } from '../../src/kernel/resumable.js';
import { expect } from 'chai';
import { operations } from '../../src/schema/operations/index.js';
import {
  type Result,
  MAX_PROBLEMS,
  problemAbout,
  allOf,
  invalidProblem,
  ok,
  problemsOfEach,
  refuse,
  findRepeated,
  unknownMembers,
} from '../../src/kernel/problem.js';

describe('checking the items of a list', () => {
  it('stops after enough problems', () => {
    let read = 0;
    const result = allOf(Array(300_000).fill({}), (_, index) => {
      read++;
      return refuse(invalidProblem([index], 'is wrong'));
    });
    expect(runToEnd(result)).to.include({ ok: false });
    expect(read).to.equal(MAX_PROBLEMS);
    const looked: number[] = [];
    const problems = problemsOfEach(Array(300).keys(), (item, index) => {
      looked.push(index);
      return [invalidProblem([item], 'is wrong'), invalidProblem([item], 'is of no use')];
    });
    expect(problems).to.have.lengthOf(MAX_PROBLEMS);
    expect(looked).to.deep.equal([...Array(MAX_PROBLEMS / 2).keys()]);
  });

  it('reads all valid items', () => {
    expect(runToEnd(allOf(['a', 'b'], (item, index) => ok(`${item}${index}`)))).to.deep.equal(ok(['a0', 'b1']));
  });

  /** A list that counts how many items were read. */
  function watchList(): { list: unknown[]; looked: () => number } {
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
    it(`stops early for ${name}`, () => {
      const { list, looked } = watchList();
      expect(runToEnd(stepsTo(parse(list))).ok).to.equal(false);
      expect(looked()).to.be.within(1, MAX_PROBLEMS);
    });
  }
});

describe('a problem', () => {
  it('names the object in the schema', () => {
    const field = { kind: 'field', collection: 'a', field: 'b' } as const;
    expect(problemAbout(field, 'is wrong')).to.deep.equal({
      code: 'INVALID_PAYLOAD',
      message: 'is wrong',
      subject: field,
      collection: 'a',
      field: 'b',
    });
    const collection = { kind: 'collection', collection: 'a' } as const;
    expect(problemAbout(collection, 'is there', { code: 'ALREADY_EXISTS', details: { by: 'x' } })).to.deep.equal({
      code: 'ALREADY_EXISTS',
      message: 'is there',
      subject: collection,
      collection: 'a',
      details: { by: 'x' },
    });
  });

  it('names the location in the body', () => {
    expect(invalidProblem(['fields', 2, 'a b', 'c'], 'is wrong')).to.deep.equal({
      code: 'INVALID_PAYLOAD',
      message: 'is wrong',
      path: 'fields[2]["a b"].c',
    });
    expect(invalidProblem([], 'is wrong', { at: 7 })).to.deep.include({ path: '', details: { at: 7 } });
    expect(unknownMembers({ a: 1, b: 2, c: 3 }, new Set(['a', 'z']), ['x'])).to.deep.equal([
      invalidProblem(['x', 'b'], 'unknown member "b"; known members: a, z'),
      invalidProblem(['x', 'c'], 'unknown member "c"; known members: a, z'),
    ]);
  });

  it('lists every duplicate name', () => {
    expect(findRepeated(['a', 'b', 'a', 'c', 'b', 'a'])).to.deep.equal([2, 4, 5]);
  });
});
