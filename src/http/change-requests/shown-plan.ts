/** The plan of a change request against the current schema. */
import { judgedFindings } from '../../projector/findings/index.js';
import { returningBy } from '../../projector/trash/returning.js';
import { withoutPlaces } from '../../schema/findings/index.js';
import { whyNotKept } from '../../pipeline/transaction/keep-deleted.js';
import type { PlanNow } from '../../pipeline/change-requests/proposals/plan-now.js';
import { policyWarnings } from '../../schema/policy/index.js';
import type { HttpDeps } from '../deps.js';
import { errorBody } from '../errors.js';
import { lockedTables } from '../../projector/online/locked-tables.js';
import { isDeletion } from '../../schema/model/events.js';
import { shownStatement } from '../change/plan-answer.js';

type Planned = Extract<PlanNow, { kind: 'planned' }>;

/** @param request with the hash of the proposed plan */
export async function shownPlan(
  deps: Pick<HttpDeps, 'pool' | 'config'>,
  plan: PlanNow,
  request: { plan: string | null; online: boolean },
): Promise<object> {
  if (plan.kind === 'conflicts') return { fresh: false, hash: null, ...errorBody(plan.problems), ...NOTHING };
  const { hash, statements, diff } = plan;
  return {
    fresh: hash === request.plan,
    hash,
    errors: null,
    diff,
    policy: plan.policy,
    statements: statements.map(shownStatement),
    tables: await lockedTables(deps.pool, { schema: deps.config.schema, statements }),
    findings: await findingsOf(deps, plan, request),
    loses: await lossesOf(deps, plan, request),
    returns: await returningBy(deps.pool, plan.events),
  };
}

const NOTHING = { diff: null, policy: null, statements: [], tables: [], findings: [], loses: [], returns: [] };

async function findingsOf(
  { pool, config }: Pick<HttpDeps, 'pool' | 'config'>,
  plan: Planned,
  { online }: { online: boolean },
): Promise<object[]> {
  const keep = plan.purge ? 0 : config.keepDeleted;
  const { policy: change, ...rest } = plan;
  const noticed = change === null ? [] : policyWarnings(change.from, plan.events);
  return withoutPlaces(await judgedFindings(pool, config.schema, { plan: { ...rest, keep, online }, noticed }));
}

/** The deleted objects, and why the trash would not keep them. */
async function lossesOf(
  { pool, config: { schema, keepDeleted, keepCopyRows } }: Pick<HttpDeps, 'pool' | 'config'>,
  { before: state, events, purge }: Planned,
  { online }: { online: boolean },
): Promise<object[]> {
  if (!events.some(isDeletion)) return [];
  const keep = { deleted: keepDeleted, copyRows: keepCopyRows };
  const lost = await whyNotKept(pool, { state, events, schema, keep, online, purge });
  return events.flatMap((event, index) => {
    if (!isDeletion(event)) return [];
    const why = lost.get(index) ?? null;
    return [{ collection: event.collection, field: event.field, kept: why === null, why_not: why }];
  });
}
