/** Problems of views and materialized views that the parser does not find. */
import type { Problem } from '../../kernel/problem.js';
import { invisibleFault, quoteName } from '../../kernel/text.js';
import { OBJECT_KINDS, type ObjectName, objectKey } from '../model/objects.js';
import { objectsInOrder } from '../model/order.js';
import { type State, hasTable } from '../model/state.js';

export function objectProblems(from: State, to: State): Problem[] {
  return objectsInOrder(to).flatMap((object) => [...newNameProblems(from, object), ...takenNameProblems(to, object)]);
}

/** Adopted objects keep their names. */
function newNameProblems({ objects }: State, { kind, id }: ObjectName): Problem[] {
  const fault = objects.has(objectKey({ kind, id })) ? null : invisibleFault(id);
  if (fault === null) return [];
  return [{ code: 'INVALID_PAYLOAD', message: `the name of an object ${fault}`, object: { kind, id } }];
}

/** Tables, views and materialized views share one namespace. */
function takenNameProblems(state: State, { kind, id }: ObjectName): Problem[] {
  const other = OBJECT_KINDS.find((each) => each !== kind && state.objects.has(objectKey({ kind: each, id })));
  const taken = hasTable(state, id) ? 'collection' : other?.replace('_', ' ');
  if (taken === undefined) return [];
  const message = `${quoteName(id)} is already the name of a ${taken}: choose another name`;
  return [{ code: 'ALREADY_EXISTS', message, object: { kind, id } }];
}
