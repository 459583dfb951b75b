import { expect } from 'chai';
import { renamePairs, table } from './tables.js';

describe('many similar tables', () => {
  // A comparison of all pairs would exceed the time limit of the runner.
  it('are matched among ten thousand by their rare fields', () => {
    const many = (prefix: string, more: string) =>
      Array.from({ length: 10_000 }, (_, n) =>
        table(`${prefix}${n}`, `id created updated a${n} b${n} c${n} ${more}${n}`),
      );
    const pairs = renamePairs(many('old', 'x'), many('new', 'y'));
    expect(pairs).to.have.length(10_000).and.to.include('old77 → new77');
    const alike = (prefix: string, more: string) =>
      Array.from({ length: 10_000 }, (_, n) => table(`${prefix}${n}`, `id a b c ${more}${n % 2}`));
    expect(renamePairs(alike('old', 'x'), alike('new', 'y'))).to.deep.equal([]);
  });
});
