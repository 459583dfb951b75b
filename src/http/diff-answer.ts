/** The diff of a snapshot in the form that apply accepts, for diffs and merges. */
import { z } from 'zod';
import { runYielding } from '../kernel/event-loop.js';
import { planBatch } from '../projector/ddl/plan.js';
import type { Comparison } from '../schema/compare/compare-snapshot.js';
import { type ObjectEquality, findDifferingDefinitions } from '../schema/compare/desired-state.js';
import { withoutLocations } from '../schema/findings/finding.js';
import { mergeSnapshot, stateOfSnapshot } from '../schema/merge/merge-states.js';
import { type MergeConflict, describeLocation, readResolutions } from '../schema/merge/model.js';
import type { State } from '../schema/model/state.js';
import { snapshotHash } from '../schema/snapshot/snapshot.js';
import { transition } from '../schema/transition/transition.js';
import { type Answer, jsonBytes, jsonBytesAnswer, largeJsonAnswer, requireSendable, unwrap } from './answer/answer.js';
import type { HttpDeps } from './deps.js';
import { STATUS, inManagedSchemas } from './errors.js';
import { flag } from './request/query.js';

/** Options for reading a snapshot. */
export const diffQuery = z.strictObject({
  force: flag.describe('Accepts documents from other releases, vendors and services'),
  mode: z
    .enum(['mirror', 'merge'], { error: 'must be mirror or merge.' })
    .default('mirror')
    .describe('`mirror`: objects that are missing from the snapshot are deleted. `merge`: nothing is deleted'),
});

const IN_PARTS =
  'Send a snapshot of some collections with mode=merge (/schema/snapshot?includeCollections=…), apply that, and continue with the others.';

/**
 * Finds the definitions in a snapshot that equal those of the given states. PostgreSQL compares definitions that may
 * differ only in spelling. Empty on an instance that manages only tables.
 */
export async function readEquality(
  { plans, config }: Pick<HttpDeps, 'plans' | 'config'>,
  body: unknown,
  ...states: readonly State[]
): Promise<{ objects?: ObjectEquality }> {
  if (!config.objects) return {};
  const pairs: [string, string][] = [];
  for (const state of states) pairs.push(...(await runYielding(findDifferingDefinitions(state, body))));
  return { objects: await plans.equality(pairs) };
}

/** @returns hash, diff and warnings, including the findings of applying the diff */
export function createDiffAnswer({ plans, config }: Pick<HttpDeps, 'plans' | 'config'>) {
  return async (state: State, { hash, diff, desired, warnings }: Comparison): Promise<Answer> => {
    const { state: after, touched } = desired;
    const events = await runYielding(transition(state, after, touched));
    const { statements } = await runYielding(planBatch(state, events, config.schema, { objects: config.objects }));
    const ofDescendants = await plans.warnAboutDescendants(state, events);
    const noticed = [...warnings, ...ofDescendants];
    const plan = { before: state, after, events, statements, warnings: noticed, keep: config.keepDeleted };
    const findings = withoutLocations(await plans.findings(plan));
    const answer = await largeJsonAnswer({ hash, diff, ...(findings.length > 0 && { warnings: findings }) });
    await requireSendable(answer.body as Buffer, config.maxBody.schema, IN_PARTS);
    return { ...answer, position: state.position };
  };
}

type DiffOptions = z.output<typeof diffQuery>;

interface MergeInput {
  base: State;
  ours: State;
  /** The whole schema. `ours` may be only the part that the caller can see. Apply compares its hash. */
  whole: State;
  /** A snapshot. Names of schemas that are not managed are removed from it or rejected. */
  theirs: unknown;
  /** Submitted resolutions. */
  resolve: unknown;
}

/** @returns the diff of a merge, or 409 with every conflict */
export function createMergeAnswer(deps: Pick<HttpDeps, 'plans' | 'config'>) {
  const answer = createDiffAnswer(deps);
  const { release, schemas } = deps.config;
  return async ({ base, ours, whole, theirs, resolve }: MergeInput, query: DiffOptions): Promise<Answer> => {
    const resolutions = unwrap(await runYielding(readResolutions(resolve)));
    await inManagedSchemas(theirs, schemas, query);
    const options = { ...query, release, ...(await readEquality(deps, theirs, base, ours)) };
    const outcome = unwrap(await runYielding(mergeSnapshot({ base, ours, theirs, resolutions }, options)));
    if (outcome.kind === 'conflicts') return conflictsAnswer(outcome.conflicts);
    return answer(ours, { ...outcome, hash: await runYielding(snapshotHash(whole, release)) });
  };
}

/** Returns a function that reads a snapshot as the base of a merge into `ours`. */
export function createSnapshotBase(deps: Pick<HttpDeps, 'plans' | 'config'>) {
  const { release, schemas } = deps.config;
  return async (document: unknown, ours: State, query: DiffOptions): Promise<State> => {
    await inManagedSchemas(document, schemas, query);
    const options = { ...query, release, ...(await readEquality(deps, document)) };
    return unwrap(await runYielding(stateOfSnapshot(document, ours, options)));
  };
}

/** Returns 409 with every conflict. A list of thousands of conflicts is written in steps. */
async function conflictsAnswer(conflicts: readonly MergeConflict[]): Promise<Answer> {
  const errors = conflicts.map(({ message, ...conflict }) => ({
    message: `${describeLocation(conflict.place)}: ${message}`,
    extensions: { code: 'MERGE_CONFLICT', ...conflict },
  }));
  return jsonBytesAnswer(STATUS.MERGE_CONFLICT, await runYielding(jsonBytes({ errors })));
}
