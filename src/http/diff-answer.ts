/** The diff of a submitted snapshot in the form that apply accepts, for /schema/diff and /schema/merge. */
import { z } from 'zod';
import { runYielding } from '../kernel/event-loop.js';
import { planBatch } from '../projector/ddl/plan.js';
import { judgedFindings } from '../projector/findings.js';
import type { Comparison } from '../schema/compare/compare-snapshot.js';
import { type Finding, withoutPlaces } from '../schema/findings/index.js';
import type { State } from '../schema/model/state.js';
import { transition } from '../schema/transition/transition.js';
import { type Answer, expectTakeable, largeJsonAnswer } from './answer/answer.js';
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

type Judging = Pick<HttpDeps, 'pool' | 'config'>;

/** @returns hash, diff and warnings, including the findings of applying it */
export function createDiffAnswer({ history, pool, config }: Judging & Pick<HttpDeps, 'history'>) {
  return async (state: State, comparison: Comparison): Promise<Answer> => {
    const { hash, diff } = comparison;
    const { state: after, touched } = comparison.desired;
    const mentions = await history.namesMentioned({ before: state, after, touched });
    const noticed = [...comparison.warnings, ...mentions];
    const warnings = await findings({ pool, config }, state, { ...comparison, warnings: noticed });
    const answer = await largeJsonAnswer({ hash, diff, ...(warnings.length > 0 && { warnings }) });
    await expectTakeable(answer.body as Buffer, config.maxBody.schema, IN_PARTS);
    return { ...answer, position: state.position };
  };
}

async function findings(
  { pool, config: { schema, keepDeleted } }: Judging,
  state: State,
  { desired, warnings }: Comparison,
): Promise<Finding[]> {
  const events = await runYielding(transition(state, desired.state, desired.touched));
  const { statements } = await runYielding(planBatch(state, events, schema));
  const plan = { before: state, after: desired.state, events, statements, keep: keepDeleted };
  return withoutPlaces(await judgedFindings(pool, schema, { plan, noticed: warnings }));
}
