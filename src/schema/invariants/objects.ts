/** Problems of views and materialized views that the parser does not find. */
import type { Problem } from '../../kernel/problem.js';
import { quoted } from '../../kernel/text.js';
import { OBJECT_KINDS, objectKey } from '../model/objects.js';
import { objectsInOrder } from '../model/order.js';
import { type State, hasTable } from '../model/state.js';

/** Tables, views and materialized views share one namespace. */
export function objectProblems(state: State): Problem[] {
  return objectsInOrder(state).flatMap(({ kind, id }): Problem[] => {
    const other = OBJECT_KINDS.find((each) => each !== kind && state.objects.has(objectKey({ kind: each, id })));
    const taken = hasTable(state, id) ? 'collection' : other?.replace('_', ' ');
    if (taken === undefined) return [];
    const message = `${quoted(id)} is already the name of a ${taken}: choose another name`;
    return [{ code: 'ALREADY_EXISTS', message, object: { kind, id } }];
  });
}
