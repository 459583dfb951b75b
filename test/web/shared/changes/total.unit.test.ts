import { expect } from 'chai';
import { type CountedChange, countChanges, dropContents, totalText } from '../../../../src/web/shared/changes/total.js';

const change = (part: CountedChange['part'], name: string, mark: CountedChange['mark']): CountedChange => {
  const [collection = '', field = null] = name.split('.');
  return { part, collection, field, kind: part === 'objects' ? 'view' : null, mark };
};

describe('the number of changes', () => {
  it('counts new, restored and deleted collections together with their content', () => {
    const changes = (['made', 'restored', 'removed'] as const).flatMap((mark) => [
      change('collections', mark, mark),
      change('fields', `${mark}.title`, mark),
      change('relations', `${mark}.author`, mark),
    ]);
    expect(dropContents(changes).map(({ part }) => part)).to.deep.equal(['collections', 'collections', 'collections']);
    expect(totalText(changes)).to.equal('3 changes in 3 collections');
  });

  it('counts changed and renamed collections, and each changed object in them', () => {
    const changes = [
      change('collections', 'posts', 'renamed'),
      change('fields', 'posts.title', 'changed'),
      change('fields', 'posts.author', 'made'),
      change('relations', 'posts.author', 'made'),
    ];
    expect(totalText(changes)).to.equal('4 changes in 1 collection');
  });

  it('counts an object that replaces another one twice, and an object that was loaded in two parts once', () => {
    const replaced = [change('fields', 'posts.title', 'removed'), change('fields', 'posts.title', 'made')];
    expect(countChanges(replaced)).to.equal(2);
    expect(countChanges([...replaced, change('fields', 'posts.title', 'changed')])).to.equal(2);
  });

  it('names views next to collections', () => {
    const view = change('objects', 'totals', 'made');
    expect(totalText([view])).to.equal('1 change in 1 view');
    expect(totalText([view, change('fields', 'posts.title', 'changed')])).to.equal(
      '2 changes in 1 collection and 1 view',
    );
    expect(totalText([{ ...view, kind: 'function' }])).to.equal('1 change in 1 object');
  });
});
