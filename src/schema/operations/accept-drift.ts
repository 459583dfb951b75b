/** accept-drift: records manual changes of the database in the log. The tables are not changed. */
import type { NewEvent } from '../model/events.js';
import { invariantProblems } from '../invariants/index.js';
import { isObject } from '../../kernel/json.js';
import { locate } from '../../kernel/locate.js';
import { invalid, ok, refuse, unknownMembers } from '../../kernel/problem.js';
import { transition } from '../transition/transition.js';
import { type AcceptRequest, type Named, readNamed, requestOf } from './accept-request.js';
import { type FoundDrift, acceptedState } from './accepted-state.js';
import { missingCollection, missingField } from './refusals.js';
import type { Operation } from './operation.js';

export interface AcceptDrift {
  request: AcceptRequest;
  /** Catalog data, read under the log lock with the tables locked. */
  found?: FoundDrift;
}

export const acceptDrift: Operation<'accept-drift', { body: unknown }, AcceptDrift> = {
  name: 'accept-drift',

  parse({ body }) {
    if (!isObject(body))
      return refuse(invalid([], 'the body is an object: {}, or with collections and fields to accept'));
    const problems = unknownMembers(body, new Set(['collections', 'fields']), []);
    const only: Named = new Map();
    problems.push(...readNamed(body, only));
    if (problems.length > 0) return refuse(...problems);
    const all = body['collections'] === undefined && body['fields'] === undefined;
    return ok({ request: requestOf(all ? undefined : only) });
  },

  *decide(state, { request, found }) {
    if (found === undefined) throw new Error('accept-drift is decided on what the catalog says, and it was not read');
    const unknown = [...(request.only?.keys() ?? [])].filter((name) => !state.collections.has(name));
    if (unknown.length > 0) return refuse(...unknown.map((name) => missingCollection(state, name)));
    const { missing } = found;
    if (missing.length > 0)
      return refuse(...missing.map(({ collection, field }) => missingField(state, collection, field)));
    const { desired, touched } = yield* acceptedState(state, found, request);
    const problems = yield* invariantProblems(desired, touched, state);
    if (problems.length > 0) return refuse(...problems.map((problem) => locate(problem, {})));
    const events = yield* transition(state, desired, touched);
    return ok(events.map(adopted));
  },
};

/** Marks the event as already true in the database. A table with a new name counts as adopted. */
export function adopted(event: NewEvent): NewEvent {
  if (event.type === 'collection.created') {
    const { collection, fields } = event.data;
    return { ...event, type: 'collection.adopted', data: { collection, fields } };
  }
  return { ...event, data: { ...event.data, adopted: true } } as NewEvent;
}
