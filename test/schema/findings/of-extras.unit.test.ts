import { column, key, table } from './diffs.js';
import { type Telling, add, all, extras, rows, itReports } from './told.js';

const TELLINGS: Telling[] = [
  {
    it: 'a check',
    when: extras({ constraints: [{ name: 'positive', definition: 'CHECK ((views >= 0))' }] }),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles constraint positive: add constraint positive to articles: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); POST /schema/apply?online',
      'warn MAY_FAIL articles constraint positive: add constraint positive to articles: existing rows can make it fail',
      'warn CHECK_UNDER_LOCK articles constraint positive: add constraint positive to articles: PostgreSQL checks all rows while nobody can read or write (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); POST /schema/apply?online',
    ],
  },
  {
    it: 'a check that goes',
    given: extras({ constraints: [{ name: 'positive', definition: 'CHECK ((views >= 0))' }] }),
    when: extras({}),
    told: [
      'note DROPS_CONSTRAINT articles constraint positive: drop constraint positive of articles: rows that violate it can be written',
    ],
  },
  {
    it: 'another check of the same name',
    given: extras({ constraints: [{ name: 'positive', definition: 'CHECK ((views >= 0))' }] }),
    when: extras({ constraints: [{ name: 'positive', definition: 'CHECK ((views > 0))' }] }),
    of: ['DROPS_CONSTRAINT', 'CHECK_UNDER_LOCK'],
    told: [
      'warn CHECK_UNDER_LOCK articles constraint positive: add constraint positive to articles: PostgreSQL checks all rows while nobody can read or write; POST /schema/apply?online',
    ],
  },
  {
    it: 'columns that are unique together',
    when: extras({ constraints: [{ name: 'once', definition: 'UNIQUE (title, slug)' }] }),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles constraint once: add constraint once to articles: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); POST /schema/apply?online',
      'warn MAY_FAIL articles constraint once: add constraint once to articles: existing rows can make it fail',
      'warn UNIQUE_OVER_ROWS articles constraint once: add constraint once to articles: PostgreSQL builds an index over all rows, and duplicates make it fail (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); POST /schema/apply?online',
    ],
  },
  {
    it: 'what excludes other rows',
    when: extras({ constraints: [{ name: 'once', definition: 'EXCLUDE USING btree (views WITH =)' }] }),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles constraint once: add constraint once to articles: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; it cannot be applied online)',
      'warn MAY_FAIL articles constraint once: add constraint once to articles: existing rows can make it fail',
      'warn EXCLUSION_UNDER_LOCK articles constraint once: add constraint once to articles: PostgreSQL builds its index over all rows while nobody can read or write (about 20,000 rows, 2 MB; the statistics are 60 s old; it cannot be applied online)',
    ],
  },
  {
    it: 'indexes of several columns',
    when: extras({
      indexes: [
        { name: 'three', definition: 'USING btree (title, slug, views)' },
        { name: 'four', definition: 'USING btree (title, slug, views, author)' },
        { name: 'one_of_four', unique: true, definition: 'USING btree (title, slug, views, author)' },
      ],
    }),
    told: [
      'warn LONG_LOCK articles index three: create index three on articles: PostgreSQL reads the whole table under a lock; POST /schema/apply?online',
      'warn MAY_FAIL articles index three: create index three on articles: it fails if a value is too long for an index (about 2,700 bytes)',
      'warn INDEX_UNDER_LOCK articles index three: create index three on articles: PostgreSQL builds its index while nobody can write to the table; POST /schema/apply?online',
      'warn LONG_LOCK articles index four: create index four on articles: PostgreSQL reads the whole table under a lock; POST /schema/apply?online',
      'warn MAY_FAIL articles index four: create index four on articles: it fails if a value is too long for an index (about 2,700 bytes)',
      'warn INDEX_UNDER_LOCK articles index four: create index four on articles: PostgreSQL builds its index while nobody can write to the table; POST /schema/apply?online',
      'warn LONG_LOCK articles index one_of_four: create index one_of_four on articles: PostgreSQL reads the whole table under a lock; POST /schema/apply?online',
      'warn MAY_FAIL articles index one_of_four: create index one_of_four on articles: existing rows can make it fail',
      'warn UNIQUE_OVER_ROWS articles index one_of_four: create index one_of_four on articles: PostgreSQL builds an index over all rows, and duplicates make it fail; POST /schema/apply?online',
      'note INDEX_OF_MANY_COLUMNS articles index four: index four of articles has 4 columns',
    ],
  },
  {
    it: 'an index of many columns that is there',
    given: extras({ indexes: [{ name: 'four', definition: 'USING btree (title, slug, views, author)' }] }),
    when: all(
      extras({ indexes: [{ name: 'four', definition: 'USING btree (title, slug, views, author)' }] }),
      add('more', 'string'),
    ),
    told: [],
  },
  {
    it: 'an index of the extras that goes',
    given: extras({ indexes: [{ name: 'own', definition: 'USING btree (title, views)' }] }),
    when: extras({}),
    told: [
      'warn DROPS_INDEX articles index own: drop index own of articles: queries that use it will read the whole table',
    ],
  },
  {
    it: 'types and extensions that a table needs',
    when: all(
      extras({
        needs: [
          { kind: 'extension', name: 'ltree' },
          { kind: 'enum', name: 'mood', labels: ['sad', 'glad'] },
          { kind: 'domain', name: 'plain', type: 'integer' },
          { kind: 'domain', name: 'given', type: 'integer', not_null: true },
          {
            kind: 'domain',
            name: 'ruled',
            type: 'integer',
            checks: [{ name: 'ok', definition: 'CHECK ((VALUE > 0))' }],
          },
        ],
      }),
      add('path', 'unknown', { data_type: 'ltree' }),
      add('mood', 'unknown', { data_type: 'mood' }),
      add('a', 'unknown', { data_type: 'plain' }),
      add('b', 'unknown', { data_type: 'given' }),
      add('c', 'unknown', { data_type: 'ruled' }),
    ),
    of: ['CREATES_EXTENSION', 'CREATES_TYPE'],
    told: [
      'note CREATES_EXTENSION articles extension ltree: articles needs the extension ltree',
      'note CREATES_TYPE articles enum mood: articles uses the enum mood',
      'note CREATES_TYPE articles domain given: articles uses the domain given',
      'note CREATES_TYPE articles domain ruled: articles uses the domain ruled',
    ],
  },
  {
    it: 'types that a new table needs',
    when: ({ collections, fields }) => {
      collections.push(
        table('notes', {
          needs: [{ kind: 'enum', name: 'mood', labels: ['sad', 'glad'] }],
          indexes: [{ name: 'four', definition: 'USING btree (a, b, c, mood)' }],
        }),
      );
      fields.push(
        key('notes'),
        column('notes', 'mood', 'unknown', { data_type: 'mood' }),
        ...['a', 'b', 'c'].map((name) => column('notes', name, 'integer')),
      );
    },
    told: [
      'note INDEX_OF_MANY_COLUMNS notes index four: index four of notes has 4 columns',
      'note CREATES_TYPE notes enum mood: notes uses the enum mood',
    ],
  },
];

describe('findings about constraints, indexes and types of a table', () => {
  TELLINGS.forEach(itReports);
});
