import { expect } from 'chai';
import { renamePairs, table } from './tables.js';

describe('similar tables', () => {
  it("share more than half of the larger one's fields", () => {
    const articles = table('articles', 'id title body author');
    expect(renamePairs([articles], [table('posts', 'id title body writer')])).to.deep.equal(['articles → posts']);
    expect(renamePairs([articles], [table('posts', 'id title body author lead image')])).to.deep.equal([
      'articles → posts',
    ]);
    expect(renamePairs([articles], [table('posts', 'id title lead image')])).to.deep.equal([]);
    expect(renamePairs([articles], [table('posts', 'id title body author a b c d')])).to.deep.equal([]);
    expect(renamePairs([], [articles])).to.deep.equal([]);
    expect(renamePairs([articles], [])).to.deep.equal([]);
  });

  it('match only if neither has another equally similar one', () => {
    const gone = [table('articles', 'id title body author'), table('pages', 'id title body slug')];
    const come = [table('posts', 'id title body author lead'), table('sites', 'id title body slug layout')];
    expect(renamePairs(gone, come)).to.deep.equal(['articles → posts', 'pages → sites']);
    expect(renamePairs([gone[0]!, table('notes', 'id title body author')], come)).to.deep.equal([]);
    expect(renamePairs(gone, [come[0]!, table('news', 'id title body author at')])).to.deep.equal([]);
    // The better match is selected.
    expect(renamePairs([gone[0]!, table('notes', 'id title body author lead')], [come[0]!])).to.deep.equal([
      'notes → posts',
    ]);
  });
});
