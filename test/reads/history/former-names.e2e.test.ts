import { expect } from 'chai';
import { withService } from '../../support/with-service.js';

interface Event {
  position: number;
  type: string;
  collection: string;
  field: string | null;
}

interface Page<T> {
  data: T[];
  meta: { next: number | null };
}

const plain = (field: string, type = 'string', schema: object = {}) => ({ field, type, interface: 'input', schema });

describe('the history of a name', () => {
  const { api } = withService({ each: true });

  const create = (collection: string, fields: object[]) =>
    api.ok('POST', '/collections', { collection, schema: {}, fields });
  const rename = (path: string, to: string) => api.ok('POST', `${path}/rename`, { to });
  const note = (path: string) => api.ok('PATCH', path, { meta: { note: `note of ${path}` } });
  const read = async (query: string): Promise<Event[]> =>
    (await api.ok<Page<Event>>('GET', `/history/events?${query}`)).data;
  const messagesOf = async (query: string): Promise<string[]> =>
    (await read(query)).map(
      ({ type, collection, field }) => `${type} ${collection}${field === null ? '' : `.${field}`}`,
    );
  const trashed = async (collection: string): Promise<number> => {
    const { data } = await api.ok<Page<Event>>('GET', '/trash');
    return data.find((entry) => entry.collection === collection)?.position ?? 0;
  };

  /** A field `title` of `articles`, renamed to `headline` and `posts`; others take the names. */
  async function renameBoth(): Promise<void> {
    await create('articles', [plain('title'), plain('body', 'text')]);
    await note('/fields/articles/title');
    await rename('/fields/articles/title', 'headline');
    await note('/fields/articles/body');
    await rename('/collections/articles', 'posts');
    await note('/fields/posts/headline');
    await api.ok('POST', '/fields/posts', plain('title', 'integer'));
    await note('/fields/posts/title');
    await create('articles', [plain('headline', 'uuid')]);
    await note('/fields/articles/headline');
    await note('/collections/articles');
  }

  const HEADLINE = [
    'collection.created articles',
    'field.updated articles.title',
    'field.renamed articles.title',
    'collection.renamed articles',
    'field.updated posts.headline',
  ];

  it('contains the creation of a field with its collection and all renames, and no field that took the names', async () => {
    await renameBoth();
    expect(await messagesOf('collection=posts&field=headline')).to.deep.equal(HEADLINE);
    expect(await messagesOf('collection=posts&field=title')).to.deep.equal([
      'field.created posts.title',
      'field.updated posts.title',
    ]);
    expect(await messagesOf('collection=articles&field=headline')).to.deep.equal([
      'collection.created articles',
      'field.updated articles.headline',
    ]);
    expect((await read('collection=posts&field=headline'))[0]?.position).to.equal(1);
    // The current `articles` never had a `title`.
    expect(await messagesOf('collection=articles&field=title')).to.deep.equal([
      'field.created posts.title',
      'field.updated posts.title',
    ]);
    expect(await messagesOf('collection=posts&field=nothing')).to.deep.equal([]);
    expect(await messagesOf('collection=nothing&field=title')).to.deep.equal([]);
  });

  it('contains the former names of a collection, and no collection that took the name', async () => {
    await renameBoth();
    expect(await messagesOf('collection=posts')).to.deep.equal([
      'collection.created articles',
      'field.updated articles.title',
      'field.renamed articles.title',
      'field.updated articles.body',
      'collection.renamed articles',
      'field.updated posts.headline',
      'field.created posts.title',
      'field.updated posts.title',
    ]);
    expect(await messagesOf('collection=articles')).to.deep.equal([
      'collection.created articles',
      'field.updated articles.headline',
      'collection.updated articles',
    ]);
  });

  it('is that of the name at the end of the range', async () => {
    await renameBoth();
    const [renamed] = await read('collection=posts&type=collection.renamed');
    const until = `until=${renamed?.position}`;
    expect(await messagesOf(`collection=articles&field=title&${until}`)).to.deep.equal(HEADLINE.slice(0, 4));
    expect(await messagesOf(`collection=articles&${until}&type=collection.renamed`)).to.have.length(1);
  });

  it('is the same in pages, in either order, and in batches', async () => {
    await renameBoth();
    const all = (await read('collection=posts&field=headline')).map(({ position }) => position);
    for (const order of ['asc', 'desc']) {
      const seen: number[] = [];
      for (let after: number | null | undefined; after !== null;) {
        const path = `/history/events?collection=posts&field=headline&limit=2&order=${order}${after ? `&after=${after}` : ''}`;
        const page: Page<Event> = await api.ok('GET', path);
        seen.push(...page.data.map(({ position }) => position));
        after = page.meta.next;
      }
      expect(seen, order).to.deep.equal(order === 'asc' ? all : all.toReversed());
    }
    const { data } = await api.ok<Page<{ first_position: number; command: string }>>(
      'GET',
      '/history/batches?collection=posts&field=headline&order=asc',
    );
    expect(data.map(({ command }) => command)).to.deep.equal([
      'create-collection',
      'update-fields',
      'rename-field',
      'rename-collection',
      'update-fields',
    ]);
  });

  it('continues when a field or its collection is restored, and ends with a purge', async () => {
    await create('articles', [plain('title')]);
    await api.ok('DELETE', '/fields/articles/title');
    await create('others', [plain('title')]);
    await api.ok('POST', `/trash/${await trashed('articles')}/restore`, { as: 'heading' });
    await api.ok('DELETE', '/collections/articles');
    await create('articles', [plain('heading')]);
    await api.ok('POST', `/trash/${await trashed('articles')}/restore`, { as: 'posts' });
    const life = [
      'collection.created articles',
      'field.deleted articles.title',
      'field.created articles.heading',
      'collection.deleted articles',
      'collection.created posts',
    ];
    expect(await messagesOf('collection=posts&field=heading')).to.deep.equal(life);
    expect(await messagesOf('collection=posts&field=title')).to.deep.equal(life);
    await api.ok('DELETE', '/fields/posts/heading');
    await api.ok('POST', '/fields/posts', plain('heading'));
    await api.ok('DELETE', `/trash/${await trashed('posts')}`);
    expect(await messagesOf('collection=posts&field=title')).to.deep.equal([
      ...life,
      'field.deleted posts.heading',
      'trash.purged posts.heading',
    ]);
    expect(await messagesOf('collection=posts&field=heading')).to.deep.equal(['field.created posts.heading']);
  });

  it('contains the purge of a deleted collection, but not for the next collection of that name', async () => {
    await create('articles', [plain('title')]);
    await api.ok('DELETE', '/collections/articles');
    const position = await trashed('articles');
    await create('articles', [plain('title')]);
    const [, , second] = await read('');
    await api.ok('DELETE', `/trash/${position}`);
    expect(await messagesOf('collection=articles')).to.deep.equal(['collection.created articles']);
    expect(await messagesOf('collection=articles&field=title')).to.deep.equal(['collection.created articles']);
    const before = `until=${(second?.position ?? 0) - 1}`;
    expect(await messagesOf(`collection=articles&${before}`)).to.deep.equal([
      'collection.created articles',
      'collection.deleted articles',
    ]);
    const { data } = await api.ok<Page<Event>>('GET', '/history/collections/articles');
    expect(data.map(({ type }) => type)).to.deep.equal([
      'collection.created',
      'collection.deleted',
      'collection.created',
      'trash.purged',
    ]);
  });

  it('begins with the adoption of a table', async () => {
    await api.sql('CREATE TABLE letters (id integer PRIMARY KEY, text text)');
    await api.ok('POST', '/schema/adopt', { tables: ['letters'] });
    await rename('/fields/letters/text', 'words');
    expect(await messagesOf('collection=letters&field=words')).to.deep.equal([
      'collection.adopted letters',
      'field.renamed letters.text',
    ]);
  });

  it('contains the relations of a field, and renames of other objects that its expression mentions', async () => {
    await create('people', [
      plain('id', 'integer', { is_primary_key: true }),
      plain('age', 'integer'),
      plain('twice', 'integer', { is_generated: true, generation_expression: 'age * 2' }),
      plain('boss', 'integer'),
    ]);
    await rename('/fields/people/age', 'years');
    await api.ok('POST', '/relations', { collection: 'people', field: 'boss', related_collection: 'people' });
    expect(await messagesOf('collection=people&field=twice')).to.deep.equal([
      'collection.created people',
      'field.renamed people.age',
    ]);
    expect(await messagesOf('collection=people&field=boss')).to.deep.equal([
      'collection.created people',
      'relation.created people.boss',
    ]);
    expect(await messagesOf('field=years')).to.deep.equal(['field.renamed people.age']);
  });
});
