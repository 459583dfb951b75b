import { column, fieldIn, key, table } from './diffs.js';
import { type Edit, type Telling, all, rows, set, itReports } from './told.js';

const withoutAuthors: Edit = (snapshot) => {
  snapshot.collections = snapshot.collections.filter(({ collection }) => collection !== 'authors');
  snapshot.fields = snapshot.fields.filter(({ collection }) => collection !== 'authors');
  snapshot.relations = [];
};
const renamed: Edit = (snapshot) => {
  const named = (document: object, name: object): object =>
    Object.assign(document, { meta: undefined, schema: undefined }, name);
  for (const each of snapshot.fields) if (each.collection === 'articles') named(each, { collection: 'select' });
  for (const each of snapshot.collections)
    if (each.collection === 'articles') named(each, { collection: 'select', renamed_from: 'articles' });
};
const headline =
  (field: string): Edit =>
  (snapshot) =>
    void Object.assign(fieldIn(snapshot, 'title'), {
      meta: undefined,
      schema: undefined,
      field,
      renamed_from: 'title',
    });
const without =
  (...names: string[]): Edit =>
  (snapshot) =>
    void (snapshot.fields = snapshot.fields.filter(
      ({ collection, field }) => collection !== 'articles' || !names.includes(field),
    ));
const gone: Edit = (snapshot) => {
  snapshot.collections = snapshot.collections.filter(({ collection }) => collection !== 'articles');
  snapshot.fields = snapshot.fields.filter(({ collection }) => collection !== 'articles');
};
const views = (count: number, column: string | null) =>
  Array.from({ length: count }, (_, at) => ({
    kind: 'view',
    name: `v${at}`,
    table: 'articles',
    column,
    isManaged: false,
  }));
const NEEDED = ['NEEDED_ELSEWHERE'];
const CLIENTS = ['BREAKS_CLIENTS'];

const TELLINGS: Telling[] = [
  {
    it: 'another primary key',
    when: all(
      set('id', { is_primary_key: false }),
      (snapshot) =>
        void Object.assign(fieldIn(snapshot, 'slug'), { schema: { is_primary_key: true, is_nullable: false } }),
    ),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles.id constraint articles_id_unique: make articles.id unique: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/id?online {"schema":{"is_unique":true}}',
      'warn MAY_FAIL articles.id constraint articles_id_unique: make articles.id unique: existing rows can make it fail',
      'warn UNIQUE_OVER_ROWS articles.id constraint articles_id_unique: make articles.id unique: PostgreSQL builds an index over all rows, and duplicates make it fail (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/id?online {"schema":{"is_unique":true}}',
      'warn DROPS_INDEX articles.slug index articles_slug_index: drop index on articles.slug: queries that use it will read the whole table',
      'warn LONG_LOCK articles.slug: alter column articles.slug: nullability: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/slug?online {"schema":{"is_primary_key":true,"is_indexed":false,"is_unique":true,"is_nullable":false}}',
      'warn MAY_FAIL articles.slug: alter column articles.slug: nullability: existing rows can make it fail',
      'warn NOT_NULL_OVER_ROWS articles.slug: alter column articles.slug: nullability: PostgreSQL reads all rows, and rows with null make it fail (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/slug?online {"schema":{"is_primary_key":true,"is_indexed":false,"is_unique":true,"is_nullable":false}}',
      'warn LONG_LOCK articles.slug constraint articles_pkey: make slug the primary key of articles: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/slug?online {"schema":{"is_primary_key":true,"is_indexed":false,"is_unique":true,"is_nullable":false}}',
      'warn MAY_FAIL articles.slug constraint articles_pkey: make slug the primary key of articles: existing rows can make it fail',
      'warn PRIMARY_KEY_OVER_ROWS articles.slug constraint articles_pkey: make slug the primary key of articles: PostgreSQL builds the index of the primary key over all rows (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/slug?online {"schema":{"is_primary_key":true,"is_indexed":false,"is_unique":true,"is_nullable":false}}',
    ],
  },
  {
    it: 'no primary key',
    when: set('id', { is_primary_key: false, is_unique: false }),
    of: ['NO_PRIMARY_KEY', 'DROPS_CONSTRAINT'],
    told: [
      'note DROPS_CONSTRAINT articles.id constraint articles_pkey: drop the primary key of articles: rows that violate it can be written',
      'warn NO_PRIMARY_KEY articles: alter table articles: it has no primary key',
    ],
  },
  {
    it: 'no primary key, as before',
    given: set('id', { is_primary_key: false, is_unique: false }),
    when: set('title', { max_length: 200 }),
    told: [],
  },
  {
    it: 'no primary key, whose field goes',
    when: without('id'),
    of: ['NO_PRIMARY_KEY', 'LOSES_DATA'],
    told: [
      'danger LOSES_DATA articles.id: drop column articles.id: data is permanently lost',
      'warn NO_PRIMARY_KEY articles: alter table articles: it has no primary key',
    ],
  },
  {
    it: 'a new table without a primary key',
    when: ({ collections, fields }) => {
      collections.push(table('notes'));
      fields.push(column('notes', 'text', 'string'));
    },
    told: ['warn NO_PRIMARY_KEY notes: create table notes: it has no primary key'],
  },
  {
    it: 'a new folder',
    when: ({ collections }) => collections.push({ collection: 'Big Folder', schema: null }),
    told: [],
  },
  {
    it: 'a new table whose names have a catch',
    when: ({ collections, fields }) => {
      collections.push(table('Order'), table('user'));
      fields.push(
        key('Order'),
        column('Order', 'a b', 'string'),
        key('user'),
        column('user', '_9$ñ', 'string'),
        column('user', '9a', 'string'),
      );
    },
    told: [
      'note NAME_NEEDS_QUOTES Order.a b: Order.a b: SQL must quote its name; also applies to Order, user.9a',
      'note RESERVED_NAME user: user: its name is a reserved word of SQL and must be quoted',
    ],
  },
  {
    it: 'a table that goes',
    when: withoutAuthors,
    told: ['danger LOSES_DATA authors: drop table authors: data is permanently lost'],
  },
  {
    it: 'a table that is renamed',
    when: renamed,
    how: rows(20_000),
    told: [
      'warn BREAKS_CLIENTS select: rename table articles to select: applications that use it will fail (the statistics count use of its table)',
      'note RESERVED_NAME select: select: its name is a reserved word of SQL and must be quoted',
    ],
  },
  {
    it: 'a field that is renamed',
    when: headline('Select'),
    how: rows(20_000),
    told: [
      'warn BREAKS_CLIENTS articles.Select: rename column articles.title to Select: applications that use it will fail (the statistics count use of its table)',
      'note NAME_NEEDS_QUOTES articles.Select: articles.Select: SQL must quote its name',
    ],
  },
  {
    it: 'a renamed field of a table that nobody uses',
    when: headline('headline'),
    how: rows(20_000, { uses: 0 }),
    told: [
      'note BREAKS_CLIENTS articles.headline: rename column articles.title to headline: applications that use it will fail (the statistics count no use of its table)',
    ],
  },
  {
    it: 'a renamed field of a table whose use is not known',
    when: headline('headline'),
    how: rows(20_000, { uses: null }),
    told: [
      'warn BREAKS_CLIENTS articles.headline: rename column articles.title to headline: applications that use it will fail',
    ],
  },
  {
    it: 'a field that goes, of a table that is used',
    when: without('title'),
    how: rows(1, { uses: 100 }),
    of: CLIENTS,
    told: [
      'warn BREAKS_CLIENTS articles.title: drop column articles.title: applications that use it will fail (the statistics count use of its table)',
    ],
  },
  {
    it: 'a field that goes, of a table that hardly is',
    when: without('title'),
    how: rows(1, { uses: 99 }),
    of: CLIENTS,
    told: [],
  },
  {
    it: 'a table that goes, and is used',
    when: gone,
    how: rows(1),
    of: CLIENTS,
    told: [
      'warn BREAKS_CLIENTS articles: drop table articles: applications that use it will fail (the statistics count use of its table)',
    ],
  },
  {
    it: 'a renamed field without a column',
    given: ({ fields }) =>
      fields.push({
        collection: 'articles',
        field: 'shown',
        type: 'alias',
        meta: { interface: 'presentation-divider' },
        schema: null,
      }),
    when: ({ fields }) =>
      fields.forEach(
        (each) =>
          each.field === 'shown' && Object.assign(each, { field: 'user', renamed_from: 'shown', meta: undefined }),
      ),
    how: rows(1),
    told: [],
  },
  {
    it: 'what a view needs, and goes',
    when: without('title'),
    how: { known: { dependents: views(1, 'title') } },
    of: NEEDED,
    told: [
      'danger NEEDED_ELSEWHERE articles.title: drop column articles.title: view v0 needs it, so PostgreSQL rejects it (it is not part of the schema)',
    ],
  },
  {
    it: 'what six views need',
    when: without('title'),
    how: { known: { dependents: [...views(6, 'title'), ...views(6, 'title')] } },
    of: NEEDED,
    told: [
      'danger NEEDED_ELSEWHERE articles.title: drop column articles.title: view v0, view v1, view v2, view v3, view v4 and view v5 need it, so PostgreSQL rejects it (they are not part of the schema)',
    ],
  },
  {
    it: 'what eight views need',
    when: without('title'),
    how: { known: { dependents: views(8, 'title') } },
    of: NEEDED,
    told: [
      'danger NEEDED_ELSEWHERE articles.title: drop column articles.title: view v0, view v1, view v2, view v3, view v4, view v5 and 2 more need it, so PostgreSQL rejects it (they are not part of the schema)',
    ],
  },
  {
    it: 'what is renamed, and a view needs',
    when: headline('headline'),
    how: { known: { dependents: views(1, 'title') } },
    of: NEEDED,
    told: [
      'note NEEDED_ELSEWHERE articles.headline: rename column articles.title: view v0 needs it, and keeps the old name in its own columns',
    ],
  },
  {
    it: 'what is renamed, and views need',
    when: headline('headline'),
    how: { known: { dependents: views(2, 'title') } },
    of: NEEDED,
    told: [
      'note NEEDED_ELSEWHERE articles.headline: rename column articles.title: view v0 and view v1 need it, and keep the old name in their own columns',
    ],
  },
  {
    it: 'a column that gets another type',
    when: set('title', { max_length: 200 }),
    how: { known: { dependents: views(2, 'title') } },
    of: NEEDED,
    told: [
      'danger NEEDED_ELSEWHERE articles.title: alter column articles.title: view v0 and view v1 need it, so PostgreSQL rejects it (they are not part of the schema)',
    ],
  },
  {
    it: 'a column that keeps its type',
    when: set('title', { default_value: 'x' }),
    how: { known: { dependents: views(2, 'title') } },
    of: NEEDED,
    told: [],
  },
  {
    it: 'another column of the table',
    when: without('slug'),
    how: { known: { dependents: views(2, 'title') } },
    of: NEEDED,
    told: [],
  },
  {
    it: 'a table that goes, and a view needs',
    when: gone,
    how: { known: { dependents: views(1, 'title') } },
    of: NEEDED,
    told: [
      'danger NEEDED_ELSEWHERE articles: drop table articles: view v0 needs it, so PostgreSQL rejects it (it is not part of the schema)',
    ],
  },
  {
    it: 'a table that is renamed, and views need',
    when: renamed,
    how: { known: { dependents: views(2, null) } },
    of: NEEDED,
    told: [
      'note NEEDED_ELSEWHERE select: rename table articles: view v0 and view v1 need it, and keep the old name in their own columns',
    ],
  },
];

describe('findings about tables and their dependents', () => {
  TELLINGS.forEach(itReports);
});
