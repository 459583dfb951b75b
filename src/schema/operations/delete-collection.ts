/** delete-collection: deletes the table with its items, fields and relations, and the fields that only showed them. */
import { Draft } from '../transition/draft.js';
import { dropCollection } from '../transition/cascade.js';
import { ok, refuse } from '../../kernel/problem.js';
import { type Operation, decideDraft } from './operation.js';
import { missingCollection, systemCollection } from './refusals.js';

export interface DeleteCollection {
  collection: string;
}

export const deleteCollection: Operation<'delete-collection', DeleteCollection, DeleteCollection> = {
  name: 'delete-collection',

  parse: (input) => ok(input),

  deletes: ({ collection }) => [collection],

  *decide(state, { collection }) {
    if (!state.collections.has(collection)) {
      return refuse(systemCollection(collection) ?? missingCollection(state, collection));
    }
    const draft = new Draft(state);
    dropCollection(draft, state, collection);
    return yield* decideDraft(state, draft);
  },
};
