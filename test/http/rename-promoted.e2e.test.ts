import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Doc {
  [member: string]: unknown;
}

interface Snapshot {
  collections: (Doc & { collection: string })[];
  fields: (Doc & { collection: string; field: string })[];
  relations: Doc[];
}

interface Difference {
  hash: string;
  diff: { collections: Doc[]; fields: Doc[]; relations: Doc[] };
  warnings?: { code: string; level: string; message: string; collection?: string; field?: string }[];
}

const plain = (field: string, type: string, schema: object = {}) => ({ field, type, interface: 'input', schema });

describe('renames by snapshot', () => {
  const { api } = withService({ each: true, consistent: true });

  beforeEach(async () => {
    await api.ok('POST', '/collections', [
      { collection: 'authors', schema: {}, fields: [plain('name', 'string')] },
      { collection: 'articles', schema: {}, fields: [plain('title', 'string'), plain('author', 'integer')] },
    ]);
    await api.ok('POST', '/relations', {
      many_collection: 'articles',
      many_field: 'author',
      one_collection: 'authors',
      schema: {},
    });
    await api.sql("INSERT INTO authors (name) VALUES ('Ada'); INSERT INTO articles (title, author) VALUES ('One', 1)");
  });

  const take = () => api.ok<Snapshot>('GET', '/schema/snapshot');
  const diffTo = (snapshot: object, query = '') => api.ok<Difference>('POST', `/schema/diff${query}`, snapshot);

  /** The snapshot after the collection and its field were renamed. */
  async function renamedSnapshot(): Promise<Snapshot> {
    const text = JSON.stringify(await take())
      .replaceAll('"articles"', '"posts"')
      .replaceAll('"title"', '"headline"');
    const snapshot = JSON.parse(text.replaceAll('articles_author_foreign', 'posts_author_foreign')) as Snapshot;
    for (const each of snapshot.collections) if (each.collection === 'posts') each['renamed_from'] = 'articles';
    for (const each of snapshot.fields) if (each.field === 'headline') each['renamed_from'] = 'title';
    return snapshot;
  }

  it('record renames, and the same file can be sent again', async () => {
    const snapshot = await renamedSnapshot();
    const answer = await diffTo(snapshot);
    expect(answer.diff).to.deep.equal({
      collections: [
        { collection: 'posts', diff: [{ kind: 'E', path: ['collection'], lhs: 'articles', rhs: 'posts' }] },
      ],
      fields: [
        {
          collection: 'posts',
          field: 'headline',
          diff: [{ kind: 'E', path: ['field'], lhs: 'title', rhs: 'headline' }],
        },
      ],
      relations: [],
    });
    expect(answer.warnings?.map(({ code, field }) => [code, field])).to.deep.equal([
      ['BREAKS_CLIENTS', undefined],
      ['BREAKS_CLIENTS', 'headline'],
    ]);
    await api.appends(['collection.renamed articles', 'field.renamed posts.title'], 'POST', '/schema/apply', answer);
    expect(await api.sql('SELECT id, headline, author FROM posts')).to.deep.equal([
      { id: 1, headline: 'One', author: 1 },
    ]);
    const again = await diffTo(snapshot);
    expect(again.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
    expect(JSON.stringify(await take())).not.to.contain('renamed_from');
  });

  it('also create a new environment, with a note', async () => {
    const snapshot = await renamedSnapshot();
    for (const collection of ['articles', 'authors']) await api.ok('DELETE', `/collections/${collection}`);
    const answer = await diffTo(snapshot);
    const notes = answer.warnings?.map(({ code, collection, level }) => [code, collection, level]);
    expect(notes).to.deep.include(['RENAMED_FROM_NOTHING', 'posts', 'note']);
    expect(new Set(notes?.map(([, , level]) => level))).to.deep.equal(new Set(['note']));
    await api.ok('POST', '/schema/apply', answer);
  });

  it('are rejected if both objects exist, or if a rename is repeated', async () => {
    const snapshot = await renamedSnapshot();
    await api.ok('POST', '/collections', { collection: 'posts', schema: {} });
    const both = { status: 400, code: 'INVALID_PAYLOAD', at: 'collections[0].renamed_from' };
    await api.refused(both, 'POST', '/schema/diff', snapshot);
    await api.ok('DELETE', '/collections/posts');
    const twice = structuredClone(snapshot);
    twice.collections.push({ collection: 'more', schema: {}, renamed_from: 'articles' });
    await api.refused({ ...both, at: 'collections[2].renamed_from' }, 'POST', '/schema/diff', twice);
    const kept = structuredClone(snapshot);
    kept.collections.push({ collection: 'articles', schema: {} });
    await api.refused(both, 'POST', '/schema/diff', kept);
    for (const wrong of [7, null, 'posts', 'service_users']) {
      const other = structuredClone(snapshot);
      for (const each of other.collections) if (each.collection === 'posts') each['renamed_from'] = wrong;
      await api.refused(both, 'POST', '/schema/diff', other);
    }
    const related = structuredClone(snapshot);
    for (const each of related.relations) each['renamed_from'] = 'x';
    await api.refused(
      { status: 400, code: 'INVALID_PAYLOAD', at: 'relations[0].renamed_from' },
      'POST',
      '/schema/diff',
      related,
    );
  });

  it('are accepted from another product as YAML', async () => {
    const snapshot = await renamedSnapshot();
    const { collections, fields, relations } = snapshot;
    const yaml = JSON.stringify({ version: 1, directus: '11.0.0', vendor: 'postgres', collections, fields, relations });
    const reply = await api.client('/schema/diff?force', {
      method: 'POST',
      headers: { 'content-type': 'application/yaml' },
      body: yaml,
    });
    const answer = JSON.parse(reply.text) as Difference;
    expect(answer.diff.collections[0]).to.deep.equal({
      collection: 'posts',
      diff: [{ kind: 'E', path: ['collection'], lhs: 'articles', rhs: 'posts' }],
    });
    expect(answer.diff.fields).to.have.length(1);
  });

  it('lose data if they omit a rename, and the warning names the missing line', async () => {
    const snapshot = await renamedSnapshot();
    for (const each of [...snapshot.collections, ...snapshot.fields] as Doc[]) delete each['renamed_from'];
    for (const each of snapshot.fields) if (each.field === 'headline') each.field = 'title';
    snapshot.fields = JSON.parse(JSON.stringify(snapshot.fields).replaceAll('"headline"', '"title"')) as never;
    const { warnings = [] } = await diffTo(snapshot);
    const looks = warnings.filter(({ code }) => code === 'LOOKS_RENAMED');
    expect(looks).to.have.length(1);
    expect(looks[0]).to.include({ collection: 'posts' });
    expect(looks[0]?.message).to.contain('add this line to "posts"').and.contain('"renamed_from": "articles"');
    const column = JSON.parse(JSON.stringify(await take()).replaceAll('"title"', '"headline"')) as Snapshot;
    const messagesOf = (await diffTo(column)).warnings?.filter(({ code }) => code === 'LOOKS_RENAMED');
    expect(messagesOf?.[0]).to.include({ collection: 'articles', field: 'headline' });
    expect(messagesOf?.[0]?.message).to.contain('add this line to "headline"').and.contain('"renamed_from": "title"');
  });

  it('detect renamed collections if most of their fields are the same', async () => {
    const snapshot = await renamedSnapshot();
    for (const each of [...snapshot.collections, ...snapshot.fields] as Doc[]) delete each['renamed_from'];
    snapshot.fields = JSON.parse(JSON.stringify(snapshot.fields).replaceAll('"headline"', '"title"')) as never;
    snapshot.fields.push({ collection: 'posts', field: 'lead', type: 'text' });
    const { warnings = [] } = await diffTo(snapshot);
    const looks = warnings.filter(({ code }) => code === 'LOOKS_RENAMED');
    expect(looks.map(({ message }) => message.match(/"renamed_from": .*/)?.[0])).to.deep.equal([
      '"renamed_from": "articles"',
    ]);
  });

  it('combine with other changes in one diff', async () => {
    const snapshot = await renamedSnapshot();
    for (const each of snapshot.collections) if (each.collection === 'posts') (each['meta'] as Doc)['note'] = 'new';
    snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'name');
    snapshot.fields.push({ collection: 'posts', field: 'lead', type: 'text' });
    const answer = await diffTo(snapshot);
    await api.appends(
      [
        'collection.renamed articles',
        'field.renamed posts.title',
        'field.deleted authors.name',
        'field.created posts.lead',
        'collection.updated posts',
      ],
      'POST',
      '/schema/apply',
      answer,
    );
    expect(await api.sql('SELECT headline, lead FROM posts')).to.deep.equal([{ headline: 'One', lead: null }]);
  });

  it('are undone by a revert, including swaps and cycles, with every row', async () => {
    const before = await api.head();
    const rename = (path: string, to: string) => api.ok('POST', `${path}/rename`, { to });
    await rename('/collections/articles', 'x');
    await rename('/collections/authors', 'articles');
    await rename('/collections/x', 'authors');
    await api.ok('POST', '/fields/authors', plain('third', 'string'));
    const middle = await api.head();
    await rename('/fields/authors/title', 'x');
    await rename('/fields/authors/third', 'title');
    await rename('/fields/authors/author', 'third');
    await rename('/fields/authors/x', 'author');
    const circle = await api.ok<Difference>('GET', `/history/diff?to=${middle}`);
    expect(circle.diff.fields).to.have.length(3);
    expect(new Set(circle.warnings?.map(({ code }) => code))).to.deep.equal(new Set(['BREAKS_CLIENTS']));
    await api.ok('POST', '/schema/apply', circle);
    const swap = await api.ok<Difference>('GET', `/history/diff?to=${before}`);
    expect(swap.diff.collections).to.have.length(2);
    await api.ok('POST', '/schema/apply', swap);
    expect(await api.sql('SELECT title, author FROM articles')).to.deep.equal([{ title: 'One', author: 1 }]);
    expect(await api.sql('SELECT name FROM authors')).to.deep.equal([{ name: 'Ada' }]);
    const back = await api.ok<Difference>('GET', `/history/diff?to=${before}`);
    expect(back.diff).to.deep.equal({ collections: [], fields: [], relations: [] });
  });

  it('keep the history of a collection available under every name', async () => {
    await api.ok('POST', '/collections/articles/rename', { to: 'posts' });
    await api.ok('PATCH', '/collections/posts', { meta: { note: 'n' } });
    await api.ok('POST', '/collections', { collection: 'articles', schema: {} });
    await api.ok('POST', '/collections/authors/rename', { to: 'people' });
    interface History {
      data: { position: number; type: string; collection: string; diff: Difference['diff'] }[];
      meta: {
        next: number | null;
        lives: { identity: string; names: { name: string; from: number; to: number | null }[] }[];
      };
    }
    const posts = await api.ok<History>('GET', '/history/collections/posts');
    expect(posts.data.map(({ type, collection }) => `${type} ${collection}`)).to.deep.equal([
      'collection.created articles',
      'relation.created articles',
      'collection.renamed articles',
      'collection.updated posts',
      'collection.renamed authors',
    ]);
    expect(posts.data[2]?.diff.collections).to.deep.equal([
      { collection: 'posts', diff: [{ kind: 'E', path: ['collection'], lhs: 'articles', rhs: 'posts' }] },
    ]);
    const lives = posts.meta.lives.map(({ identity, names }) => [
      identity,
      names.map(({ name, from, to }) => [name, from, to]),
    ]);
    const [created, renamed] = [posts.data[0]?.position, posts.data[2]?.position];
    expect(lives).to.deep.equal([
      [
        String(created),
        [
          ['articles', created, renamed],
          ['posts', renamed, null],
        ],
      ],
    ]);
    const articles = await api.ok<History>('GET', '/history/collections/articles');
    expect(articles.meta.lives).to.have.length(2);
    const page = await api.ok<History>('GET', `/history/collections/posts?after=${posts.data[2]?.position}&limit=1`);
    expect(page.data.map(({ type }) => type)).to.deep.equal(['collection.updated']);
    const { data } = await api.ok<{ data: { type: string }[] }>(
      'GET',
      '/history/events?collection=posts&type=collection.renamed',
    );
    expect(data).to.have.length(2);
    expect((await api.client('/history/collections/nothing')).status).to.equal(404);
  });
});
