import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { CollectionNode, State } from '../../../src/schema/model/state.js';
import { type RestoreCollection, planRestoration } from '../../../src/schema/transition/restore-collection.js';
import { accept, attempt, followStrictly } from '../../support/given.js';
import { type Edited, column, table } from '../findings/diffs.js';
import { type Edit, LIBRARY, edited, wholeSnapshot, without } from './trashed.js';

type More = Partial<Pick<RestoreCollection, 'as' | 'without' | 'empty'>>;

const restorationOf = (name: string, more: More): RestoreCollection => {
  const { identities } = LIBRARY.collections.get(name) as CollectionNode;
  return { position: 9, identity: identities.collection, name, past: LIBRARY, without: [], ...more };
};

/** The schema with the restored object, and the omitted parts: `kind place: reason`. */
function restored(now: State, name: string, more: More = {}) {
  const command = restorationOf(name, more);
  const result = runToEnd(planRestoration(now, command));
  const events = attempt(now, 'restore-collection', command);
  if (!result.ok || !events.ok) throw new Error(JSON.stringify([result, events]));
  const left = result.value.left.map(
    ({ kind, collection, field, reason }) =>
      `${kind} ${collection}${field === undefined ? '' : `.${field}`}: ${reason}`,
  );
  return { state: followStrictly(now, events.value), left, restores: [...result.value.restores] };
}

function problemsOf(now: State, name: string, more: More = {}) {
  const result = runToEnd(planRestoration(now, restorationOf(name, more)));
  return result.ok ? [] : result.problems;
}

const documents = (state: State) => wholeSnapshot(state) as Pick<Edited, 'collections' | 'fields' | 'relations'>;
const groupOf = (state: State, name: string) => state.collections.get(name)?.collection.meta.group;
const referencesOf = (state: State, name: string) =>
  state.collections.get(name)?.collection.schema?.extras?.constraints?.flatMap(({ references }) => references ?? []);

const regrouped =
  (name: string, group: string | null): Edit =>
  ({ collections }) => {
    for (const each of collections) if (each.collection === name) Object.assign(each['meta'] as object, { group });
  };

describe('restoring a collection', () => {
  const gone = without(LIBRARY, 'articles');

  for (const name of LIBRARY.collections.keys()) {
    it(`restores it with everything deleted with it: ${name}`, () => {
      const { state, left } = restored(without(LIBRARY, name), name);
      expect(wholeSnapshot(state)).to.deep.equal(wholeSnapshot(LIBRARY));
      expect(left).to.deep.equal([]);
    });
  }

  it('records the trash position of each restored object', () => {
    const { identities } = LIBRARY.collections.get('articles') as CollectionNode;
    const alias = LIBRARY.collections.get('authors')?.identities.fields.get('articles');
    expect(restored(gone, 'articles').restores).to.deep.equal([
      [identities.collection, { position: 9, name: 'articles', empty: false }],
      [alias, { position: 9, name: 'articles' }],
    ]);
    expect(restored(gone, 'articles', { empty: true }).restores[0]?.[1]).to.deep.equal({
      position: 9,
      name: 'articles',
      empty: true,
    });
  });

  it('leaves out references without a target', () => {
    const { state, left } = restored(without(without(gone, 'authors'), 'reviews'), 'articles');
    expect(left).to.deep.equal([
      'constraint articles: "reviewed": collection "reviews" no longer exists',
      'relation articles.author: collection "authors" no longer exists',
    ]);
    expect(state.collections.get('articles')?.relations.size).to.equal(0);
    expect(state.collections.get('articles')?.fields.has('author')).to.equal(true);
    expect(referencesOf(state, 'articles')).to.deep.equal([]);
  });

  it('ignores a later object with the same name', () => {
    const other = edited(without(gone, 'authors'), ({ collections, fields }) => {
      collections.push(table('authors'));
      fields.push(column('authors', 'name', 'string'));
    });
    const { left } = restored(other, 'articles');
    expect(left).to.deep.equal(['relation articles.author: another collection is named "authors" now']);
  });

  it('uses the nearest existing group and gets its members back', () => {
    const { state, left } = restored(without(gone, 'blog'), 'articles');
    expect([groupOf(state, 'articles'), groupOf(state, 'notes')]).to.deep.equal(['all', 'articles']);
    expect(left).to.deep.equal(['group articles: collection "blog" no longer exists']);
    const single = restored(without(without(gone, 'blog'), 'all'), 'articles');
    expect([groupOf(single.state, 'articles'), groupOf(single.state, 'notes')]).to.deep.equal([null, 'articles']);
    expect(single.left).to.deep.equal(['group articles: collection "blog" no longer exists']);
    const moved = restored(edited(gone, regrouped('notes', 'all')), 'articles');
    expect([groupOf(moved.state, 'articles'), groupOf(moved.state, 'notes')]).to.deep.equal(['blog', 'all']);
    expect(moved.left).to.deep.equal(['group notes: it is in "all" now']);
    const free = restored(edited(gone, regrouped('notes', null)), 'articles');
    expect(free.left).to.deep.equal(['group notes: it is in no group now']);
    expect(restored(without(gone, 'notes'), 'articles').left).to.deep.equal([]);
  });

  it('leaves out references from missing fields, or fields with another relation', () => {
    expect(restored(without(gone, 'articles_tags', 'article'), 'articles').left).to.deep.equal([
      'relation articles_tags.article: the field no longer exists',
    ]);
    const other = edited(gone, ({ relations }) =>
      relations.push({
        many_collection: 'articles_tags',
        many_field: 'article',
        one_collection: 'notes',
        schema: null,
      }),
    );
    const { state, left } = restored(other, 'articles');
    expect(left).to.deep.equal(['relation articles_tags.article: the field now has a different relation']);
    expect(state.collections.get('articles')?.fields.has('tags')).to.equal(false);
    expect(restored(without(gone, 'articles_tags'), 'articles').left).to.deep.equal([
      'relation articles_tags.article: collection "articles_tags" no longer exists',
    ]);
  });

  it('rejoins the allowed collections at its former index', () => {
    const allowed = (state: State) => state.collections.get('comments')?.relations.get('item')?.one_allowed_collections;
    const more = edited(gone, ({ relations }) => {
      for (const each of relations)
        if (each['many_field'] === 'item') Object.assign(each, { one_allowed_collections: ['tags', 'notes'] });
    });
    expect(allowed(restored(more, 'articles').state)).to.deep.equal(['articles', 'notes', 'tags']);
    expect(restored(without(gone, 'comments', 'item'), 'articles').left).to.deep.equal([
      'member comments.item: the relation no longer exists',
    ]);
    expect(restored(without(gone, 'comments'), 'articles').left).to.deep.equal([
      'member comments.item: the relation no longer exists',
    ]);
    const single = without(without(LIBRARY, 'comments'), 'notes');
    expect(restored(single, 'comments').left).to.deep.equal([
      'member comments.item: collection "notes" no longer exists',
    ]);
  });

  it('leaves names to their present objects', () => {
    const taken = edited(gone, ({ fields }) => {
      fields.push(column('authors', 'articles', 'string'));
    });
    const { state, left } = restored(taken, 'articles');
    expect(left).to.deep.equal(['alias authors.articles: another field now has its name']);
    expect(state.collections.get('articles')?.relations.get('author')?.one_field).to.equal(null);
    const called = edited(gone, ({ collections }) => {
      for (const each of collections)
        if (each.collection === 'reviews')
          each['schema'] = { extras: { constraints: [{ name: 'of_article', definition: 'CHECK ((article > 0))' }] } };
    });
    expect(restored(called, 'articles').left).to.deep.equal([
      'constraint reviews: "of_article": another constraint now has its name',
    ]);
    expect(restored(without(gone, 'reviews', 'article'), 'articles').left).to.deep.equal([
      'constraint reviews: "of_article": field "article" no longer exists',
    ]);
  });

  it('drops a missing group of the field that showed it', () => {
    const { state, left } = restored(without(gone, 'authors', 'works'), 'articles');
    expect(left).to.deep.equal([]);
    expect(state.collections.get('authors')?.fields.get('articles')?.meta.group).to.equal(null);
  });

  it('leaves out the foreign keys that the caller names', () => {
    const keys = ['articles_author_foreign', 'articles_tags_article_foreign', 'reviewed', 'of_article'];
    const { state, left } = restored(gone, 'articles', { without: keys });
    expect(left).to.deep.equal([
      'constraint articles: "reviewed": as requested',
      'constraint reviews: "of_article": as requested',
      'foreign key articles.author: as requested',
      'foreign key articles_tags.article: as requested',
    ]);
    const { relations } = documents(state);
    expect(relations.map(({ many_field, schema }) => [many_field, schema === null])).to.deep.equal([
      ['author', true],
      ['article', true],
      ['tag', false],
      ['by', false],
      ['item', true],
    ]);
    expect([referencesOf(state, 'articles'), referencesOf(state, 'reviews')]).to.deep.equal([[], undefined]);
    expect(problemsOf(gone, 'articles', { without: ['reviewed', 'positive', 'none'] })).to.deep.equal(
      ['positive', 'none'].map((name, at) => ({
        code: 'INVALID_PAYLOAD',
        message: `no restored foreign key is named "${name}"`,
        path: `without[${at + 1}]`,
        details: { known: keys },
      })),
    );
  });

  it('applies another name everywhere', () => {
    const { state, left } = restored(gone, 'articles', { as: 'posts' });
    expect(left).to.deep.equal([]);
    expect(wholeSnapshot(state)).to.deep.equal(
      wholeSnapshot(accept(LIBRARY, 'rename-collection', { collection: 'articles', body: { to: 'posts' } })),
    );
  });

  it('rejects a name in use', () => {
    expect(problemsOf(LIBRARY, 'articles')).to.deep.equal([
      {
        code: 'ALREADY_EXISTS',
        message: 'collection "articles" already exists: restore this one with another name, {"as": "…"}',
        collection: 'articles',
      },
    ]);
    expect(problemsOf(gone, 'articles', { as: 'notes' })).to.deep.equal([
      { code: 'ALREADY_EXISTS', message: 'collection "notes" already exists', path: 'as', collection: 'notes' },
    ]);
  });

  it('uses current names for everything', () => {
    const renamed = accept(gone, 'rename-collection', { collection: 'authors', body: { to: 'people' } });
    const both = accept(renamed, 'rename-field', {
      collection: 'articles_tags',
      field: 'article',
      body: { to: 'post' },
    });
    const { state, left } = restored(both, 'articles');
    expect(left).to.deep.equal([]);
    expect(state.collections.get('articles')?.relations.get('author')?.one_collection).to.equal('people');
    expect(state.collections.get('articles_tags')?.relations.get('post')?.one_field).to.equal('tags');
  });
});
