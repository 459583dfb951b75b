/* Reads the body of a policy, and evaluates a policy for a change. */
import { z } from 'zod';
import { runYielding } from '../kernel/event-loop.js';
import { isObject } from '../kernel/json.js';
import { invalidProblem, unknownMembers } from '../kernel/problem.js';
import { stepsTo } from '../kernel/resumable.js';
import { readPolicy } from '../log/decisive-events.js';
import { planBatch } from '../projector/ddl/plan.js';
import { findingsByPolicy } from '../projector/findings.js';
import { compareSnapshot } from '../schema/compare/compare-snapshot.js';
import { readOrigins } from '../schema/diff/origins.js';
import { withoutLocations, ruleOf } from '../schema/findings/finding.js';
import type { Finding } from '../schema/findings/model.js';
import { RULES } from '../schema/findings/rules/index.js';
import type { State } from '../schema/model/state.js';
import { operations } from '../schema/operations/index.js';
import {
  type Acknowledgement,
  type FindingWithAction,
  type Policy,
  byAction,
  isStopping,
  keyOf,
  ACTIONS,
  type Action,
  DEFAULT_POLICY,
  POLICY_CHANGES,
  isOfPolicy,
} from '../schema/policy.js';
import { readAcknowledgements, takeAcknowledgements, commandOf } from './change/change.js';
import { unwrap } from './answer/answer.js';
import type { HttpDeps } from './deps.js';
import { RejectedError, inManagedSchemas } from './errors.js';
import { prefixLocations, createBodyLocator, translateLocations } from '../features/change-requests/routes-actions.js';
import type { Call } from './route.js';
import { readEquality } from './diff-answer.js';
import { locationText } from '../schema/model/location.js';
import { readShape } from './body/shape.js';

const SHOWN_ONLY = 'is reported only when a document is read: set it to off, note or warn';

const LONGEST_PATTERN = 255;
const MOST_PATTERNS = 200;
const MOST_APPROVALS = 100;

const action = z.enum(ACTIONS, { error: `must be one of ${ACTIONS.join(', ')}.` });

/** Members are checked one by one, so that each error contains the location. */
const findings = z
  .record(z.string(), action)
  .superRefine((actions, context) => {
    for (const [code, each] of Object.entries(actions)) {
      const problem = problemOf(code, each);
      if (problem !== undefined) context.addIssue({ code: 'custom', path: [code], message: problem });
    }
  })
  .describe(
    `By code of a finding. ${RULES.filter(({ code, shownOnly }) => shownOnly !== true && !isOfPolicy(code)).length} codes allow all actions, the others off, note and warn`,
  );

function problemOf(code: string, action: Action): string | undefined {
  const rule = ruleOf(code);
  if (rule === undefined) return 'is not the code of a finding; docs/findings.md lists all of them';
  if (isOfPolicy(code)) return 'applies to the policy itself: set policy_changes instead';
  return rule.shownOnly === true && isStopping(action) ? SHOWN_ONLY : undefined;
}

const members = {
  findings,
  collections: z
    .array(
      z.strictObject({
        pattern: z.string().min(1).max(LONGEST_PATTERN).describe('A name pattern: `*` matches any characters'),
        findings,
      }),
    )
    .max(MOST_PATTERNS)
    .describe('The first entry whose pattern matches and that has the code takes precedence over `findings`'),
  online_above_rows: z
    .int()
    .nonnegative()
    .nullable()
    .describe('Tables with more rows require an online change if possible. Null for no limit'),
  approvals: z
    .int()
    .min(1)
    .max(MOST_APPROVALS)
    .describe('Number of required approvals before a change request is applied'),
  author_may_approve: z.boolean().describe('True if the author may approve'),
  requires_reason: z
    .boolean()
    .describe('True if every change needs a reason: X-Reason, or the reason of the change request'),
  policy_changes: z
    .enum(POLICY_CHANGES, { error: `must be one of ${POLICY_CHANGES.join(', ')}.` })
    .describe(
      'The requirement for changes to the policy: nothing, an acknowledgement (LOOSENS_POLICY) if it loosens the policy, or an approved change request',
    ),
};

/** A complete policy, as returned. */
export const policy = z.strictObject(members).meta({ id: 'Policy' });

/** A policy in a request. Missing members get their defaults. */
export const policyBody = z
  .strictObject({
    findings: members.findings.default({}),
    collections: members.collections.default([]),
    online_above_rows: members.online_above_rows.default(DEFAULT_POLICY.online_above_rows),
    approvals: members.approvals.default(DEFAULT_POLICY.approvals),
    author_may_approve: members.author_may_approve.default(DEFAULT_POLICY.author_may_approve),
    requires_reason: members.requires_reason.default(DEFAULT_POLICY.requires_reason),
    policy_changes: members.policy_changes.default(DEFAULT_POLICY.policy_changes),
  })
  .meta({ id: 'PolicySettings' });

/**
 * Reads the policy from a member of a body, or from the body itself.
 * @throws RejectedError
 */
export function readPolicyBody(body: unknown, member?: string): Policy {
  return member === undefined
    ? readShape(policyBody, body)
    : (readShape(z.object({ [member]: policyBody }), { [member]: body })[member] as Policy);
}

/* Evaluates a policy for a change, without running anything or taking a lock. */

/** The possible results in ascending severity. The result is the strictest action that is not acknowledged. */
export const OUTCOMES = ['allowed', 'acknowledge', 'approve', 'refuse'] as const;

interface PolicyTest {
  outcome: (typeof OUTCOMES)[number];
  /** The number of required approvals. Null if none is required. */
  approvals: number | null;
  findings: Omit<FindingWithAction<Finding>, 'event' | 'statement'>[];
}

type TestCall = Call<{ online: boolean; force: boolean; mode: 'mirror' | 'merge' }>;

const MEMBERS = new Set(['diff', 'snapshot', 'policy']);

/**
 * Returns a function that evaluates a policy. It throws RejectedError for an unreadable body, and for a change that the
 * schema rejects.
 */
export function createPolicyTest(deps: Pick<HttpDeps, 'pool' | 'plans' | 'store' | 'history' | 'config'>) {
  const { pool, store, history, config } = deps;
  const { release, schema, schemas, keepDeleted } = config;

  /** Returns the diff of the body, or the diff from the current schema to the snapshot in the body. */
  async function diffOf(body: Record<string, unknown>, state: State, { query }: TestCall): Promise<unknown> {
    const { diff, snapshot } = body;
    if ((diff === undefined) === (snapshot === undefined))
      throw new RejectedError([
        invalidProblem([], 'the body must have either diff (with its hash, as returned by /schema/diff) or snapshot'),
      ]);
    if (diff !== undefined) return prefixLocations('diff', inManagedSchemas(diff, schemas));
    const compared = async () => {
      await inManagedSchemas(snapshot, schemas, query);
      const options = { ...query, release, ...(await readEquality(deps, snapshot, state)) };
      return unwrap(await runYielding(compareSnapshot(state, snapshot, options)));
    };
    const { hash, diff: entries } = await prefixLocations('snapshot', compared());
    return { hash, diff: entries };
  }

  async function eventsOf(diff: unknown, state: State) {
    const command = await commandOf('apply-diff', { release, body: diff, objects: config.objects });
    const kept = await history.inTrash([...readOrigins(command.diff).values()]);
    const decided = operations['apply-diff'].decide(state, { ...command, kept });
    return unwrap(await runYielding(stepsTo(decided)));
  }

  return async (testCall: TestCall): Promise<PolicyTest> => {
    const call = takeAcknowledgements(testCall);
    const body = bodyOf(call.body);
    const { policy: submitted } = body;
    const policy: Policy =
      submitted === undefined ? (await readPolicy(pool)).policy : readPolicyBody(submitted, 'policy');
    const state = await store.atHead(call.head);
    const diff = await diffOf(body, state, call);
    const events = await translateLocations(eventsOf(diff, state), createBodyLocator(body));
    const { statements, after } = await runYielding(planBatch(state, events, schema));
    const apart = new Set((readAcknowledgements(call)?.findings ?? []).map(keyOf));
    const { online } = call.query;
    const plan = { before: state, after, events, statements, keep: keepDeleted, online, apart };
    const findings = await findingsByPolicy(pool, schema, { plan, policy, noticed: [] });
    return { ...outcomeOf(policy, findings, apart), findings: withoutLocations(findings) };
  };
}

function bodyOf(body: unknown): Record<string, unknown> {
  if (!isObject(body))
    throw new RejectedError([invalidProblem([], 'the body must be an object with diff or snapshot')]);
  const problems = unknownMembers(body, MEMBERS, []);
  if (problems.length > 0) throw new RejectedError(problems);
  return body;
}

function outcomeOf(
  { approvals }: Policy,
  findings: readonly FindingWithAction<Finding>[],
  acknowledged: ReadonlySet<string>,
): Pick<PolicyTest, 'outcome' | 'approvals'> {
  const isKnown = (finding: FindingWithAction<Finding>): boolean => acknowledged.has(keyOf(acknowledgementOf(finding)));
  const [strictest] = findings
    .filter((finding) => isStopping(finding.action) && !(finding.action === 'acknowledge' && isKnown(finding)))
    .sort(byAction);
  const outcome = (strictest?.action ?? 'allowed') as PolicyTest['outcome'];
  return { outcome, approvals: findings.some(({ action }) => action === 'approve') ? approvals : null };
}

const acknowledgementOf = (finding: Finding): Acknowledgement => ({ code: finding.code, place: locationText(finding) });
