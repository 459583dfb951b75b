/** The diff of a submitted snapshot in the form that apply accepts, for /schema/diff and /schema/merge. */
import { z } from 'zod';
import { runYielding } from '../kernel/event-loop.js';
import { planBatch } from '../projector/ddl/plan.js';
import type { Comparison } from '../schema/compare/compare-snapshot.js';
import { type ObjectEquality, findDifferingDefinitions } from '../schema/compare/desired-state.js';
import { withoutLocations } from '../schema/findings/finding.js';
import type { State } from '../schema/model/state.js';
import { transition } from '../schema/transition/transition.js';
import { type Answer, requireSendable, largeJsonAnswer } from './answer/answer.js';
import type { HttpDeps } from './deps.js';
import { flag } from './request/query.js';

/** Options for reading a snapshot. */
export const diffQuery = z.strictObject({
  force: flag.describe('Accepts documents of other releases, vendors and services'),
  mode: z
    .enum(['mirror', 'merge'], { error: 'must be mirror or merge.' })
    .default('mirror')
    .describe('`mirror`: objects that are missing from the snapshot are deleted. `merge`: nothing is deleted'),
});

const IN_PARTS =
  'Send a snapshot of some collections with mode=merge (/schema/snapshot?includeCollections=…), apply that, and continue with the others.';

/**
 * Tells which definitions in a snapshot equal those of the given states. PostgreSQL compares definitions that may
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
