/** A schema with every kind of dependency, and its restore from the trash. */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { snapshotOf } from '../../../src/schema/snapshot/snapshot.js';
import { relationBody } from '../../../src/schema/transition/context.js';
import { attempt, follow, followStrictly } from '../../support/given.js';
import { type Edited, eventsOfEdit, column, key, table } from '../findings/diffs.js';

export type Edit = (snapshot: Edited) => void;

/** The state after an edited snapshot. */
export const edited = (state: State, change: Edit): State => follow(state, eventsOfEdit(state, change));

const foreignKeyName = (collection: string, name: string): string => `${collection}_${name}_foreign`;

const relation = (many: string, field: string, one: string | null, more: object = {}): Edited['relations'][number] => ({
  many_collection: many,
  many_field: field,
  one_collection: one,
  schema:
    one === null
      ? null
      : { constraint_name: foreignKeyName(many, field), on_update: 'NO ACTION', on_delete: 'NO ACTION' },
  ...more,
});
const shown = (collection: string, field: string, meta: object = {}): Edited['fields'][number] => ({
  collection,
  field,
  type: 'alias',
  meta: { interface: 'list-o2m', ...meta },
  schema: null,
});
const reference = (name: string, field: string, references: string) => ({
  name,
  definition: `FOREIGN KEY (${field}) REFERENCES ${references}(id)`,
  references,
});

/**
 * Articles are in a folder and contain notes. They reference authors, share tags through a junction, and are a target
 * of comments, which belong to users of the service. Reviews reference them by a foreign key outside relations, and
 * they reference reviews.
 */
export const LIBRARY: State = edited(initialState(), ({ collections, fields, relations }) => {
  const grouped = (name: string, group: string, extras?: object) => ({ ...table(name, extras), meta: { group } });
  const folder = (name: string, group: string | null = null) => ({ collection: name, schema: null, meta: { group } });
  collections.push(
    folder('all'),
    folder('blog', 'all'),
    {
      ...table('articles', {
        constraints: [
          { name: 'positive', definition: 'CHECK ((rank > 0))' },
          reference('reviewed', 'review', 'reviews'),
          { name: 'together', definition: 'UNIQUE (rank, title)' },
        ],
        indexes: [{ name: 'ranked', definition: 'USING btree (rank, status)' }],
      }),
      meta: { group: 'blog', archive_field: 'status', sort_field: 'rank' },
    },
    grouped('notes', 'articles'),
    table('authors'),
    table('tags'),
    table('articles_tags'),
    table('comments'),
    table('reviews', { constraints: [reference('of_article', 'article', 'articles')] }),
  );
  for (const { collection, schema } of collections) if (schema !== null) fields.push(key(collection));
  fields.push(
    column('articles', 'title', 'string', { is_nullable: false, is_unique: true }),
    column('articles', 'status', 'string', { is_indexed: true }),
    { ...column('articles', 'rank', 'integer'), meta: { interface: 'input', group: 'inner' } },
    column('articles', 'author', 'bigInteger', { is_indexed: true }),
    column('articles', 'review', 'bigInteger'),
    shown('articles', 'outer', { special: ['alias', 'no-data', 'group'], interface: 'group-raw' }),
    shown('articles', 'inner', { special: ['alias', 'no-data', 'group'], interface: 'group-raw', group: 'outer' }),
    shown('articles', 'tags'),
    shown('authors', 'articles', { group: 'works' }),
    shown('authors', 'works', { special: ['alias', 'no-data', 'group'], interface: 'group-raw' }),
    shown('tags', 'articles'),
    column('articles_tags', 'article', 'bigInteger'),
    column('articles_tags', 'tag', 'bigInteger'),
    column('articles_tags', 'place', 'integer'),
    column('comments', 'item', 'string'),
    column('comments', 'kind', 'string'),
    column('comments', 'by', 'uuid'),
    column('reviews', 'article', 'bigInteger'),
  );
  relations.push(
    relation('articles', 'author', 'authors', { one_field: 'articles', sort_field: 'rank' }),
    relation('articles_tags', 'article', 'articles', { one_field: 'tags', junction_field: 'tag', sort_field: 'place' }),
    relation('articles_tags', 'tag', 'tags', { one_field: 'articles', junction_field: 'article' }),
    relation('comments', 'item', null, {
      one_collection_field: 'kind',
      one_allowed_collections: ['articles', 'authors', 'notes'],
    }),
    relation('comments', 'by', 'service_users'),
  );
});

/** A whole schema without relation ids from the log. */
export const wholeSnapshot = (state: State): object => {
  const snapshot = runToEnd(snapshotOf(state, '0.1.0'));
  return { ...snapshot, relations: snapshot.relations.map(relationBody) };
};

export const without = (state: State, collection: string, field?: string): State => {
  const decided =
    field === undefined
      ? attempt(state, 'delete-collection', { collection })
      : attempt(state, 'delete-field', { collection, field });
  if (!decided.ok) throw new Error(JSON.stringify(decided.problems));
  return followStrictly(state, decided.value);
};
