/** What a change request would do to the schema as it is now, as it is shown. */
import { judgedFindings } from '../../projector/findings/index.js';
import { returningBy } from '../../projector/trash/returning.js';
import { withoutPlaces } from '../../schema/findings/index.js';
import type { PlanNow } from '../../pipeline/change-requests/proposals/plan-now.js';
import type { HttpDeps } from '../deps.js';
import { errorBody } from '../errors.js';
import { isDeletion } from '../../schema/model/events.js';
import { shownStatement } from '../change/plan-answer.js';

type Planned = Extract<PlanNow, { kind: 'planned' }>;

/** @param approved the hash of the plan that the request is about */
export async function shownPlan(
  deps: Pick<HttpDeps, 'pool' | 'config'>,
  plan: PlanNow,
  approved: string | null,
): Promise<object> {
  if (plan.kind === 'conflicts') return { fresh: false, hash: null, ...errorBody(plan.problems), ...NOTHING };
  const { hash, statements, diff } = plan;
  return {
    fresh: hash === approved,
    hash,
    errors: null,
    diff,
    statements: statements.map(shownStatement),
    findings: await findingsOf(deps, plan),
    loses: lossesOf(plan, deps.config.keepDeleted),
    returns: await returningBy(deps.pool, plan.events),
  };
}

const NOTHING = { diff: null, statements: [], findings: [], loses: [], returns: [] };

async function findingsOf({ pool, config }: Pick<HttpDeps, 'pool' | 'config'>, plan: Planned): Promise<object[]> {
  const keep = plan.purge ? 0 : config.keepDeleted;
  return withoutPlaces(await judgedFindings(pool, config.schema, { plan: { ...plan, keep }, noticed: [] }));
}

/** What goes, and whether the trash would have it for a while. */
export function lossesOf({ events, purge }: Pick<Planned, 'events' | 'purge'>, keepDeleted: number): object[] {
  const kept = !purge && keepDeleted > 0;
  return events.filter(isDeletion).map(({ collection, field }) => ({ collection, field, kept }));
}
