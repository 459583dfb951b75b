/** Translates the locations of problems from a part of a body to the whole body. */
import type { Problem } from '../../kernel/problem.js';
import { type EdgeProblem, Refused } from '../errors.js';

/** Translates a problem of a change to its location in the body. Problems of a snapshot's diff have no location. */
export const locatedIn =
  ({ snapshot }: { snapshot?: unknown }) =>
  <P extends Pick<Problem, 'path' | 'details'>>(problem: P): P => {
    const { path, details } = problem;
    // Acknowledgements are a sibling of the diff in the body.
    if (path === undefined || path === 'diff' || path === 'policy' || details?.['acknowledged'] !== undefined)
      return problem;
    return { ...problem, path: snapshot === undefined ? `diff.${path}` : 'snapshot' };
  };

/** Prefixes the locations of problems with the member. */
export const below = <T>(member: string, work: Promise<T>): Promise<T> =>
  relocated(work, (problem) =>
    problem.path === undefined || OWN.has(problem.path) ? problem : { ...problem, path: joined(member, problem.path) },
  );

/** @throws Refused with translated locations */
export async function relocated<T>(work: Promise<T>, locate: (problem: EdgeProblem) => EdgeProblem): Promise<T> {
  return work.catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
    throw new Refused(error.problems.map(locate), error.headers);
  });
}

/** Members of the body itself. */
const OWN: ReadonlySet<string> = new Set(['snapshot', 'base', 'mode', 'force']);

const joined = (member: string, path: string): string =>
  path === '' ? member : path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;
