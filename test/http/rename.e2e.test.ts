import { expect } from 'chai';
import { withService } from '../support/with-service.js';

interface Warning {
  code: string;
  collection?: string;
  field?: string;
  message: string;
}

interface Answer<T> {
  data: T;
  warnings?: Warning[];
}

interface CollectionAnswer {
  collection: string;
  meta: Record<string, unknown>;
  schema: Record<string, unknown> | null;
}

interface RelationAnswer {
  many_collection: string;
  many_field: string;
  one_collection: string | null;
  one_field: string | null;
  one_allowed_collections: string[] | null;
  schema: { constraint_name: string } | null;
}

const plain = (field: string, type: string, schema: object = {}, meta: object = {}) => ({
  field,
  type,
  interface: 'input',
  schema,
  meta,
});

const alias = (field: string, special: string, meta: object = {}) => ({
  field,
  type: 'alias',
  interface: 'list',
  schema: null,
  meta: { special: [special], ...meta },
});

describe('renaming', () => {
  const { api, client } = withService({ each: true, consistent: true });

  const names = async (table: string) => {
    const constraints = await api.sql<{ name: string }>(
      "SELECT conname AS name FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype <> 'n' ORDER BY 1",
      [`public.${JSON.stringify(table)}`],
    );
    const indexes = await api.sql<{ name: string }>(
      'SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = to_regclass($1) ORDER BY 1',
      [`public.${JSON.stringify(table)}`],
    );
    return [...constraints, ...indexes].map(({ name }) => name);
  };

  const sequenceOf = async (table: string, column: string) => {
    const [row] = await api.sql<{ name: string }>('SELECT pg_get_serial_sequence($1, $2) AS name', [table, column]);
    return row?.name;
  };

  beforeEach(async () => {
    await api.ok('POST', '/collections', [
      {
        collection: 'authors',
        schema: {},
        meta: { display_template: '{{ name }}' },
        fields: [plain('name', 'string', { is_unique: true }), alias('texts', 'o2m')],
      },
      {
        collection: 'articles',
        schema: {},
        meta: {
          display_template: '{{ title }} by {{author.name}}, {{titles}}',
          preview_url: 'https://example.org/{{title}}',
          sort_field: 'rank',
          archive_field: 'title',
          item_duplication_fields: ['title', 'author.name'],
        },
        fields: [
          plain('title', 'string', { is_indexed: true, is_nullable: false }, { options: { template: '{{title}}' } }),
          plain('rank', 'integer', { is_unique: true }),
          plain('author', 'integer'),
          plain('slug', 'string', { generation_expression: 'lower(title)' }),
        ],
      },
      {
        collection: 'notes',
        schema: {},
        meta: { group: null },
        fields: [plain('item', 'string'), plain('kind', 'string')],
      },
    ]);
    await api.ok('POST', '/relations', {
      many_collection: 'articles',
      many_field: 'author',
      one_collection: 'authors',
      one_field: 'texts',
      sort_field: 'rank',
      schema: { on_delete: 'SET NULL' },
    });
    await api.ok('POST', '/relations', {
      many_collection: 'notes',
      many_field: 'item',
      one_collection: null,
      one_collection_field: 'kind',
      one_allowed_collections: ['authors', 'articles'],
      schema: null,
    });
    await api.sql("INSERT INTO authors (name) VALUES ('Ada')");
    await api.sql("INSERT INTO articles (title, rank, author) VALUES ('One', 1, 1), ('Two', 2, 1)");
  });

  const relations = async () => {
    const { data } = await api.ok<Answer<RelationAnswer[]>>('GET', '/relations');
    return data.map(({ many_collection, many_field, one_collection, one_field, one_allowed_collections, schema }) => [
      `${many_collection}.${many_field}`,
      one_collection ?? one_allowed_collections,
      one_field,
      schema?.constraint_name ?? null,
    ]);
  };

  it('keeps the rows of a collection and updates every reference', async () => {
    const { data, warnings } = await api.appends<Answer<CollectionAnswer>>(
      ['collection.renamed articles'],
      'POST',
      '/collections/articles/rename',
      { to: 'posts' },
    );
    expect(data.collection).to.equal('posts');
    expect(data.schema).to.include({ name: 'posts' });
    expect(warnings).to.equal(undefined);
    expect(await relations()).to.deep.equal([
      ['notes.item', ['authors', 'posts'], null, null],
      ['posts.author', 'authors', 'texts', 'posts_author_foreign'],
    ]);
    expect(await names('posts')).to.deep.equal([
      'posts_author_foreign',
      'posts_pkey',
      'posts_rank_unique',
      'posts_pkey',
      'posts_rank_unique',
      'posts_title_index',
    ]);
    expect(await sequenceOf('posts', 'id')).to.equal('public.posts_id_seq');
    expect(await api.sql('SELECT id, title, slug FROM posts ORDER BY id')).to.deep.equal([
      { id: 1, title: 'One', slug: 'one' },
      { id: 2, title: 'Two', slug: 'two' },
    ]);
    expect((await client('/collections/articles')).status).to.equal(404);
    expect(await api.sql("SELECT collection FROM service.service_fields WHERE collection = 'articles'")).to.deep.equal(
      [],
    );
    // Rows can be written as before.
    await api.sql("INSERT INTO posts (title, rank, author) VALUES ('Three', 3, 1)");
  });

  it('keeps the values of a field and updates every reference', async () => {
    const { data, warnings } = await api.appends<Answer<{ field: string; meta: object }>>(
      ['field.renamed articles.title'],
      'POST',
      '/fields/articles/title/rename',
      { to: 'headline' },
    );
    expect(data.field).to.equal('headline');
    expect(
      warnings?.map(({ code, message, collection, field }) => ({ code, message, collection, field })),
    ).to.deep.equal([
      {
        code: 'NAME_STILL_USED',
        message:
          'meta.options.template contains "title", which is now named "headline". If it means the renamed object, change it',
        collection: 'articles',
        field: 'headline',
      },
    ]);
    const { meta } = (await api.ok<Answer<CollectionAnswer>>('GET', '/collections/articles')).data;
    expect(meta).to.include({
      display_template: '{{ headline }} by {{author.name}}, {{titles}}',
      preview_url: 'https://example.org/{{headline}}',
      archive_field: 'headline',
      sort_field: 'rank',
    });
    expect(meta['item_duplication_fields']).to.deep.equal(['headline', 'author.name']);
    const slug = await api.ok<Answer<{ schema: object }>>('GET', '/fields/articles/slug');
    expect(slug.data.schema).to.include({ generation_expression: 'lower(headline)' });
    expect(await names('articles'))
      .to.include('articles_headline_index')
      .and.not.to.include('articles_title_index');
    expect(await api.sql('SELECT headline, slug FROM articles ORDER BY id LIMIT 1')).to.deep.equal([
      { headline: 'One', slug: 'one' },
    ]);
  });

  it('updates both sides and the sort field of a relation', async () => {
    await api.ok('POST', '/fields/articles/author/rename', { to: 'writer' });
    await api.ok('POST', '/fields/authors/texts/rename', { to: 'works' });
    await api.ok('POST', '/fields/articles/rank/rename', { to: 'place' });
    await api.ok('POST', '/fields/authors/name/rename', { to: 'full name' });
    expect(await relations()).to.deep.equal([
      ['articles.writer', 'authors', 'works', 'articles_writer_foreign'],
      ['notes.item', ['authors', 'articles'], null, null],
    ]);
    const { meta } = (await api.ok<Answer<CollectionAnswer>>('GET', '/collections/articles')).data;
    expect(meta).to.include({
      display_template: '{{ title }} by {{writer.full name}}, {{titles}}',
      sort_field: 'place',
    });
    expect(meta['item_duplication_fields']).to.deep.equal(['title', 'writer.full name']);
  });

  it('keeps custom constraint names', async () => {
    await api.ok('PATCH', '/relations/articles/author', { schema: { constraint_name: 'by_hand' } });
    await api.ok('POST', '/collections/articles/rename', { to: 'posts' });
    expect(await relations()).to.deep.include(['posts.author', 'authors', 'texts', 'by_hand']);
    expect(await names('posts')).to.include('by_hand');
  });

  it('works for folders, groups and fields without a column', async () => {
    await api.ok('POST', '/collections', { collection: 'box', schema: null });
    await api.ok('PATCH', '/collections/notes', { meta: { group: 'box' } });
    await api.ok('POST', '/fields/notes', alias('group a', 'group'));
    await api.ok('PATCH', '/fields/notes/kind', { meta: { group: 'group a' } });
    await api.ok('POST', '/collections/box/rename', { to: 'shelf' });
    await api.ok('POST', '/fields/notes/group%20a/rename', { to: 'group b' });
    const { data } = await api.ok<Answer<CollectionAnswer>>('GET', '/collections/notes');
    expect(data.meta).to.include({ group: 'shelf' });
    const kind = await api.ok<Answer<{ meta: object }>>('GET', '/fields/notes/kind');
    expect(kind.data.meta).to.include({ group: 'group b' });
  });

  it('changes nothing if the name is the same', async () => {
    await api.appends([], 'POST', '/collections/articles/rename', { to: 'articles' });
    await api.appends([], 'POST', '/fields/articles/title/rename', { to: 'title' });
  });

  it('lists functions that mention the old name', async () => {
    await api.sql(`CREATE FUNCTION count_them() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM articles $$`);
    const answer = await api.ok<Answer<object>>('POST', '/collections/articles/rename', { to: 'posts' });
    expect(answer.warnings?.map(({ code, message }) => [code, message])).to.deep.equal([
      [
        'NAME_STILL_USED',
        'the body of the function public.count_them contains "articles". If it means the renamed object, change it',
      ],
    ]);
  });

  it('lists them in a diff, its dry run and a revert as well', async () => {
    await api.sql(`CREATE FUNCTION count_old() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM Articles $$`);
    const text = JSON.stringify(await api.ok<object>('GET', '/schema/snapshot')).replaceAll('"articles"', '"posts"');
    const renamed = JSON.parse(text) as { collections: { collection: string }[] };
    const posts = renamed.collections.find(({ collection }) => collection === 'posts') ?? {};
    Object.assign(posts, { renamed_from: 'articles' });
    type Warned = { warnings?: Warning[] };
    const messagesOf = ({ warnings = [] }: Warned) =>
      warnings.flatMap(({ code, message }) => (code === 'NAME_STILL_USED' ? [message] : []));
    const there = [
      'the body of the function public.count_old contains "articles". If it means the renamed object, change it',
    ];
    const diff = await api.ok<Warned>('POST', '/schema/diff', renamed);
    expect(messagesOf(diff)).to.deep.equal(there);
    expect(messagesOf(await api.ok<Warned>('POST', '/schema/apply?dry_run', diff))).to.deep.equal(there);
    const before = (await client('/collections')).headers.get('x-log-position');
    await api.ok('POST', '/collections/articles/rename', { to: 'posts' });
    await api.sql(`CREATE FUNCTION count_new() RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM "posts" $$`);
    expect(messagesOf(await api.ok<Warned>('GET', `/history/diff?to=${before}`))).to.deep.equal([
      'the body of the function public.count_new contains "posts". If it means the renamed object, change it',
    ]);
  });

  it('leaves views and triggers to PostgreSQL, which updates them', async () => {
    await api.sql('CREATE VIEW titles AS SELECT title FROM articles');
    await api.ok('POST', '/collections/articles/rename', { to: 'posts' });
    await api.ok('POST', '/fields/posts/title/rename', { to: 'headline' });
    expect(await api.sql('SELECT count(*)::int AS n FROM titles')).to.deep.equal([{ n: 2 }]);
  });

  describe('is rejected', () => {
    const refusals: [string, string, object, { status: number; code: string; at?: string }][] = [
      [
        'a name that is taken',
        '/collections/articles/rename',
        { to: 'authors' },
        { status: 409, code: 'ALREADY_EXISTS', at: 'to' },
      ],
      [
        'a reserved name',
        '/collections/articles/rename',
        { to: 'service_users' },
        { status: 400, code: 'INVALID_PAYLOAD', at: 'to' },
      ],
      [
        'a name that is too long',
        '/collections/articles/rename',
        { to: 'é'.repeat(32) },
        { status: 400, code: 'INVALID_PAYLOAD', at: 'to' },
      ],
      ['no name', '/collections/articles/rename', {}, { status: 400, code: 'INVALID_PAYLOAD', at: 'to' }],
      ['no string', '/collections/articles/rename', { to: 7 }, { status: 400, code: 'INVALID_PAYLOAD', at: 'to' }],
      [
        'another member',
        '/collections/articles/rename',
        { to: 'posts', form: 1 },
        { status: 400, code: 'INVALID_PAYLOAD', at: 'form' },
      ],
      ['an unknown collection', '/collections/nothing/rename', { to: 'posts' }, { status: 404, code: 'NOT_FOUND' }],
      [
        'a collection of the service',
        '/collections/service_users/rename',
        { to: 'posts' },
        { status: 403, code: 'FORBIDDEN' },
      ],
      [
        'a field name that is taken',
        '/fields/articles/title/rename',
        { to: 'slug' },
        { status: 409, code: 'ALREADY_EXISTS', at: 'to' },
      ],
      [
        'a system column',
        '/fields/articles/title/rename',
        { to: 'ctid' },
        { status: 400, code: 'INVALID_PAYLOAD', at: 'to' },
      ],
      ['an unknown field', '/fields/articles/nothing/rename', { to: 'a' }, { status: 404, code: 'NOT_FOUND' }],
      ['a field of nowhere', '/fields/nothing/title/rename', { to: 'a' }, { status: 404, code: 'NOT_FOUND' }],
    ];
    for (const [what, path, body, expected] of refusals) {
      it(what, async () => {
        await api.refused(expected, 'POST', path, body);
      });
    }

    it('if the new name belongs to an unmanaged table or an index', async () => {
      await api.sql('CREATE TABLE public.mine (a integer)');
      const table = await api.refused({ status: 409, code: 'ALREADY_EXISTS' }, 'POST', '/collections/articles/rename', {
        to: 'mine',
      });
      expect(table.message).to.match(/Adopt it/);
      await api.refused({ status: 409, code: 'ALREADY_EXISTS', at: 'to' }, 'POST', '/collections/notes/rename', {
        to: 'articles_title_index',
      });
      await api.sql('DROP TABLE public.mine');
    });

    it('if a PATCH contains another name, and the error names the right request', async () => {
      const expected = { status: 400, code: 'INVALID_PAYLOAD' };
      const collection = await api.refused({ ...expected, at: 'collection' }, 'PATCH', '/collections/articles', {
        collection: 'posts',
      });
      expect(collection.message).to.contain('POST /collections/articles/rename');
      const field = await api.refused({ ...expected, at: 'field' }, 'PATCH', '/fields/articles/title', {
        field: 'headline',
      });
      expect(field.message).to.contain('POST /fields/articles/title/rename');
    });
  });
});
