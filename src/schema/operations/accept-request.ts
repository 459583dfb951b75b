/** Selects the differences to accept. */
import { runToEnd } from '../../kernel/resumable.js';
import { isObject } from '../../kernel/json.js';
import { type Path, type Problem, invalid, problemsOfEach, renderPath, unknownMembers } from '../../kernel/problem.js';
import type { Renames } from '../transition/renames.js';

export interface AcceptRequest {
  /** Named collections with fields. Undefined accepts all. Null accepts a whole collection. */
  only: ReadonlyMap<string, ReadonlySet<string> | null> | undefined;
  takes(collection: string, field: string | undefined): boolean;
}

export type Named = Map<string, Set<string> | null>;

/**
 * `takes` without a field refers to the table as a whole, and is true only for collections that are accepted
 * completely.
 */
export function requestOf(only: AcceptRequest['only']): AcceptRequest {
  return {
    only,
    takes(collection, field) {
      const fields = only === undefined ? null : only.get(collection);
      return fields === null || (field !== undefined && fields?.has(field) === true);
    },
  };
}

/** Translates the request to the current names of tables and columns. */
export function requestAfter({ only }: AcceptRequest, { collections, fields }: Renames): AcceptRequest {
  if (only === undefined) return requestOf(only);
  return requestOf(
    new Map(
      [...only].map(([name, named]) => [
        collections.get(name) ?? name,
        named && new Set([...named, ...(fields.get(name)?.values() ?? [])]),
      ]),
    ),
  );
}

/** Reads `collections` and `fields` of the body into `only`. */
export function readNamed(body: { [member: string]: unknown }, only: Named): Problem[] {
  return [
    ...elementsOf(body['collections'], ['collections'], (each, at) => nameCollection(each, at, only)),
    ...elementsOf(body['fields'], ['fields'], (each, at) => nameField(each, at, only)),
  ];
}

type Check = (element: unknown, at: Path) => Problem[];

function elementsOf(list: unknown, at: Path, check: Check): Problem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list) || list.length === 0) return [invalid(at, `${renderPath(at)} is an array, not empty`)];
  return runToEnd(problemsOfEach(list, (each, index) => check(each, [...at, index])));
}

function nameCollection(name: unknown, at: Path, only: Named): Problem[] {
  if (typeof name !== 'string') return [invalid(at, 'must be the name of a collection, a string')];
  only.set(name, null);
  return [];
}

function nameField(named: unknown, at: Path, only: Named): Problem[] {
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
