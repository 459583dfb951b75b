/** accept-drift: what was changed in the database by hand is taken into the log. Nothing is done to the tables. */
import type { NewEvent } from '../events.js';
import { invariantProblemsInSteps } from '../invariants/index.js';
import { isObject } from '../json.js';
import { locate } from '../places/locate.js';
import {
  type Path,
  type Problem,
  invalid,
  ok,
  problemsOfEach,
  refuse,
  renderPath,
  unknownMembers,
} from '../problem.js';
import { transitionInSteps } from '../transition.js';
import { type AcceptRequest, type FoundDrift, acceptedState } from './accepted-state.js';
import { missingCollection } from './refusals.js';
import type { Operation } from './operation.js';

export interface AcceptDrift {
  request: AcceptRequest;
  /** What the catalog says; read under the log's lock, with the tables locked. */
  found?: FoundDrift;
}

export const acceptDrift: Operation<'accept-drift', { body: unknown }, AcceptDrift> = {
  name: 'accept-drift',

  parse({ body }) {
    if (!isObject(body))
      return refuse(invalid([], 'the body is an object: {}, or with collections and fields to accept'));
    const problems = unknownMembers(body, new Set(['collections', 'fields']), []);
    const only = new Map<string, Set<string> | null>();
    problems.push(...elementsOf(body['collections'], ['collections'], (each, at) => nameCollection(each, at, only)));
    problems.push(...elementsOf(body['fields'], ['fields'], (each, at) => nameField(each, at, only)));
    if (problems.length > 0) return refuse(...problems);
    const all = body['collections'] === undefined && body['fields'] === undefined;
    return ok({ request: requestOf(all ? undefined : only) });
  },

  *decide(state, { request, found }) {
    if (found === undefined) throw new Error('accept-drift is decided on what the catalog says, and nobody has looked');
    const unknown = [...(request.only?.keys() ?? [])].filter((name) => !state.collections.has(name));
    if (unknown.length > 0) return refuse(...unknown.map(missingCollection));
    const draft = acceptedState(state, found, request);
    const wanted = draft.toState();
    const problems = yield* invariantProblemsInSteps(wanted, draft.touched, state);
    if (problems.length > 0) return refuse(...problems.map((problem) => locate(problem, {})));
    const events = yield* transitionInSteps(state, wanted, draft.touched);
    return ok(events.map(adopted));
  },
};

type Check = (element: unknown, at: Path) => Problem[];

function elementsOf(list: unknown, at: Path, check: Check): Problem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length === 0) return [invalid(at, `${renderPath(at)} is an array, not empty`)];
  return problemsOfEach(list, (each, index) => check(each, [...at, index]));
}

function nameCollection(name: unknown, at: Path, only: Map<string, Set<string> | null>): Problem[] {
  if (typeof name !== 'string') return [invalid(at, 'must be the name of a collection, a string')];
  only.set(name, null);
  return [];
}

function nameField(named: unknown, at: Path, only: Map<string, Set<string> | null>): Problem[] {
  if (!isObject(named)) return [invalid(at, 'must be an object with collection and field')];
  const { collection, field } = named;
  const problems = unknownMembers(named, new Set(['collection', 'field']), at);
  if (typeof collection !== 'string') problems.push(invalid([...at, 'collection'], 'collection is required, a string'));
  if (typeof field !== 'string') problems.push(invalid([...at, 'field'], 'field is required, a string'));
  if (typeof collection !== 'string' || typeof field !== 'string') return problems;
  const fields = only.get(collection);
  if (fields !== null) only.set(collection, (fields ?? new Set()).add(field));
  return problems;
}

function requestOf(only: AcceptRequest['only']): AcceptRequest {
  return {
    only,
    takes(collection, field) {
      const fields = only === undefined ? null : only.get(collection);
      return fields === null || (field !== undefined && fields?.has(field) === true);
    },
  };
}

/** The log says that it was so before. A table under a new name is one that is adopted. */
function adopted(event: NewEvent): NewEvent {
  if (event.type === 'collection.created') {
    const { collection, fields } = event.data;
    return { ...event, type: 'collection.adopted', data: { collection, fields } };
  }
  return { ...event, data: { ...event.data, adopted: true } } as NewEvent;
}
