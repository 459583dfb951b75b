/** A small schema with every kind of relation, shared by tests of cascades. */
import { Draft } from '../../src/schema/transition/draft.js';
import { readNewCollection, readNewField, readNewRelation } from '../../src/schema/normal-form/index.js';
import type { Result } from '../../src/kernel/problem.js';
import { type State, initialState } from '../../src/schema/model/state.js';
import { transition } from '../../src/schema/transition/transition.js';
import { followStrictly } from './given.js';
import type { Json } from '../../src/kernel/json.js';
import { runToEnd } from '../../src/kernel/resumable.js';

function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

const id: Json = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } };
const alias = (field: string): Json => ({ field, type: 'alias', schema: null });
const key = (field: string): Json => ({ field, type: 'integer' });

/**
 * articles.author → authors (one-to-many alias authors.articles), articles.parent → articles (self),
 * articles ↔ tags through articles_tags, comments.item → articles or authors (many-to-any).
 */
export const LIBRARY = {
  collections: {
    articles: [id, key('author'), key('parent'), alias('tags')],
    authors: [id, alias('articles')],
    tags: [id, alias('articles')],
    articles_tags: [id, key('articles_id'), key('tags_id')],
    comments: [id, key('item'), { field: 'item_collection', type: 'string' }],
  } as Record<string, Json[]>,
  relations: [
    {
      many_collection: 'articles',
      many_field: 'author',
      one_collection: 'authors',
      one_field: 'articles',
      schema: { on_delete: 'SET NULL' },
    },
    { many_collection: 'articles', many_field: 'parent', one_collection: 'articles', schema: {} },
    {
      many_collection: 'articles_tags',
      many_field: 'articles_id',
      one_collection: 'articles',
      one_field: 'tags',
      junction_field: 'tags_id',
      schema: { on_delete: 'CASCADE' },
    },
    {
      many_collection: 'articles_tags',
      many_field: 'tags_id',
      one_collection: 'tags',
      one_field: 'articles',
      junction_field: 'articles_id',
      schema: {},
    },
    {
      many_collection: 'comments',
      many_field: 'item',
      one_collection: null,
      one_allowed_collections: ['articles', 'authors'],
      one_collection_field: 'item_collection',
      schema: null,
    },
  ] as Json[],
};

export function withRelations(): State {
  const draft = new Draft(initialState());
  for (const [collection, fields] of Object.entries(LIBRARY.collections)) {
    draft.putCollection(must(readNewCollection({ collection, schema: {} }, [], { imported: false })));
    for (const field of fields)
      draft.putField(must(readNewField({ ...(field as object), collection }, [], { imported: false })));
  }
  for (const relation of LIBRARY.relations) draft.putRelation(must(readNewRelation(relation, [], { imported: false })));
  const state = draft.toState();
  return followStrictly(initialState(), runToEnd(transition(initialState(), state, state.collections.keys())));
}
