/** create-collections and update-collections: several at once, all or nothing. */
import { Draft } from '../transition/draft.js';
import { isObject } from '../../kernel/json.js';
import { locate } from '../../kernel/locate.js';
import { collectionPlaces } from './places.js';
import { type Problem, allOf, invalid, ok, problemsOfEach, refuse, repeated } from '../../kernel/problem.js';
import { type CreateCollection, createCollection, takenName } from './create-collection.js';
import { runToEnd } from '../../kernel/resumable.js';
import { type Operation, decideDraft } from './operation.js';
import { type UpdateCollection, applyUpdate, updateCollection, updatePlaces } from './update-collection.js';

export interface CreateCollections {
  creates: CreateCollection[];
  concurrentIndexes: boolean;
}

export interface CreateCollectionsInput {
  body: unknown[];
  concurrentIndexes: boolean;
}

export const createCollections: Operation<'create-collections', CreateCollectionsInput, CreateCollections> = {
  name: 'create-collections',

  *parse({ body, concurrentIndexes }) {
    const creates = yield* allOf(body, (element, index) =>
      createCollection.parse({ body: element, concurrentIndexes, at: [index] }),
    );
    if (!creates.ok) return creates;
    const twice = doubled(creates.value.map((create) => create.collection.collection));
    return twice.length > 0 ? refuse(...twice) : ok({ creates: creates.value, concurrentIndexes });
  },

  *decide(state, { creates, concurrentIndexes }) {
    const draft = new Draft(state);
    const taken: Problem[] = [];
    const places = collectionPlaces(creates.map(({ collection: { collection }, sent }) => ({ collection, ...sent })));
    for (const { collection, fields } of creates) {
      if (state.collections.has(collection.collection)) {
        taken.push(locate(takenName(collection), places));
        continue;
      }
      draft.putCollection(collection);
      for (const field of fields) draft.putField(field);
      yield;
    }
    if (taken.length > 0) return refuse(...taken);
    return yield* decideDraft(state, draft, { concurrentIndexes }, places);
  },
};

export interface UpdateCollections {
  updates: UpdateCollection[];
}

export interface UpdateCollectionsInput {
  body: unknown;
}

export const updateCollections: Operation<'update-collections', UpdateCollectionsInput, UpdateCollections> = {
  name: 'update-collections',

  *parse({ body }) {
    if (!Array.isArray(body))
      return refuse(invalid([], 'the body is an array of collections, each with its name and meta'));
    const updates = yield* allOf(body, (element: unknown, index) => {
      if (!isObject(element)) return refuse(invalid([index], 'a collection is an object with its name and meta'));
      const name = element['collection'];
      if (typeof name !== 'string') return refuse(invalid([index, 'collection'], 'collection is required, a string'));
      return updateCollection.parse({ collection: name, body: element, at: [index] });
    });
    if (!updates.ok) return updates;
    const twice = doubled(updates.value.map((update) => update.collection));
    return twice.length > 0 ? refuse(...twice) : ok({ updates: updates.value });
  },

  *decide(state, { updates }) {
    const draft = new Draft(state);
    const problems: Problem[] = [];
    for (const update of updates) {
      problems.push(...applyUpdate(state, draft, update));
      yield;
    }
    if (problems.length > 0) return refuse(...problems);
    return yield* decideDraft(state, draft, {}, updatePlaces(updates));
  },
};

function doubled(names: string[]): Problem[] {
  return runToEnd(
    problemsOfEach(repeated(names), (index) => [
      invalid([index, 'collection'], `${JSON.stringify(names[index])} stands in the array twice`),
    ]),
  );
}
