/** What stands against a change in which things may have other names. */
import { type ProposedChange, changeProblems } from '../invariants/index.js';
import { renameProblems } from '../invariants/renames.js';
import type { Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { isNone, renamesBetween, withRenames } from '../transition/renames.js';

/** Everything that stands against a change: by the new names, a rename by itself is none. */
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
