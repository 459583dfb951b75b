/** States that no command produces, and their problems. */
import { runToEnd } from '../../../src/kernel/resumable.js';
import { invariantProblems } from '../../../src/schema/invariants/index.js';
import type { Collection, Field, Relation } from '../../../src/schema/model/model.js';
import { type State, initialState } from '../../../src/schema/model/state.js';
import { readNewCollection, readNewField, readNewRelation } from '../../../src/schema/normal-form/index.js';
import { Draft } from '../../../src/schema/transition/draft.js';
import { valueOf } from '../normal-form/read.js';

const READ = { imported: false };

export const KEY = { field: 'id', type: 'integer', schema: { is_primary_key: true } };
export const alias = (field: string, more: object = {}) => ({ field, type: 'alias', schema: null, ...more });
export const column = (field: string, type = 'integer', schema: object = {}) => ({ field, type, schema });

/** `change`: applied after parsing, so that it can be what parsing would reject. */
export interface StateInput {
  fields?: object[];
  collection?: object;
  change?: (collection: Collection) => Collection;
}

export function stateOf(
  collections: Record<string, StateInput>,
  relations: Partial<Relation>[] = [],
  base: State = initialState(),
): State {
  const draft = new Draft(base);
  for (const [
    collection,
    { fields = [KEY], collection: more = {}, change = (same: Collection) => same },
  ] of Object.entries(collections)) {
    draft.putCollection(change(valueOf(readNewCollection({ collection, schema: {}, ...more }, [], READ))));
    for (const field of fields) draft.putField(valueOf<Field>(readNewField({ collection, ...field }, [], READ)));
  }
  for (const relation of relations) {
    const { many_collection, many_field } = relation;
    const plain = valueOf(
      readNewRelation({ many_collection, many_field, one_collection: 'one', schema: null }, [], READ),
    );
    draft.putRelation({ ...plain, ...relation });
  }
  return draft.toState();
}

/** Each problem as `kind of.what member.path: message`. */
export function toldOf(state: State, touched: Iterable<string> = state.collections.keys(), from?: State): string[] {
  return runToEnd(invariantProblems(state, touched, from)).map(({ subject, message, code }) => {
    if (subject === undefined) return message;
    const what = 'field' in subject ? `.${subject.field}` : 'name' in subject ? `.${subject.name}` : '';
    const place = `${subject.kind} ${subject.collection}${what} ${(subject.member ?? []).join('.')}`;
    return `${place}: ${message}${code === 'INVALID_PAYLOAD' ? '' : ` (${code})`}`;
  });
}
