import { column, key, table } from './diffs.js';
import { type Edit, type Telling, all, relation, rows, set, itReports } from './told.js';

/** The present foreign key with changes. */
const rekeyed =
  (schema: object): Edit =>
  ({ relations }) =>
    relations.forEach((each) => Object.assign(each['schema'] as object, schema));
const withoutAuthors: Edit = (snapshot) => {
  snapshot.collections = snapshot.collections.filter(({ collection }) => collection !== 'authors');
  snapshot.fields = snapshot.fields.filter(({ collection }) => collection !== 'authors');
  snapshot.relations = [];
};
const without =
  (...names: string[]): Edit =>
  (snapshot) =>
    void (snapshot.fields = snapshot.fields.filter(
      ({ collection, field }) => collection !== 'articles' || !names.includes(field),
    ));

const TELLINGS: Telling[] = [
  {
    it: 'a relation',
    when: relation(),
    how: rows(20_000),
    told: [
      'warn LONG_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL reads the whole table under a lock (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); POST /relations?online {"collection":"articles","field":"author","related_collection":"authors","schema":{"on_delete":"NO ACTION"}}',
      'warn MAY_FAIL articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: existing rows can make it fail',
      'warn FOREIGN_KEY_UNDER_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL checks all rows while nobody can write to either table (about 20,000 rows, 2 MB; the statistics are 60 s old; with "online", other sessions wait for short locks only); POST /relations?online {"collection":"articles","field":"author","related_collection":"authors","schema":{"on_delete":"NO ACTION"}}',
      'warn FOREIGN_KEY_WITHOUT_INDEX articles.author: articles.author references authors: the field has no index; PATCH /fields/articles/author?concurrentIndexCreation {"schema":{"is_indexed":true}}',
    ],
  },
  { it: 'a relation of the metadata alone', when: relation(null), told: [] },
  {
    it: 'a relation that gets its key',
    given: relation(null),
    when: ({ relations }) => relations.forEach((each) => Object.assign(each, { schema: { on_delete: 'RESTRICT' } })),
    told: [
      'warn LONG_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL reads the whole table under a lock; POST /schema/apply?online',
      'warn MAY_FAIL articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: existing rows can make it fail',
      'warn FOREIGN_KEY_UNDER_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL checks all rows while nobody can write to either table; POST /schema/apply?online',
      'warn FOREIGN_KEY_WITHOUT_INDEX articles.author: articles.author references authors: the field has no index; PATCH /fields/articles/author?concurrentIndexCreation {"schema":{"is_indexed":true}}',
    ],
  },
  {
    it: 'a relation whose key says something else',
    given: relation(),
    when: rekeyed({ on_delete: 'SET NULL' }),
    told: [
      'warn LONG_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL reads the whole table under a lock; POST /schema/apply?online',
      'warn MAY_FAIL articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: existing rows can make it fail',
      'warn FOREIGN_KEY_UNDER_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL checks all rows while nobody can write to either table; POST /schema/apply?online',
    ],
  },
  {
    it: 'a relation that cascades',
    when: relation({ on_delete: 'CASCADE' }),
    how: rows(2_000_000),
    of: ['CASCADE_DELETES', 'FOREIGN_KEY_WITHOUT_INDEX'],
    told: [
      'warn CASCADE_DELETES articles.author: articles.author references authors: deleting a row there also deletes all rows of articles that reference it',
      'warn FOREIGN_KEY_WITHOUT_INDEX articles.author: articles.author references authors: the field has no index; PATCH /fields/articles/author?concurrentIndexCreation {"schema":{"is_indexed":true}}',
    ],
  },
  {
    it: 'a relation that cascades, of a table that is made with it',
    when: ({ collections, fields, relations }) => {
      collections.push(table('notes'));
      fields.push(key('notes'), column('notes', 'author', 'bigInteger'));
      relations.push({
        many_collection: 'notes',
        many_field: 'author',
        one_collection: 'authors',
        schema: { constraint_name: 'notes_author_foreign', on_update: 'NO ACTION', on_delete: 'CASCADE' },
      });
    },
    told: [
      'note CASCADE_DELETES notes.author: notes.author references authors: deleting a row there also deletes all rows of notes that reference it',
      'note FOREIGN_KEY_WITHOUT_INDEX notes.author: notes.author references authors: the field has no index; PATCH /fields/notes/author?concurrentIndexCreation {"schema":{"is_indexed":true}}',
    ],
  },
  {
    it: 'one that cascades from now on',
    given: relation(),
    when: rekeyed({ on_delete: 'CASCADE' }),
    of: ['CASCADE_DELETES'],
    told: [
      'warn CASCADE_DELETES articles.author: articles.author references authors: deleting a row there also deletes all rows of articles that reference it',
    ],
  },
  {
    it: 'one that cascades as before',
    given: relation({ on_delete: 'CASCADE' }),
    when: rekeyed({ on_update: 'CASCADE' }),
    of: ['CASCADE_DELETES'],
    told: [],
  },
  {
    it: 'a delete that can only fail',
    when: all(set('author', { is_nullable: false, is_indexed: true }), relation({ on_delete: 'SET NULL' })),
    of: ['NULL_ON_REQUIRED', 'FOREIGN_KEY_WITHOUT_INDEX'],
    told: ['warn NULL_ON_REQUIRED articles.author: articles.author: ON DELETE SET NULL, but it is NOT NULL'],
  },
  {
    it: 'a default that there is not',
    when: all(set('author', { is_nullable: false, is_unique: true }), relation({ on_delete: 'SET DEFAULT' })),
    of: ['NULL_ON_REQUIRED', 'FOREIGN_KEY_WITHOUT_INDEX'],
    told: ['warn NULL_ON_REQUIRED articles.author: articles.author: ON DELETE SET DEFAULT, but it is NOT NULL'],
  },
  {
    it: 'a default that there is',
    when: all(set('author', { is_nullable: false, default_value: 1 }), relation({ on_delete: 'SET DEFAULT' })),
    of: ['NULL_ON_REQUIRED'],
    told: [],
  },
  {
    it: 'other deletes of a field that must have a value',
    when: all(set('author', { is_nullable: false }), relation({ on_delete: 'CASCADE' })),
    of: ['NULL_ON_REQUIRED'],
    told: [],
  },
  {
    it: 'a relation on the primary key',
    when: relation({ constraint_name: 'articles_id_foreign' }, { many_field: 'id' }),
    of: ['FOREIGN_KEY_WITHOUT_INDEX'],
    told: [],
  },
  {
    it: 'a relation of the only item',
    given: ({ collections }) => collections.forEach((each) => Object.assign(each, { meta: { singleton: true } })),
    when: relation(),
    of: ['FOREIGN_KEY_WITHOUT_INDEX'],
    told: [],
  },
  {
    it: 'a relation that goes',
    given: relation(),
    when: ({ relations }) => relations.splice(0),
    told: [
      'note DROPS_CONSTRAINT articles.author constraint articles_author_foreign: drop the foreign key of articles.author: rows that violate it can be written',
    ],
  },
  {
    it: 'a relation that goes with what it points at',
    given: relation(),
    when: withoutAuthors,
    told: ['danger LOSES_DATA authors: drop table authors: data is permanently lost'],
  },
  {
    it: 'a relation that goes with its field',
    given: relation(),
    when: all(without('author'), ({ relations }) => relations.splice(0)),
    told: ['danger LOSES_DATA articles.author: drop column articles.author: data is permanently lost'],
  },
  {
    it: 'a key of another type, and what points at it',
    given: relation(),
    when: all(
      ({ fields }) =>
        fields.forEach(
          (each) =>
            each.collection === 'authors' &&
            Object.assign(each, { type: 'integer', schema: { ...each.schema, data_type: 'integer' } }),
        ),
      set('author', { data_type: 'integer' }, 'integer'),
    ),
    of: ['FOREIGN_KEY_UNDER_LOCK', 'DROPS_CONSTRAINT', 'INDEXED_TYPE_CHANGE', 'NARROWS_TYPE'],
    told: [
      'warn NARROWS_TYPE articles.author: alter column articles.author: integer holds less than bigint',
      'warn NARROWS_TYPE authors.id: alter column authors.id: integer holds less than bigint',
      'warn INDEXED_TYPE_CHANGE authors.id: alter column authors.id: from bigint to integer PostgreSQL rebuilds its indexes',
      'warn FOREIGN_KEY_UNDER_LOCK articles.author constraint articles_author_foreign: add a foreign key from articles.author to authors: PostgreSQL checks all rows while nobody can write to either table',
    ],
  },
];

describe('findings about relations', () => {
  TELLINGS.forEach(itReports);
});
