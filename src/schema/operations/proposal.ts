/** Problems of a change that may include renames. */
import { type ProposedChange, changeProblems } from '../invariants/index.js';
import { renameProblems } from '../invariants/renames.js';
import type { Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isNone, renamesBetween, withRenames } from '../transition/renames.js';

/** Returns all problems of a change. It compares by new names, so that a rename alone is none. */
export function* proposalProblems(proposal: ProposedChange): Resumable<Problem[]> {
  const { from, to, touched } = proposal;
  const renames = yield* renamesBetween(from, to, touched);
  if (isNone(renames)) return yield* changeProblems(proposal);
  const named = yield* withRenames(from, renames);
  const all = new Set([...touched, ...named.touched]);
  return [
    ...renameProblems(to, renames, named.unwritten),
    ...(yield* changeProblems({ ...proposal, from: named.state, touched: all })),
  ];
}
