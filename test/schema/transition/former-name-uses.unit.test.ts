import { NO_RENAMES } from '../../../src/schema/transition/renames.js';
import { expect } from 'chai';
import { runToEnd } from '../../../src/kernel/resumable.js';
import { warnAboutUses } from '../../../src/schema/transition/former-name-uses.js';
import { type Edited, column, key, table } from '../findings/diffs.js';
import { type Edit, LIBRARY, edited } from './trashed.js';

/** The schema with texts in fields and collections, using the names after the rename. */
const saying = (text: Record<string, object>, more: Edit = () => undefined) =>
  edited(LIBRARY, (snapshot) => {
    more(snapshot);
    for (const [name, meta] of Object.entries(text)) {
      const [collection, field] = name.split('.');
      const documents: (Edited['collections'][number] | Edited['fields'][number])[] =
        field === undefined ? snapshot.collections : snapshot.fields;
      const document = documents.find(
        (each) => each.collection === collection && (field === undefined || each['field'] === field),
      );
      Object.assign(document?.['meta'] as object, meta);
    }
  });

const messagesOf = (
  state: ReturnType<typeof saying>,
  collections: object,
  fields: Record<string, object> = {},
): string[] => {
  const renames = {
    ...NO_RENAMES,
    collections: new Map(Object.entries(collections) as [string, string][]),
    fields: new Map(
      Object.entries(fields).map(([name, names]) => [name, new Map(Object.entries(names) as [string, string][])]),
    ),
  };
  return runToEnd(warnAboutUses(state, renames)).map(
    ({ code, collection, field, message }) =>
      `${code} ${collection}${field === undefined ? '' : `.${field}`}: ${message}`,
  );
};

const warning = (place: string, at: string, from: string, to: string): string =>
  `NAME_STILL_USED ${place}: ${at} contains "${from}", which is now named "${to}". If it means the renamed object, change it`;

describe('an old name that is still used', () => {
  it('is reported for each free-form member', () => {
    const state = saying({
      'articles.title': {
        options: { collection: 'posts' },
        display_options: { list: ['a', 'posts'] },
        conditions: [{ rule: { posts: { _eq: 1 } } }],
        validation: { _and: [{ x: 'posts.title' }] },
        note: 'posts',
      },
    });
    expect(messagesOf(state, { posts: 'articles' })).to.deep.equal([
      warning('articles.title', 'meta.options.collection', 'posts', 'articles'),
      warning('articles.title', 'meta.display_options.list[1]', 'posts', 'articles'),
      warning('articles.title', 'meta.conditions[0].rule.posts', 'posts', 'articles'),
      warning('articles.title', 'meta.validation._and[0].x', 'posts', 'articles'),
    ]);
    expect(messagesOf(state, {})).to.deep.equal([]);
    expect(messagesOf(state, { post: 'articles', Posts: 'articles' })).to.deep.equal([]);
  });

  it('is reported once per member, at its first location', () => {
    const options = {
      deep: { er: 'x' },
      template: 'of {{ posts.title }} and {{people:name}}',
      then: 'posts',
      people: 1,
    };
    const state = saying({ 'articles.title': { options } });
    expect(messagesOf(state, { posts: 'articles', people: 'authors' })).to.deep.equal([
      warning('articles.title', 'meta.options.people', 'people', 'authors'),
      warning('articles.title', 'meta.options.template', 'posts', 'articles'),
    ]);
  });

  it('is found in a path or template, but not inside a word', () => {
    const of = (text: string): string[] =>
      messagesOf(saying({ 'articles.title': { options: { text } } }), { posts: 'articles' });
    for (const text of ['posts', 'a.posts', 'posts:b', 'a:posts.b', '{{posts}}', 'x {{ a.posts }} y'])
      expect(of(text), text).to.deep.equal([warning('articles.title', 'meta.options.text', 'posts', 'articles')]);
    for (const text of ['post', 'posts!', 'the posts', '{{postscript}}', '{posts}', ''])
      expect(of(text), text).to.deep.equal([]);
  });

  it('is reported if another object has it now', () => {
    const state = saying({ 'articles.title': { options: { text: 'tags', of: 'status' } } });
    expect(messagesOf(state, { tags: 'articles' })).to.deep.equal([]);
    expect(messagesOf(state, {}, { articles: { status: 'title' } })).to.deep.equal([]);
    expect(messagesOf(state, {}, { articles: { state: 'status' } })).to.deep.equal([]);
  });

  it('is searched for in the collection of the field and where that collection is shown', () => {
    const options = { text: 'headline' };
    const state = saying({
      'articles.author': { options },
      'articles_tags.article': { options },
      'authors.articles': { options },
      'authors.works': { options },
      'comments.item': { options },
      'comments.kind': { options },
      'notes.id': { options },
    });
    expect(messagesOf(state, {}, { articles: { headline: 'title' } })).to.deep.equal(
      ['articles.author', 'articles_tags.article', 'comments.item', 'authors.articles'].map((place) =>
        warning(place, 'meta.options.text', 'headline', 'title'),
      ),
    );
  });

  it('is searched for in templates of the collection of the field', () => {
    const state = saying({
      articles: { display_template: '{{headline}} {{ author.headline }}', preview_url: 'https://a/{{headline}}' },
      authors: { display_template: '{{headline}}' },
    });
    expect(messagesOf(state, {}, { articles: { headline: 'title' } })).to.deep.equal([
      warning('articles', 'meta.display_template', 'headline', 'title'),
      warning('articles', 'meta.preview_url', 'headline', 'title'),
    ]);
    expect(
      messagesOf(saying({ articles: { display_template: 'headline' } }), {}, { articles: { headline: 'title' } }),
    ).to.deep.equal([]);
  });

  it('is reported twice if both a collection and a field had it', () => {
    const more: Edit = ({ collections, fields }) => {
      collections.push(table('more'));
      fields.push(key('more'), column('more', 'text', 'string'));
    };
    const state = saying({ 'more.text': { options: { a: 'posts', b: 'old' } } }, more);
    expect(messagesOf(state, { posts: 'articles' }, { more: { old: 'text' } })).to.deep.equal([
      warning('more.text', 'meta.options.a', 'posts', 'articles'),
      warning('more.text', 'meta.options.b', 'old', 'text'),
    ]);
  });
});
