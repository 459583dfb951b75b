import { expect } from 'chai';
import { readRenamedFrom } from '../../../src/schema/compare/compare-snapshot.js';
import { KEY, column, stateOf } from '../invariants/states.js';

const state = stateOf({
  posts: { fields: [KEY, column('title'), column('note')] },
  pages: { fields: [KEY] },
});

type Document = { [member: string]: unknown };

const read = (collections: unknown, fields?: unknown) => readRenamedFrom(state, { collections, fields });

/** Renames, notes and rejections as text. */
function messagesOf(collections: unknown, fields?: unknown) {
  const { renames, notes, problems } = read(collections, fields);
  return {
    renames: [
      ...[...renames.collections].map(([from, to]) => `${from} -> ${to}`),
      ...[...renames.fields].flatMap(([table, names]) =>
        [...names].map(([from, to]) => `${table}.${from} -> ${table}.${to}`),
      ),
    ],
    notes: notes.map(({ code, message, ...place }) => `${code} ${Object.values(place).join('.')}: ${message}`),
    problems: problems.map(
      ({ path, message, collection, field }) =>
        `${path} (${[collection, field].filter(Boolean).join('.')}): ${message}`,
    ),
  };
}
const NOTHING = { renames: [], notes: [], problems: [] };
const table = (collection: unknown, renamed_from?: unknown): Document => ({ collection, renamed_from });
const field = (collection: unknown, name: unknown, renamed_from?: unknown): Document => ({
  collection,
  field: name,
  renamed_from,
});
const documentNamed = (collection: string): Document => ({ collection });

describe('renamed_from', () => {
  it('renames what exists and is not in the snapshot', () => {
    expect(messagesOf([table('stories', 'posts'), documentNamed('pages')])).to.deep.equal({
      ...NOTHING,
      renames: ['posts -> stories'],
    });
    expect(
      messagesOf([documentNamed('posts')], [field('posts', 'head', 'title'), { collection: 'posts', field: 'note' }]),
    ).to.deep.equal({ ...NOTHING, renames: ['posts.title -> posts.head'] });
  });

  it('names a field within the new collection name', () => {
    const fields = [field('stories', 'head', 'title'), field('stories', 'remark', 'note')];
    expect(messagesOf([table('stories', 'posts')], fields)).to.deep.equal({
      ...NOTHING,
      renames: ['posts -> stories', 'stories.title -> stories.head', 'stories.note -> stories.remark'],
    });
  });

  it('does not occur in compared documents', () => {
    const fields = ['no document', field('stories', 'head', 'title'), { collection: 'stories', field: 'note' }];
    const { body } = read([table('stories', 'posts'), documentNamed('pages')], fields);
    expect(body).to.deep.equal({
      collections: [{ collection: 'stories' }, { collection: 'pages' }],
      fields: ['no document', { collection: 'stories', field: 'head' }, { collection: 'stories', field: 'note' }],
    });
    const untouched = { collections: [documentNamed('pages')], fields: { no: 'list' } };
    expect(readRenamedFrom(state, untouched).body).to.equal(untouched);
    expect(read([table('stories', 'posts')], 'no list').body['fields']).to.equal('no list');
  });

  it('is noted if nothing has the former name, unless the new one exists', () => {
    expect(messagesOf([table('stories', 'texts')])).to.deep.equal({
      ...NOTHING,
      notes: [
        'RENAMED_FROM_NOTHING stories: collection "texts" does not exist, so it cannot be renamed: "stories" is created',
      ],
    });
    expect(messagesOf([table('posts', 'texts')])).to.deep.equal(NOTHING);
    expect(messagesOf([], [field('posts', 'head', 'name')])).to.deep.equal({
      ...NOTHING,
      notes: [
        'RENAMED_FROM_NOTHING posts.head: field "name" does not exist, so it cannot be renamed: "head" is created',
      ],
    });
    expect(messagesOf([], [field('posts', 'title', 'name')])).to.deep.equal(NOTHING);
    expect(
      messagesOf([documentNamed('new')], [field('new', 'head', 'name')]),
      'of a collection that is new itself',
    ).to.deep.equal(NOTHING);
  });

  it('must be unique, and cannot name an object that exists or is kept', () => {
    const problem = (path: string, source: string, message: string) => ({
      ...NOTHING,
      problems: [`${path} (${source}): ${message}`],
    });
    const at = 'collections[0].renamed_from';
    expect(messagesOf([table('posts', 'posts')])).to.deep.equal(
      problem(at, 'posts', 'renamed_from must differ from the current name of the collection'),
    );
    expect(messagesOf([table('stories', 'posts'), table('texts', 'posts')])).to.deep.equal({
      ...problem(
        'collections[1].renamed_from',
        'texts',
        '"posts" can be renamed to one collection only, and is already renamed to "stories"',
      ),
      renames: ['posts -> stories'],
    });
    expect(messagesOf([table('pages', 'posts')])).to.deep.equal(
      problem(
        at,
        'pages',
        '"posts" and "pages" both exist, so neither can be renamed to the other. Omit renamed_from, or delete one of them first',
      ),
    );
    expect(messagesOf([table('stories', 'posts'), documentNamed('posts')])).to.deep.equal(
      problem(
        at,
        'stories',
        'the snapshot contains "posts" too, and a renamed object gives up its old name. Add the other one in a later snapshot',
      ),
    );
    expect(messagesOf([], [field('posts', 'note', 'title')]).problems).to.have.length(1);
    expect(
      messagesOf([], [field('posts', 'head', 'title'), { collection: 'posts', field: 'title' }]).problems,
    ).to.have.length(1);
    expect(
      messagesOf([], [field('posts', 'head', 'title'), { collection: 'pages', field: 'title' }]).renames,
      'a field of that name elsewhere',
    ).to.deep.equal(['posts.title -> posts.head']);
  });

  it('must be a valid name and not of the service', () => {
    const message = 'renamed_from must be a string: the former name';
    expect(messagesOf([table('stories', 5)], [field('posts', 'head', null)]).problems).to.deep.equal([
      `collections[0].renamed_from (): ${message}`,
      `fields[0].renamed_from (): ${message}`,
    ]);
    const own = 'a collection of the service cannot be renamed';
    expect(messagesOf([table('service_users', 'posts'), table('posts', 'service_users')]).problems).to.deep.equal([
      `collections[0].renamed_from (): ${own}`,
      `collections[1].renamed_from (): ${own}`,
    ]);
    expect(messagesOf([table(5, 'posts')], [field(5, 'head', 'title'), field('posts', 5, 'title')])).to.deep.equal(
      NOTHING,
    );
    expect(messagesOf([table('', 'posts')]).problems.map((text) => text.split(' ')[0])).to.deep.equal([
      'collections[0].collection',
    ]);
    expect(messagesOf([], [field('posts', '', 'title')]).problems.map((text) => text.split(' ')[0])).to.deep.equal([
      'fields[0].field',
    ]);
  });

  it('reports at most a hundred problems', () => {
    const many = Array.from({ length: 150 }, (_, index) => table(`t${index}`, index));
    expect(messagesOf(many).problems).to.have.length(100);
    const fields = Array.from({ length: 150 }, (_, index) => field('posts', `f${index}`, index));
    expect(messagesOf([], fields).problems).to.have.length(100);
  });
});
