/** Finds the location in the request body that belongs to the subject of a problem. */
import { type Path, type Problem, type Subject, renderPath } from './problem.js';

/** The location of one document in a body. */
export interface DocumentLocation {
  at: Path;
  /** Returns the steps from the document to one of its members, as far as the body contains them. */
  stepsTo(member: Path): Path;
}

/** Finds the locations of a collection, a field or a relation (by its many side) in a body. */
export interface Locations {
  collection?(collection: string): DocumentLocation | undefined;
  field?(collection: string, field: string): DocumentLocation | undefined;
  relation?(collection: string, field: string): DocumentLocation | undefined;
  /** Finds an object other than a table. */
  object?(name: { kind: string; id: string }): DocumentLocation | undefined;
}

/** Adds the path of the subject, or of the object that contains it. Adds no path if the body contains neither. */
export function locate(problem: Problem, locations: Locations): Problem {
  const { subject, object } = problem;
  if (problem.path !== undefined) return problem;
  if (object !== undefined) {
    const at = locations.object?.(object)?.at;
    return at === undefined ? problem : { ...problem, path: renderPath(at) };
  }
  if (subject === undefined) return problem;
  const path = pathOf(subject, locations);
  return path === undefined ? problem : { ...problem, path: renderPath(path) };
}

function pathOf(subject: Subject, locations: Locations): Path | undefined {
  const [own, ...holders] = placesOf(subject, locations);
  if (own !== undefined) return [...own.at, ...own.stepsTo(subject.member ?? [])];
  return holders.find((location) => location !== undefined)?.at;
}

/** Yields the location of the subject, then the locations of the objects that contain it. */
function placesOf(subject: Subject, { collection, field, relation }: Locations): (DocumentLocation | undefined)[] {
  const collectionLocation = collection?.(subject.collection);
  if (!('field' in subject)) return [collectionLocation];
  const column = field?.(subject.collection, subject.field);
  return subject.kind === 'field'
    ? [column, collectionLocation]
    : [relation?.(subject.collection, subject.field), column, collectionLocation];
}

/** Locates the document at `at`. Its members have the same locations as in a snapshot. */
export function documentLocation(at: Path, document: unknown): DocumentLocation {
  return { at, stepsTo: (member) => stepsIn(document, member) };
}

/**
 * Returns the steps of `path` that `document` has, and the first one that it lacks. A missing member is reported at its
 * expected location.
 */
export function stepsIn(document: unknown, path: Path): Path {
  let value = document;
  for (const [depth, step] of path.entries()) {
    if (typeof value !== 'object' || value === null) return path.slice(0, depth);
    if (!Object.hasOwn(value, step)) return typeof step === 'string' ? path.slice(0, depth + 1) : path.slice(0, depth);
    value = (value as Record<string | number, unknown>)[step];
  }
  return path;
}
