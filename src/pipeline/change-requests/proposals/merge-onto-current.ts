/** Merges the difference between two schemas onto the current schema, for rebases and reverts. */
import type pg from 'pg';
import { runYielding } from '../../../kernel/event-loop.js';
import { stepsTo } from '../../../kernel/resumable.js';
import type { Resumable } from '../../../kernel/resumable.js';
import type { Problem } from '../../../kernel/problem.js';
import { type SchemaDiff, diffStates, isEmptyDiff } from '../../../schema/diff/diff.js';
import { withOrigins } from '../../../schema/diff/origins.js';
import { nothingToDecide } from '../../../schema/merge/merge-snapshot.js';
import { mergeStates } from '../../../schema/merge/merge-states.js';
import type { MergeConflict, Resolution } from '../../../schema/merge/model.js';
import { describePlace } from '../../../schema/merge/resolutions.js';
import { type State, UNMADE, memberKey } from '../../../schema/model/state.js';
import { type CommandOf, operations } from '../../../schema/operations/index.js';
import { snapshotHash } from '../../../schema/snapshot/snapshot.js';
import { type ComingAgain, comingAgain } from '../../../schema/transition/coming-again.js';
import { Draft } from '../../../schema/transition/draft.js';
import { fitting } from '../../../schema/transition/fitting-trash.js';
import type { InTrash } from '../../../schema/transition/restoring-transition.js';
import { stillInTrash } from '../../prepare/apply-restoring.js';
import { CommandRefused } from '../../types.js';

export interface Leading {
  base: State;
  /** New objects in it have no identity, except those of `again`. */
  theirs: State;
  /** Objects of `theirs` that existed before, by their names in `theirs`. */
  again: ComingAgain;
  /** Their trash entries when the merge was requested. */
  kept: readonly InTrash[];
  resolutions: readonly Resolution[];
}

export interface MergedCommand {
  /** The input of `apply-diff`. */
  input: { release: string; body: { hash: string; diff: SchemaDiff } };
  command: CommandOf<'apply-diff'>;
}

/**
 * @param ours the schema at the head
 * @returns undefined if the schema already contains the change
 * @throws CommandRefused MERGE_CONFLICT with each location and its three values
 */
export async function mergedOntoCurrent(
  client: pg.ClientBase,
  { ours, release }: { ours: State; release: string },
  leading: Leading,
): Promise<MergedCommand | undefined> {
  const { base, theirs, again, resolutions } = leading;
  const merged = await runYielding(mergeStates({ base, ours, theirs }, resolutions));
  if (merged.unused.length > 0) throw new CommandRefused(merged.unused.map(nothingToDecide));
  if (merged.kind === 'conflicts') throw new CommandRefused(merged.conflicts.slice(0, MOST_CONFLICTS).map(problemOf));
  const { touched } = merged;
  const to = await runYielding(identified(merged.state, touched, again));
  const kept = await stillInTrash(client, leading.kept);
  const diff = await runYielding(differing({ ours, to, touched, kept }));
  if (isEmptyDiff(diff)) return undefined;
  const input = { release, body: { hash: await runYielding(snapshotHash(ours, release)), diff } };
  const read = await runYielding(stepsTo(operations['apply-diff'].parse(input)));
  if (!read.ok) throw new CommandRefused(read.problems);
  return { input, command: { ...read.value, kept } };
}

/** Enough conflicts to understand the problem. */
const MOST_CONFLICTS = 100;

/** MERGE_CONFLICT. `details` contains the location and its three values. */
export const problemOf = ({ message, ...details }: MergeConflict): Problem => ({
  code: 'MERGE_CONFLICT',
  message: `${describePlace(details.place)}: ${message}`,
  details,
});

/** Recreated objects get their former identity. */
function* identified(state: State, touched: ReadonlySet<string>, again: ComingAgain): Resumable<State> {
  if (again.size === 0) return state;
  const draft = new Draft(state);
  for (const name of touched) {
    yield;
    const node = state.collections.get(name);
    if (node === undefined) continue;
    const { identities } = node;
    const fields = [...identities.fields].flatMap(([field, identity]) => {
      const before = again.get(memberKey(name, field));
      return identity === UNMADE && before !== undefined ? [[field, before] as const] : [];
    });
    draft.identify(name, new Map(fields), identities.collection === UNMADE ? again.get(name) : undefined);
  }
  return yield* draft.toState();
}

interface Differing {
  ours: State;
  to: State;
  touched: ReadonlySet<string>;
  kept: readonly InTrash[];
}

function* differing({ ours, to, touched, kept }: Differing): Resumable<SchemaDiff> {
  const way = { from: ours, to, touched };
  const found = yield* fitting(way, kept);
  return withOrigins(yield* diffStates(ours, to, touched), yield* comingAgain(way), found);
}
