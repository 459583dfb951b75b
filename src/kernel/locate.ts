/** The one way from what a problem is about to its place in the body that was sent. */
import { type Path, type Problem, type Subject, renderPath } from './problem.js';

/** Where one document stands in a body. */
export interface Place {
  at: Path;
  /** The steps from there to a member of the document, as far as it was sent. */
  stepsTo(member: Path): Path;
}

/** Where a body says something about a collection, a field, or a relation (by its many side). */
export interface Places {
  collection?(collection: string): Place | undefined;
  field?(collection: string, field: string): Place | undefined;
  relation?(collection: string, field: string): Place | undefined;
}

/** `problem` with the place of its subject, or of what the subject belongs to; without a path where the body has neither. */
export function locate(problem: Problem, places: Places): Problem {
  const { subject } = problem;
  if (subject === undefined || problem.path !== undefined) return problem;
  const path = pathOf(subject, places);
  return path === undefined ? problem : { ...problem, path: renderPath(path) };
}

function pathOf(subject: Subject, places: Places): Path | undefined {
  const [own, ...holders] = placesOf(subject, places);
  if (own !== undefined) return [...own.at, ...own.stepsTo(subject.member ?? [])];
  return holders.find((place) => place !== undefined)?.at;
}

/** The place of the subject, then those of what it belongs to. */
function placesOf(subject: Subject, { collection, field, relation }: Places): (Place | undefined)[] {
  const whole = collection?.(subject.collection);
  if (!('field' in subject)) return [whole];
  const column = field?.(subject.collection, subject.field);
  return subject.kind === 'field' ? [column, whole] : [relation?.(subject.collection, subject.field), column, whole];
}

/** The document at `at`, which has its members where a snapshot has them. */
export function documentPlace(at: Path, document: unknown): Place {
  return { at, stepsTo: (member) => stepsIn(document, member) };
}

/** The steps of `path` that `document` has, and the first one that it lacks: what is missing is told where it would be. */
export function stepsIn(document: unknown, path: Path): Path {
  let value = document;
  for (const [depth, step] of path.entries()) {
    if (typeof value !== 'object' || value === null) return path.slice(0, depth);
    if (!Object.hasOwn(value, step)) return typeof step === 'string' ? path.slice(0, depth + 1) : path.slice(0, depth);
    value = (value as Record<string | number, unknown>)[step];
  }
  return path;
}
