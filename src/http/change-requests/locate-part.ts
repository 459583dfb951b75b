/** Problems of a part of a body, at their places in the whole of it. */
import type { Problem } from '../../kernel/problem.js';
import { type EdgeProblem, Refused } from '../errors.js';

/** A problem of a change, at its place in the body that says it. What a snapshot comes to has no places of its own. */
export const locatedIn =
  ({ snapshot }: { snapshot?: unknown }) =>
  <P extends Pick<Problem, 'path' | 'details'>>(problem: P): P => {
    const { path, details } = problem;
    // What is said to be known stands beside what it is about.
    if (path === undefined || path === 'diff' || details?.['acknowledged'] !== undefined) return problem;
    return { ...problem, path: snapshot === undefined ? `diff.${path}` : 'snapshot' };
  };

/** What reads a member of the body names places in it. */
export const below = <T>(member: string, work: Promise<T>): Promise<T> =>
  relocated(work, (problem) =>
    problem.path === undefined || OWN.has(problem.path) ? problem : { ...problem, path: joined(member, problem.path) },
  );

/** @throws Refused as `work` does, with its problems elsewhere */
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
