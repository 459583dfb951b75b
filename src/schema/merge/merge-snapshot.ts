/** Merges a submitted snapshot: its changes since the base are applied to the current schema. */
import { type Problem, type Result, invalid, ok, refuse } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Comparison, type CompareOptions, desiredBy } from '../compare/compare-snapshot.js';
import { looksRenamed } from '../compare/looks-renamed.js';
import { diffStates } from '../diff/diff.js';
import { type State, initialState } from '../model/state.js';
import { snapshotHash } from '../snapshot/snapshot.js';
import { Draft } from '../transition/draft.js';
import { mergeStates } from './merge-states.js';
import type { MergeConflict, Resolution } from './model.js';

export interface SnapshotMerge {
  base: State;
  ours: State;
  /** The submitted snapshot. Omitted parts are as in the base. */
  theirs: unknown;
  resolutions: readonly Resolution[];
}

export type MergeOutcome = { kind: 'conflicts'; conflicts: MergeConflict[] } | ({ kind: 'merged' } & Comparison);

/** Problems have paths in a body with the snapshot as `theirs` and the resolutions as `resolve`. */
export function* mergeSnapshot(
  { base, ours, theirs, resolutions }: SnapshotMerge,
  options: CompareOptions,
): Resumable<Result<MergeOutcome>> {
  const read = below('theirs', yield* desiredBy(base, theirs, options));
  if (!read.ok) return read;
  const { desired, warnings } = read.value;
  const merged = yield* mergeStates({ base, ours, theirs: desired.state }, resolutions);
  if (merged.unused.length > 0) return refuse(...merged.unused.map(nothingToDecide));
  if (merged.kind === 'conflicts') return ok(merged);
  const { ours: named, state, touched } = merged;
  return ok({
    kind: 'merged',
    hash: yield* snapshotHash(ours, options.release),
    diff: yield* diffStates(ours, state, touched),
    warnings: [...warnings, ...(yield* looksRenamed(named, state, touched))],
    desired: { state, touched },
  });
}

/** @param index of the resolution in the body */
export const nothingToDecide = (index: number): Problem =>
  invalid(['resolve', index, 'place'], 'there is nothing to decide at this place: take it as a conflict named it');

/**
 * Returns the state of a snapshot, for a base that is in no log. Its objects are matched to `ours` by name, because a
 * snapshot contains no identities. Objects that ours renamed since count as different.
 */
export function* stateOfSnapshot(body: unknown, ours: State, options: CompareOptions): Resumable<Result<State>> {
  const read = below('base', yield* desiredBy(initialState(), body, options));
  if (!read.ok) return read;
  const { state } = read.value.desired;
  const draft = new Draft(state);
  for (const [name, node] of state.collections) {
    yield;
    const there = ours.collections.get(name)?.identities;
    const ownOf = (...names: string[]): string => `snapshot ${JSON.stringify(names)}`;
    const fields = [...node.fields.keys()].map(
      (field) => [field, there?.fields.get(field) ?? ownOf(name, field)] as const,
    );
    draft.identify(name, new Map(fields), there?.collection ?? ownOf(name));
  }
  return ok(yield* draft.toState());
}

/** Moves the locations of problems below a member. */
function below<T>(member: string, result: Result<T>): Result<T> {
  if (result.ok) return result;
  return refuse(...result.problems.map((problem) => ({ ...problem, path: pathBelow(member, problem.path) })));
}

function pathBelow(member: string, path: string | undefined): string {
  if (path === undefined || path === '') return member;
  return path.startsWith('[') ? `${member}${path}` : `${member}.${path}`;
}
