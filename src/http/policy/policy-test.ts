/** Evaluates a policy for a change, without running anything or taking a lock. */
import { runYielding } from '../../kernel/event-loop.js';
import { isObject } from '../../kernel/json.js';
import { invalid, unknownMembers } from '../../kernel/problem.js';
import { stepsTo } from '../../kernel/resumable.js';
import { readPolicy } from '../../log/read-policy.js';
import { planBatch } from '../../projector/ddl/plan.js';
import { findingsByPolicy } from '../../projector/findings/index.js';
import { compareSnapshot } from '../../schema/compare/compare-snapshot.js';
import { originsIn } from '../../schema/diff/origins.js';
import { type Finding, withoutPlaces } from '../../schema/findings/index.js';
import type { State } from '../../schema/model/state.js';
import { operations } from '../../schema/operations/index.js';
import {
  type Acknowledgement,
  type Judged,
  type Policy,
  byAction,
  isStopping,
  keyOf,
} from '../../schema/policy/index.js';
import { acknowledgedBy, takeAcknowledged, commandOf } from '../change/change.js';
import { unwrap } from '../answer/answer.js';
import type { HttpDeps } from '../deps.js';
import { Refused } from '../errors.js';
import { below, locatedIn, relocated } from '../change-requests/locate-part.js';
import { inManagedSchema } from '../managed-schema.js';
import { readPolicyBody } from './policy-body.js';
import type { Call } from '../route.js';
import { placeText } from '../../schema/model/place.js';

/** Ascending severity: the result is the strictest action that is not acknowledged. */
export const OUTCOMES = ['allowed', 'acknowledge', 'approve', 'refuse'] as const;

export interface PolicyTest {
  outcome: (typeof OUTCOMES)[number];
  /** The number of required approvals; null if none is required. */
  approvals: number | null;
  findings: Omit<Judged<Finding>, 'event' | 'statement'>[];
}

type TestCall = Call<{ online: boolean; force: boolean; mode: 'mirror' | 'merge' }>;

const MEMBERS = new Set(['diff', 'snapshot', 'policy']);

/** The returned function throws Refused for an unreadable body and for a change that the schema rejects. */
export function createPolicyTest(deps: Pick<HttpDeps, 'pool' | 'store' | 'history' | 'config'>) {
  const { pool, store, history, config } = deps;
  const { release, schema, keepDeleted } = config;

  /** The entries of the diff, or of the snapshot's changes. */
  async function diffOf(body: Record<string, unknown>, state: State, { query }: TestCall): Promise<unknown> {
    const { diff, snapshot } = body;
    if ((diff === undefined) === (snapshot === undefined))
      throw new Refused([
        invalid([], 'the body has either diff (with its hash, as /schema/diff answers it) or snapshot'),
      ]);
    if (diff !== undefined) return diff;
    const compared = async () => {
      if (!query.force) await inManagedSchema(snapshot, schema);
      return unwrap(await runYielding(compareSnapshot(state, snapshot, { ...query, release })));
    };
    const { hash, diff: entries } = await below('snapshot', compared());
    return { hash, diff: entries };
  }

  async function eventsOf(diff: unknown, state: State) {
    const command = await commandOf('apply-diff', { release, body: diff });
    const kept = await history.inTrash([...originsIn(command.diff).values()]);
    const decided = operations['apply-diff'].decide(state, { ...command, kept });
    return unwrap(await runYielding(stepsTo(decided)));
  }

  return async (asked: TestCall): Promise<PolicyTest> => {
    const call = takeAcknowledged(asked);
    const body = bodyOf(call.body);
    const { policy: given } = body;
    const policy: Policy = given === undefined ? (await readPolicy(pool)).policy : readPolicyBody(given, 'policy');
    const state = await store.atHead(call.head);
    const diff = await diffOf(body, state, call);
    const events = await relocated(eventsOf(diff, state), locatedIn(body));
    const { statements, after } = await runYielding(planBatch(state, events, schema));
    const apart = new Set((acknowledgedBy(call)?.findings ?? []).map(keyOf));
    const { online } = call.query;
    const plan = { before: state, after, events, statements, keep: keepDeleted, online, apart };
    const findings = await findingsByPolicy(pool, schema, { plan, policy, noticed: [] });
    return { ...outcomeOf(policy, findings, apart), findings: withoutPlaces(findings) };
  };
}

function bodyOf(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw new Refused([invalid([], 'the body is an object with diff or snapshot')]);
  const problems = unknownMembers(body, MEMBERS, []);
  if (problems.length > 0) throw new Refused(problems);
  return body;
}

function outcomeOf(
  { approvals }: Policy,
  findings: readonly Judged<Finding>[],
  acknowledged: ReadonlySet<string>,
): Pick<PolicyTest, 'outcome' | 'approvals'> {
  const isKnown = (finding: Judged<Finding>): boolean => acknowledged.has(keyOf(acknowledgementOf(finding)));
  const [strictest] = findings
    .filter((each) => isStopping(each.action) && !(each.action === 'acknowledge' && isKnown(each)))
    .sort(byAction);
  const outcome = (strictest?.action ?? 'allowed') as PolicyTest['outcome'];
  return { outcome, approvals: findings.some(({ action }) => action === 'approve') ? approvals : null };
}

const acknowledgementOf = (finding: Finding): Acknowledgement => ({ code: finding.code, place: placeText(finding) });
