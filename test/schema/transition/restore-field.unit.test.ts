import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { type RestoreField, fieldRestoration } from '../../../src/schema/transition/restore-field.js';
import { accept, attempt, followStrictly } from '../../support/given.js';
import { column, fieldIn, key, table } from '../findings/diffs.js';
import { type Edit, LIBRARY, edited, wholeSnapshot, without } from './trashed.js';

type More = Partial<Pick<RestoreField, 'as' | 'without' | 'empty'>>;

const restorationOf = (collection: string, name: string, more: More): RestoreField => {
  const node = LIBRARY.collections.get(collection) as CollectionNode;
  const identity = node.identities.fields.get(name) ?? '';
  return { position: 9, identity, name, collection, past: LIBRARY, node, without: [], ...more };
};

/** The schema with the restored object, and the omitted parts. */
function restored(now: State, collection: string, name: string, more: More = {}) {
  const command = restorationOf(collection, name, more);
  const result = runToEnd(fieldRestoration(now, command));
  const events = attempt(now, 'restore-field', command);
  if (!result.ok || !events.ok) throw new Error(JSON.stringify([result, events]));
  const { left, restores } = result.value;
  return { state: followStrictly(now, events.value), left, restores: [...restores.values()] };
}

function problemsOf(now: State, name: string, more: More = {}) {
  const result = runToEnd(fieldRestoration(now, restorationOf('articles', name, more)));
  return result.ok ? [] : result.problems;
}

const articles = (state: State) => state.collections.get('articles') as CollectionNode;
const extrasOf = (state: State) => articles(state).collection.schema?.extras;
const namesOf = (state: State) =>
  [...(extrasOf(state)?.constraints ?? []), ...(extrasOf(state)?.indexes ?? [])].map(({ name }) => name);

describe('restoring a field', () => {
  const FIELDS: [collection: string, field: string][] = [
    ...['title', 'status', 'rank', 'author', 'review', 'outer', 'inner'].map((field): [string, string] => [
      'articles',
      field,
    ]),
    ['articles_tags', 'article'],
    ['articles_tags', 'tag'],
    ['articles_tags', 'place'],
    ['comments', 'item'],
    ['comments', 'by'],
    ['reviews', 'article'],
    ['authors', 'works'],
  ];
  for (const [collection, field] of FIELDS) {
    it(`restores it with everything deleted with it: ${collection}.${field}`, () => {
      const { state, left } = restored(without(LIBRARY, collection, field), collection, field);
      expect(wholeSnapshot(state)).to.deep.equal(wholeSnapshot(LIBRARY));
      expect(left).to.deep.equal([]);
    });
  }

  it('records the trash position of each restored object', () => {
    const gone = without(LIBRARY, 'articles', 'author');
    const place = { position: 9, name: 'articles' };
    expect(restored(gone, 'articles', 'author').restores).to.deep.equal([
      { ...place, empty: false },
      { ...place, empty: false },
    ]);
    expect(restored(gone, 'articles', 'author', { empty: true }).restores).to.deep.equal([
      { ...place, empty: true },
      { ...place, empty: false },
    ]);
  });

  it('leaves out objects that name another missing field', () => {
    const both = without(without(LIBRARY, 'articles', 'rank'), 'articles', 'status');
    expect(restored(both, 'articles', 'rank').left).to.deep.equal(['ranked: "status" no longer exists']);
    expect(namesOf(restored(both, 'articles', 'rank').state)).to.deep.equal(['positive', 'reviewed', 'together']);
    const third = without(without(LIBRARY, 'articles', 'rank'), 'articles', 'title');
    expect(restored(third, 'articles', 'rank').left).to.deep.equal(['together: "title" no longer exists']);
    const sorted = restored(without(without(LIBRARY, 'articles', 'author'), 'articles', 'rank'), 'articles', 'author');
    expect(articles(sorted.state).relations.get('author')?.sort_field).to.equal(null);
    const joined = without(without(LIBRARY, 'articles_tags', 'tag'), 'articles_tags', 'article');
    expect(restored(joined, 'articles_tags', 'tag').left).to.deep.equal([]);
  });

  it('leaves out references without a target', () => {
    expect(
      restored(without(without(LIBRARY, 'articles', 'author'), 'authors'), 'articles', 'author').left,
    ).to.deep.equal(['relation articles.author: "authors" no longer exists']);
    expect(
      restored(without(without(LIBRARY, 'articles', 'review'), 'reviews'), 'articles', 'review').left,
    ).to.deep.equal(['reviewed: "reviews" no longer exists']);
    const again = edited(without(without(LIBRARY, 'articles', 'author'), 'authors'), ({ collections, fields }) => {
      collections.push(table('authors'));
      fields.push(key('authors'));
    });
    expect(restored(again, 'articles', 'author').left).to.deep.equal([
      'relation articles.author: "authors" no longer exists',
    ]);
    const item = without(LIBRARY, 'comments', 'item');
    expect(restored(without(item, 'comments', 'kind'), 'comments', 'item').left).to.deep.equal([
      'relation comments.item: "kind", which stores its collection, no longer exists',
    ]);
    const few = restored(without(item, 'authors'), 'comments', 'item');
    expect(few.left).to.deep.equal([]);
    expect(few.state.collections.get('comments')?.relations.get('item')?.one_allowed_collections).to.deep.equal([
      'articles',
      'notes',
    ]);
  });

  it('leaves its uses to fields that replaced it', () => {
    const taken = edited(without(LIBRARY, 'articles', 'author'), ({ fields }) => {
      fields.push(column('authors', 'articles', 'string'));
    });
    const { left, state } = restored(taken, 'articles', 'author');
    expect(left).to.deep.equal(['field authors.articles: its name is in use']);
    expect(articles(state).relations.get('author')?.one_field).to.equal(null);
    const named: Edit = ({ collections }) => {
      for (const each of collections)
        if (each.collection === 'articles')
          Object.assign(each['meta'] as object, { archive_field: 'title', sort_field: 'title' });
    };
    const meta = (gone: State, field: string) =>
      articles(restored(edited(gone, named), 'articles', field).state).collection.meta;
    expect(meta(without(LIBRARY, 'articles', 'status'), 'status')).to.include({
      archive_field: 'title',
      sort_field: 'title',
    });
    expect(meta(without(LIBRARY, 'articles', 'rank'), 'rank')).to.include({
      archive_field: 'title',
      sort_field: 'title',
    });
    const inOuter = edited(without(LIBRARY, 'articles', 'inner'), (snapshot) => {
      Object.assign(fieldIn(snapshot, 'rank')['meta'] as object, { group: null });
    });
    expect(articles(restored(inOuter, 'articles', 'inner').state).fields.get('rank')?.meta.group).to.equal(null);
    const single = restored(without(without(LIBRARY, 'articles', 'rank'), 'articles', 'inner'), 'articles', 'rank');
    expect(articles(single.state).fields.get('rank')?.meta.group).to.equal(null);
  });

  it('leaves out the objects of each kind that the caller names', () => {
    const of = (field: string, ...names: string[]) => {
      const { state, left } = restored(without(LIBRARY, 'articles', field), 'articles', field, { without: names });
      expect(left).to.deep.equal([]);
      const { schema } = articles(state).fields.get(field) ?? {};
      const { is_nullable, is_unique, is_indexed } = schema ?? {};
      return [is_nullable, is_unique, is_indexed, articles(state).relations.get(field)?.schema, namesOf(state)];
    };
    expect(of('title')).to.deep.equal([false, true, false, undefined, ['positive', 'reviewed', 'together', 'ranked']]);
    expect(of('title', 'articles_title_not_null')).to.deep.equal([
      true,
      true,
      false,
      undefined,
      ['positive', 'reviewed', 'together', 'ranked'],
    ]);
    expect(of('title', 'articles_title_unique')).to.deep.equal([
      false,
      false,
      false,
      undefined,
      ['positive', 'reviewed', 'together', 'ranked'],
    ]);
    expect(of('status', 'articles_status_index')).to.deep.equal([
      true,
      false,
      false,
      undefined,
      ['positive', 'reviewed', 'together', 'ranked'],
    ]);
    expect(of('rank', 'positive')).to.deep.equal([true, false, false, undefined, ['reviewed', 'together', 'ranked']]);
    expect(of('rank', 'together', 'ranked')).to.deep.equal([true, false, false, undefined, ['positive', 'reviewed']]);
    expect(of('author', 'articles_author_foreign')).to.deep.equal([
      true,
      false,
      true,
      null,
      ['positive', 'reviewed', 'together', 'ranked'],
    ]);
    expect(of('review', 'reviewed')).to.deep.equal([true, false, false, undefined, ['positive', 'together', 'ranked']]);
  });

  it('rejects unknown constraint and index names', () => {
    const known = (field: string) => problemsOf(without(LIBRARY, 'articles', field), field, { without: ['none'] });
    expect(known('title')).to.deep.equal([
      {
        code: 'INVALID_PAYLOAD',
        message: 'no restored constraint or index is named "none"',
        path: 'without[0]',
        details: { known: ['articles_title_not_null', 'articles_title_unique', 'together'] },
      },
    ]);
    expect(known('status')[0]?.details).to.deep.equal({ known: ['articles_status_index', 'ranked'] });
    expect(known('rank')[0]?.details).to.deep.equal({ known: ['positive', 'together', 'ranked'] });
    expect(known('author')[0]?.details).to.deep.equal({ known: ['articles_author_index', 'articles_author_foreign'] });
    expect(known('outer')[0]?.details).to.deep.equal({ known: [] });
    expect(
      problemsOf(without(LIBRARY, 'articles', 'rank'), 'rank', { without: ['positive', 'x', 'together', 'y'] }),
    ).to.deep.equal([
      {
        code: 'INVALID_PAYLOAD',
        message: 'no restored constraint or index is named "x"',
        path: 'without[1]',
        details: { known: ['positive', 'together', 'ranked'] },
      },
      {
        code: 'INVALID_PAYLOAD',
        message: 'no restored constraint or index is named "y"',
        path: 'without[3]',
        details: { known: ['positive', 'together', 'ranked'] },
      },
    ]);
  });

  it('uses the new name of the field in all its references', () => {
    const { state, left } = restored(without(LIBRARY, 'articles', 'rank'), 'articles', 'rank', { as: 'place' });
    expect(left).to.deep.equal([]);
    const renamed = accept(LIBRARY, 'rename-field', { collection: 'articles', field: 'rank', body: { to: 'place' } });
    expect(wholeSnapshot(state)).to.deep.equal(wholeSnapshot(renamed));
  });

  it('uses current names for everything', () => {
    const gone = without(LIBRARY, 'articles', 'rank');
    const posts = accept(gone, 'rename-collection', { collection: 'articles', body: { to: 'posts' } });
    const renamed = accept(posts, 'rename-field', { collection: 'posts', field: 'title', body: { to: 'headline' } });
    const { state, left } = restored(renamed, 'articles', 'rank');
    expect(left).to.deep.equal([]);
    const { constraints, indexes } = state.collections.get('posts')?.collection.schema?.extras ?? {};
    expect([constraints, indexes]).to.deep.equal([
      [
        { name: 'positive', definition: 'CHECK ((rank > 0))' },
        { name: 'reviewed', definition: 'FOREIGN KEY (review) REFERENCES reviews(id)', references: 'reviews' },
        { name: 'together', definition: 'UNIQUE (rank, headline)' },
      ],
      [{ name: 'ranked', definition: 'USING btree (rank, status)' }],
    ]);
  });

  it('rejects a name in use or a missing table', () => {
    expect(problemsOf(LIBRARY, 'rank')).to.deep.equal([
      {
        code: 'ALREADY_EXISTS',
        message:
          'field "rank" of collection "articles" already exists: restore this one with another name, {"as": "…"}',
        collection: 'articles',
        field: 'rank',
      },
    ]);
    expect(problemsOf(without(LIBRARY, 'articles', 'rank'), 'rank', { as: 'title' })).to.deep.equal([
      {
        code: 'ALREADY_EXISTS',
        message: 'field "title" of collection "articles" already exists',
        path: 'as',
        collection: 'articles',
        field: 'title',
      },
    ]);
    expect(problemsOf(without(LIBRARY, 'articles'), 'rank')).to.deep.equal([
      {
        code: 'IN_USE',
        message: 'collection "articles" of the field does not exist',
        collection: 'articles',
        field: 'rank',
      },
    ]);
  });

  it('rejects values that cannot find their rows', () => {
    const gone = without(LIBRARY, 'articles', 'review');
    const retyped = (type: string): State =>
      edited(gone, (snapshot) => {
        for (const each of snapshot.fields) {
          const isKey = each.collection === 'articles' && each.field === 'id';
          const points = each.collection !== 'articles' && each.field === 'article';
          if (isKey) Object.assign(each, key('articles', type));
          if (points) Object.assign(each, column(each.collection, each.field, type));
        }
      });
    expect(problemsOf(retyped('integer'), 'review')).to.deep.equal([]);
    const keyed = edited(gone, (snapshot) => {
      snapshot.relations = snapshot.relations.filter(
        ({ many_collection: many }) => many !== 'articles_tags' && many !== 'comments',
      );
      snapshot.fields = snapshot.fields.filter(
        ({ collection, field }) => field !== 'tags' && (collection !== 'tags' || field !== 'articles'),
      );
      for (const each of snapshot.collections) if (each.collection === 'reviews') each['schema'] = {};
      Object.assign(fieldIn(snapshot, 'id').schema, { is_primary_key: false });
      Object.assign(fieldIn(snapshot, 'title').schema, { is_primary_key: true });
    });
    expect(problemsOf(keyed, 'review')).to.deep.equal([
      {
        code: 'IN_USE',
        message: 'the values cannot be matched to rows: its primary key has changed',
        collection: 'articles',
        field: 'review',
      },
    ]);
    expect(problemsOf(keyed, 'review', { empty: true })).to.deep.equal([]);
  });
});
