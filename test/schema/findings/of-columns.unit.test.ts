import { fieldIn } from './diffs.js';
import { type Telling, add, all, rows, set, itReports } from './told.js';

const TELLINGS: Telling[] = [
  {
    it: 'a field that must have a value, of a table whose rows are not counted',
    when: add('foo', 'string', { is_nullable: false }),
    told: [
      'warn MAY_FAIL articles.foo: add column articles.foo: existing rows can make it fail',
      'warn REQUIRED_FIELD articles.foo: add column articles.foo: it is NOT NULL without a default, so it fails if the table has a row',
    ],
  },
  {
    it: 'the same, of a table that has no rows',
    when: add('foo', 'string', { is_nullable: false }),
    how: rows(0),
    of: ['REQUIRED_FIELD'],
    told: [
      'note REQUIRED_FIELD articles.foo: add column articles.foo: it is NOT NULL without a default, so it fails if the table has a row',
    ],
  },
  {
    it: 'the same, of a table that has one',
    when: add('foo', 'string', { is_nullable: false }),
    how: rows(1),
    of: ['REQUIRED_FIELD'],
    told: [
      'danger REQUIRED_FIELD articles.foo: add column articles.foo: it is NOT NULL without a default, so it fails if the table has a row',
    ],
  },
  {
    it: 'one that must have a value, and computes it',
    when: add('foo', 'integer', { is_nullable: false, generation_expression: '(views * 2)' }),
    told: [
      'warn REWRITES_TABLE articles.foo: add column articles.foo: PostgreSQL rewrites the whole table and locks it for reads and writes',
      'warn MAY_FAIL articles.foo: add column articles.foo: existing rows can make it fail',
      'warn GENERATED_OVER_ROWS articles.foo: add column articles.foo: PostgreSQL computes its value for every row',
    ],
  },
  {
    it: 'one that counts by itself',
    when: add('number', 'integer', { has_auto_increment: true, is_nullable: false }),
    how: rows(20_000),
    told: [
      'warn REWRITES_TABLE articles.number: add column articles.number: PostgreSQL rewrites the whole table and locks it for reads and writes (about 20,000 rows, 2 MB; the statistics are 60 s old; it cannot be applied online)',
      'warn COUNTER_OVER_ROWS articles.number: add column articles.number: every row gets a number (about 20,000 rows, 2 MB; the statistics are 60 s old; it cannot be applied online)',
    ],
  },
  {
    it: 'one whose default differs from row to row',
    when: add('token', 'uuid', { default_value: 'gen_random_uuid()' }),
    told: [
      'warn REWRITES_TABLE articles.token: add column articles.token: PostgreSQL rewrites the whole table and locks it for reads and writes',
      'warn VOLATILE_DEFAULT articles.token: add column articles.token: PostgreSQL computes its default for every row',
    ],
  },
  {
    it: 'one that may be null, or has a constant',
    when: all(add('a', 'string'), add('b', 'integer', { default_value: 1 })),
    told: [],
  },
  {
    it: 'a field that becomes NOT NULL',
    when: set('title', { is_nullable: false }),
    told: [
      'warn LONG_LOCK articles.title: alter column articles.title: nullability: PostgreSQL reads the whole table under a lock; PATCH /fields/articles/title?online {"schema":{"is_nullable":false}}',
      'warn MAY_FAIL articles.title: alter column articles.title: nullability: existing rows can make it fail',
      'warn NOT_NULL_OVER_ROWS articles.title: alter column articles.title: nullability: PostgreSQL reads all rows, and rows with null make it fail; PATCH /fields/articles/title?online {"schema":{"is_nullable":false}}',
    ],
  },
  {
    it: 'also applies to a large table',
    when: set('title', { is_nullable: false }),
    how: rows(2_000_000),
    told: [
      'danger LONG_LOCK articles.title: alter column articles.title: nullability: PostgreSQL reads the whole table under a lock (about 2,000,000 rows, 191 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/title?online {"schema":{"is_nullable":false}}',
      'warn MAY_FAIL articles.title: alter column articles.title: nullability: existing rows can make it fail',
      'danger NOT_NULL_OVER_ROWS articles.title: alter column articles.title: nullability: PostgreSQL reads all rows, and rows with null make it fail (about 2,000,000 rows, 191 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/title?online {"schema":{"is_nullable":false}}',
    ],
  },
  {
    it: 'the same online: that rows can refuse it is all',
    when: set('title', { is_nullable: false }),
    how: { ...rows(2_000_000), online: true },
    told: ['warn MAY_FAIL articles.title: alter column articles.title: nullability: existing rows can make it fail'],
  },
  {
    it: 'a field that may be null',
    when: set('views', { is_nullable: true }),
    told: ['note ALLOWS_NULL articles.views: alter column articles.views: it becomes nullable'],
  },
  {
    it: 'another default',
    when: set('views', { default_value: 1 }),
    told: [
      'note DEFAULT_FOR_NEW_ROWS articles.views: alter column articles.views: the new default applies to new rows only',
    ],
  },
  {
    it: 'a default where there was none',
    when: set('title', { default_value: 'x' }),
    told: [
      'note DEFAULT_FOR_NEW_ROWS articles.title: alter column articles.title: the new default applies to new rows only',
    ],
  },
  {
    it: 'a default that is an expression',
    when: set('title', { extras: { default: 'lower(CURRENT_USER)' } }),
    told: [
      'note DEFAULT_FOR_NEW_ROWS articles.title: alter column articles.title: the new default applies to new rows only',
    ],
  },
  {
    it: 'another expression',
    given: set('title', { extras: { default: 'lower(CURRENT_USER)' } }),
    when: set('title', { extras: { default: 'upper(CURRENT_USER)' } }),
    told: [
      'note DEFAULT_FOR_NEW_ROWS articles.title: alter column articles.title: the new default applies to new rows only',
    ],
  },
  {
    it: 'no default of what must have a value',
    when: set('views', { default_value: null }),
    told: [
      'warn DROPS_DEFAULT articles.views: alter column articles.views: without a default, an INSERT that omits it is rejected',
    ],
  },
  {
    it: 'no default of what may be null',
    given: set('title', { default_value: 'x' }),
    when: set('title', { default_value: null }),
    told: [
      'note DROPS_DEFAULT articles.title: alter column articles.title: without a default, an INSERT that omits it writes null',
    ],
  },
  {
    it: 'an expression that goes',
    given: set('title', { extras: { default: 'lower(CURRENT_USER)' } }),
    when: set('title', { extras: null }),
    told: [
      'note DROPS_DEFAULT articles.title: alter column articles.title: without a default, an INSERT that omits it writes null',
    ],
  },
  {
    it: 'a field that counts by itself from now on',
    when: set('views', { default_value: null, has_auto_increment: true }),
    told: [],
  },
  {
    it: 'a field that is no longer auto-increment',
    given: set('views', { default_value: null, has_auto_increment: true }),
    when: set('views', { has_auto_increment: false }),
    told: [
      'warn DROPS_DEFAULT articles.views: alter column articles.views: without a default, an INSERT that omits it is rejected',
    ],
  },
  {
    it: 'an index',
    when: set('title', { is_indexed: true }),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles.title index articles_title_index: create index on articles.title: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/title?online {"schema":{"is_indexed":true}}',
      'warn INDEX_UNDER_LOCK articles.title index articles_title_index: create index on articles.title: PostgreSQL builds its index while nobody can write to the table (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/title?online {"schema":{"is_indexed":true}}',
    ],
  },
  { it: 'an index made concurrently', when: set('title', { is_indexed: true }), how: { concurrently: true }, told: [] },
  {
    it: 'values that may not repeat',
    when: set('title', { is_unique: true }),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles.title constraint articles_title_unique: make articles.title unique: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/title?online {"schema":{"is_unique":true}}',
      'warn MAY_FAIL articles.title constraint articles_title_unique: make articles.title unique: existing rows can make it fail',
      'warn UNIQUE_OVER_ROWS articles.title constraint articles_title_unique: make articles.title unique: PostgreSQL builds an index over all rows, and duplicates make it fail (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); PATCH /fields/articles/title?online {"schema":{"is_unique":true}}',
    ],
  },
  {
    it: 'values that may repeat again',
    given: set('slug', { is_unique: true }),
    when: set('slug', { is_unique: false }),
    told: [
      'note DROPS_CONSTRAINT articles.slug constraint articles_slug_unique: drop the unique constraint of articles.slug: rows that violate it can be written',
    ],
  },
  {
    it: 'an index that goes',
    when: set('slug', { is_indexed: false }),
    how: rows(2_000_000),
    told: [
      'warn DROPS_INDEX articles.slug index articles_slug_index: drop index on articles.slug: queries that use it will read the whole table',
    ],
  },
  {
    it: 'another type of an indexed field',
    when: set('slug', { data_type: 'uuid', max_length: null }, 'uuid'),
    how: rows(20_000),
    told: [
      'danger LOSES_DATA articles.slug: alter column articles.slug: type: data is permanently lost',
      'warn REWRITES_TABLE articles.slug: alter column articles.slug: type: PostgreSQL rewrites the whole table and locks it for reads and writes (about 20,000 rows, 2 MB; the statistics are 60 s old; it cannot be applied online)',
      'warn MAY_FAIL articles.slug: alter column articles.slug: type: existing rows can make it fail',
      'warn INDEXED_TYPE_CHANGE articles.slug: alter column articles.slug: from character varying(255) to uuid PostgreSQL rebuilds its indexes',
    ],
  },
  {
    it: 'a roomier number',
    when: set('views', { data_type: 'bigint' }, 'bigInteger'),
    how: rows(20_000),
    told: [
      'warn REWRITES_TABLE articles.views: alter column articles.views: default, type: PostgreSQL rewrites the whole table and locks it for reads and writes (about 20,000 rows, 2 MB; the statistics are 60 s old; it cannot be applied online)',
    ],
  },
  {
    it: 'a field that goes',
    when: (snapshot) => void (snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'title')),
    told: ['danger LOSES_DATA articles.title: drop column articles.title: data is permanently lost'],
  },
  {
    it: 'a field with an index that goes',
    when: (snapshot) => void (snapshot.fields = snapshot.fields.filter(({ field }) => field !== 'slug')),
    told: ['danger LOSES_DATA articles.slug: drop column articles.slug: data is permanently lost'],
  },
  {
    it: 'types and names that have a catch',
    when: all(
      add('country', 'string', { data_type: 'character', max_length: 2 }),
      add('letter', 'string', { data_type: 'character', max_length: 1 }),
      add('options', 'json', { data_type: 'json' }),
      add('more', 'json', { data_type: 'jsonb' }),
      add('day', 'dateTime'),
      add('then', 'dateTime', { default_value: 'now()' }),
      add('Column', 'string'),
      add('user', 'string'),
    ),
    told: [
      'note NAME_NEEDS_QUOTES articles.Column: articles.Column: SQL must quote its name',
      'note CHAR_TYPE articles.country: articles.country is char(2)',
      'note TIME_WITHOUT_ZONE articles.day: articles.day is a timestamp without time zone',
      'note CHAR_TYPE articles.letter: articles.letter is char(1)',
      'note JSON_NOT_JSONB articles.options: articles.options is json, not jsonb',
      'warn LOCAL_TIME_DEFAULT articles.then: articles.then has no time zone, and its default is the current time',
      'note TIME_WITHOUT_ZONE articles.then: articles.then is a timestamp without time zone',
      'note RESERVED_NAME articles.then: articles.then: its name is a reserved word of SQL and must be quoted',
      'note RESERVED_NAME articles.user: articles.user: its name is a reserved word of SQL and must be quoted',
    ],
  },
  {
    it: 'types that become such',
    when: all(
      set('title', { data_type: 'character', max_length: 100 }),
      set('sent', { data_type: 'timestamp without time zone' }, 'dateTime'),
    ),
    of: ['CHAR_TYPE', 'TIME_WITHOUT_ZONE'],
    told: [
      'note TIME_WITHOUT_ZONE articles.sent: articles.sent is a timestamp without time zone',
      'note CHAR_TYPE articles.title: articles.title is char(100)',
    ],
  },
  {
    it: 'nothing of such types where something else changes',
    given: all(
      add('country', 'string', { data_type: 'character', max_length: 2 }),
      add('options', 'json', { data_type: 'json' }),
      add('then', 'dateTime', { default_value: 'now()' }),
      add('a_field_with_a_name_that_says_all_that_there_is_to_say_of_it', 'string', { is_indexed: true }),
    ),
    when: all(
      set('country', { is_unique: true }),
      set('options', { default_value: {} }),
      set('then', { is_indexed: true }),
      set('a_field_with_a_name_that_says_all_that_there_is_to_say_of_it', { is_unique: true }),
    ),
    of: ['CHAR_TYPE', 'JSON_NOT_JSONB', 'TIME_WITHOUT_ZONE', 'LOCAL_TIME_DEFAULT', 'NAME_SHORTENED'],
    told: [],
  },
  {
    it: 'the present moment as a default of what has none of it',
    given: add('then', 'dateTime'),
    when: set('then', { default_value: 'CURRENT_TIMESTAMP' }),
    told: [
      'note DEFAULT_FOR_NEW_ROWS articles.then: alter column articles.then: the new default applies to new rows only',
      'warn LOCAL_TIME_DEFAULT articles.then: articles.then has no time zone, and its default is the current time',
    ],
  },
  {
    it: 'names of keys that are cut, from 64 bytes on',
    when: all(
      add('x'.repeat(63 - 'articles__unique'.length), 'string', { is_unique: true }),
      add('y'.repeat(64 - 'articles__unique'.length), 'string', { is_unique: true }),
      add('z'.repeat(63), 'string'),
    ),
    of: ['NAME_SHORTENED'],
    told: [
      'note NAME_SHORTENED articles.yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy: articles.yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy: the name of its key or index is shortened to 63 bytes',
    ],
  },
  {
    it: 'a name that is cut from now on',
    given: add('z'.repeat(60), 'string'),
    when: set('z'.repeat(60), { is_unique: true }),
    of: ['NAME_SHORTENED'],
    told: [
      'note NAME_SHORTENED articles.zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz: articles.zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz: the name of its key or index is shortened to 63 bytes',
    ],
  },
  {
    it: 'what is computed in another way',
    of: ['GENERATED_OVER_ROWS', 'DROPS_DEFAULT'],
    given: add('twice', 'integer', { generation_expression: '(views * 2)' }),
    when: set('twice', { generation_expression: '(views * 3)' }),
    told: [
      'warn GENERATED_OVER_ROWS articles.twice: add column articles.twice: PostgreSQL computes its value for every row',
    ],
  },
  {
    it: 'what counts already, and gets another type',
    given: add('number', 'integer', { has_auto_increment: true, is_nullable: false }),
    when: set('number', { data_type: 'bigint' }, 'bigInteger'),
    of: ['COUNTER_OVER_ROWS', 'REWRITES_TABLE'],
    told: [
      'warn REWRITES_TABLE articles.number: alter column articles.number: type: PostgreSQL rewrites the whole table and locks it for reads and writes',
    ],
  },
  {
    it: 'an indexed text that becomes roomier',
    when: set('slug', { data_type: 'text', max_length: null }, 'text'),
    of: ['INDEXED_TYPE_CHANGE'],
    told: [],
  },
  {
    it: 'an indexed text of any length that is called another',
    given: set('slug', { max_length: null }),
    when: set('slug', { data_type: 'text' }, 'text'),
    of: ['INDEXED_TYPE_CHANGE'],
    told: [],
  },
  {
    it: 'an indexed number that becomes a text',
    given: set('views', { is_indexed: true }),
    when: set('views', { data_type: 'text', default_value: null }, 'text'),
    of: ['INDEXED_TYPE_CHANGE'],
    told: [
      'warn INDEXED_TYPE_CHANGE articles.views: alter column articles.views: from integer to text PostgreSQL rebuilds its indexes',
    ],
  },
  {
    it: 'a field that comes with one value, and has to differ from row to row',
    when: add('code', 'string', { is_unique: true, default_value: 'x' }),
    of: ['UNIQUE_OVER_ROWS'],
    told: [
      'warn UNIQUE_OVER_ROWS articles.code constraint articles_code_unique: make articles.code unique: PostgreSQL builds an index over all rows, and duplicates make it fail',
    ],
  },
  {
    it: 'a request of all that changes of a field',
    when: all(set('title', { is_unique: true }), (snapshot) =>
      Object.assign(fieldIn(snapshot, 'title'), { meta: { note: 'x', options: { a: 1 } } }),
    ),
    of: ['UNIQUE_OVER_ROWS'],
    told: [
      'warn UNIQUE_OVER_ROWS articles.title constraint articles_title_unique: make articles.title unique: PostgreSQL builds an index over all rows, and duplicates make it fail; PATCH /fields/articles/title?online {"schema":{"is_unique":true},"meta":{"note":"x","options":{"a":1}}}',
    ],
  },
];

describe('findings about columns', () => {
  TELLINGS.forEach(itReports);
});
