import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { similarTables } from '../../../src/schema/compare/similar-tables.js';

const table = (name: string, fields: string) => ({ name, fields: new Set(fields.split(' ')) });
const found = (gone: ReturnType<typeof table>[], come: ReturnType<typeof table>[]) =>
  runToEnd(similarTables(gone, come)).map((pair) => pair.join(' → '));

describe('tables that look like others', () => {
  it('have more than half of the fields of the larger one', () => {
    const articles = table('articles', 'id title body author');
    expect(found([articles], [table('posts', 'id title body writer')])).to.deep.equal(['articles → posts']);
    expect(found([articles], [table('posts', 'id title body author lead image')])).to.deep.equal(['articles → posts']);
    expect(found([articles], [table('posts', 'id title lead image')])).to.deep.equal([]);
    expect(found([articles], [table('posts', 'id title body author a b c d')])).to.deep.equal([]);
    expect(found([], [articles])).to.deep.equal([]);
    expect(found([articles], [])).to.deep.equal([]);
  });

  it('are told where neither has another that is as like', () => {
    const gone = [table('articles', 'id title body author'), table('pages', 'id title body slug')];
    const come = [table('posts', 'id title body author lead'), table('sites', 'id title body slug layout')];
    expect(found(gone, come)).to.deep.equal(['articles → posts', 'pages → sites']);
    expect(found([gone[0]!, table('notes', 'id title body author')], come)).to.deep.equal([]);
    expect(found(gone, [come[0]!, table('news', 'id title body author at')])).to.deep.equal([]);
    // The better one counts.
    expect(found([gone[0]!, table('notes', 'id title body author lead')], [come[0]!])).to.deep.equal(['notes → posts']);
  });

  it('are found among ten thousand, by what few of them have', () => {
    const many = (prefix: string, more: string) =>
      Array.from({ length: 10_000 }, (_, n) =>
        table(`${prefix}${n}`, `id created updated a${n} b${n} c${n} ${more}${n}`),
      );
    const started = performance.now();
    const pairs = found(many('old', 'x'), many('new', 'y'));
    expect(pairs).to.have.length(10_000).and.to.include('old77 → new77');
    const alike = (prefix: string, more: string) =>
      Array.from({ length: 10_000 }, (_, n) => table(`${prefix}${n}`, `id a b c ${more}${n % 2}`));
    expect(found(alike('old', 'x'), alike('new', 'y'))).to.deep.equal([]);
    // Far from what looking at all pairs would take.
    expect(performance.now() - started).to.be.below(10_000);
  });
});
