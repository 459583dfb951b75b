/**
 * Enforces the policy on a batch, in one function for all sources of batches. The events are decided, nothing has been
 * executed, and the log lock is held. So the policy cannot change before the batch is appended.
 */
import type pg from 'pg';
import { runYielding } from '../../kernel/event-loop.js';
import { MAX_PROBLEMS, type Problem, invalidProblem, type Warning } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Queryable } from '../../postgres/pool.js';
import { readJudgedNames, planFindings } from '../../projector/findings.js';
import { warnAboutMentions } from '../../reads/history/difference.js';
import { findingOf } from '../../schema/findings/finding.js';
import type { Finding } from '../../schema/findings/model.js';
import type { Plan } from '../../schema/findings/planned-batch.js';
import { collectionsChanged } from '../../schema/fold/event-schemas.js';
import type { NamesBefore } from '../../schema/fold/former-names.js';
import { coversFinding, approvedViewOf } from '../../schema/change-requests/approvals.js';
import { isJudged } from '../../schema/change-requests/replay-policy.js';
import { type ApprovedView, type Cause, type LogEvent, isDeletion } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import { locationText } from '../../schema/model/location.js';
import {
  type Acknowledgement,
  type FindingWithAction,
  type Policy,
  byAction,
  REASON_REQUIRED,
  hasReason,
  isEnforced,
  isNamed,
  isStopping,
  judgeFinding,
  keyOf,
  policyWarnings,
} from '../../schema/policy.js';
import type { Statement } from '../../projector/ddl/step.js';
import { NOTICED_IN_TABLES } from './keep-deleted.js';
import type { Acknowledgements, PlannedBatch, Refusal, RevisedBatch } from '../types.js';

export interface EnforcementInput {
  planned: PlannedBatch;
  revised: RevisedBatch;
  /** Warnings that do not come from rules. */
  warnings: readonly Warning[];
  acknowledges: Acknowledgements | undefined;
  cause: Cause;
}

/** The members of an admission are recorded in the events. */
export type Admission =
  | {
      kind: 'admitted';
      /** Findings that the policy requires the caller to acknowledge, and that were acknowledged. */
      acknowledged: Acknowledgement[];
      /** Findings that the policy requires approvals for, and that approvals cover. */
      covered?: ApprovedView['findings'];
    }
  | Refusal;

const ADMITTED: Admission = { kind: 'admitted', acknowledged: [] };

/**
 * Rejects what the policy blocks, and acknowledgements that match no finding. Returns at most 100 problems. A batch
 * that never changes the schema or the policy is not checked.
 */
export async function enforcePolicy(client: pg.ClientBase, enforcing: EnforcementInput): Promise<Admission> {
  const { planned, revised, acknowledges } = enforcing;
  const batch = batchToJudge(planned, revised);
  if (batch === undefined) return admitWithoutPolicy(client, enforcing);
  if (acknowledges === undefined && !isEnforced(planned.policy)) return ADMITTED;
  return judgeBatch(client, enforcing, batch);
}

async function judgeBatch(client: pg.ClientBase, enforcing: EnforcementInput, batch: JudgedBatch): Promise<Admission> {
  const { planned, revised, acknowledges, warnings, cause } = enforcing;
  const { policy, before } = planned;
  const reasonless = policy.requires_reason && !hasReason(cause) ? [NEEDS_REASON] : [];
  const acknowledged = new Map((acknowledges?.findings ?? []).map((each, index) => [keyOf(each), { ...each, index }]));
  const judged = { ...batch, before: before.state, policy };
  const names = await readJudgedNames(client, planned.schema, judged);
  const plan = { ...judged, adopted: true, judgedNames: names, apart: new Set(acknowledged.keys()) };
  const findings = await collectFindings(client, { planned, batch, warnings, plan });
  const { stopped, coverage } = await runYielding(
    weigh(findings, { planned, revised, acknowledgements: acknowledged, names, events: batch.events }),
  );
  const unknown = acknowledges?.at === undefined ? [] : rejectUnmatched(acknowledges, coverage.matched);
  const problems = unknown.length > 0 ? unknown : [...reasonless, ...stopped.map(refusalOf)];
  if (problems.length === 0)
    return {
      kind: 'admitted',
      acknowledged: coverage.needed,
      ...(coverage.covered.length > 0 && { covered: approvedViewOf(coverage.covered) }),
    };
  return { kind: 'refused', problems: problems.slice(0, MAX_PROBLEMS) };
}

/** Returns the locations of objects that the events delete and the trash keeps. */
const readKeptLocations = (events: readonly LogEvent[]): ReadonlySet<string> =>
  new Set(
    events.flatMap((event) => (isDeletion(event) && event.data.kept_until !== undefined ? [locationText(event)] : [])),
  );

/** Admits a dry run or a proposal. The policy blocks nothing, but acknowledgements must match findings. */
async function admitWithoutPolicy(
  client: pg.ClientBase,
  { planned, revised: { online = false }, acknowledges, warnings }: Omit<EnforcementInput, 'cause'>,
): Promise<Admission> {
  const problems = await unmatchedAcknowledgements(client, { planned, acknowledges, warnings, online });
  return problems.length === 0 ? ADMITTED : { kind: 'refused', problems };
}

/** A plan, and how it would run. */
export interface AcknowledgedPlan extends Pick<EnforcementInput, 'planned' | 'warnings' | 'acknowledges'> {
  /** True if the change would be prepared online first. */
  online?: boolean;
  /** True if only the plan is known, and not what the trash keeps. */
  plansOnly?: boolean;
}

/** Returns problems for acknowledgements that match no finding of the plan. Their author saw a different plan. */
export async function unmatchedAcknowledgements(
  client: pg.ClientBase,
  { planned, acknowledges, warnings, online = false, plansOnly = false }: AcknowledgedPlan,
): Promise<Problem[]> {
  if (acknowledges?.at === undefined) return [];
  const batch = { ...planned, online };
  const keys = acknowledges.findings.map(keyOf);
  const plan = { ...batch, before: planned.before.state, adopted: true, apart: new Set(keys) };
  const findings = await collectFindings(client, { planned, batch, warnings, plan });
  const findingKeys = new Set(findings.map(keyOfFinding));
  const isFound = ({ code }: Acknowledgement, index: number): boolean =>
    findingKeys.has(keys[index] ?? '') || (plansOnly && NOTICED_IN_TABLES.has(code));
  const matched = new Set(acknowledges.findings.flatMap((each, index) => (isFound(each, index) ? [index] : [])));
  return rejectUnmatched(acknowledges, matched).slice(0, MAX_PROBLEMS);
}

interface PlanViewInput {
  planned: PlannedBatch;
  batch: JudgedBatch;
  warnings: readonly Warning[];
  plan: Plan;
}

/**
 * Returns the findings of the policy rules, then the warnings, the mentions in functions and the policy's own warnings.
 */
async function collectFindings(
  client: pg.ClientBase,
  { planned, batch, warnings, plan }: PlanViewInput,
): Promise<Finding[]> {
  const findings = await planFindings(client, planned.schema, plan, { patient: true });
  const noticed = [
    ...warnings,
    ...(await findMentions(client, planned.policy, { ...batch, before: planned.before.state })),
    ...policyWarnings(planned.policy, batch.events),
  ];
  return [...findings, ...noticed.map(findingOf)];
}

const keyOfFinding = (finding: Finding): string => keyOf({ code: finding.code, place: locationText(finding) });

interface JudgedBatch {
  events: readonly LogEvent[];
  statements: readonly Statement[];
  after: State;
  online: boolean;
}

/**
 * Returns the change to the schema or the policy that must be evaluated. That happens now, when its preparation begins, or
 * at its scheduled time. Undefined if there is none, for example if a request is only opened.
 */
function batchToJudge(planned: PlannedBatch, revised: RevisedBatch): JudgedBatch | undefined {
  const { events, statements, after, online = false } = revised;
  if (events.some(isJudged)) return { events, statements, after, online };
  if (events.some(({ type }) => type === 'change.scheduled')) return { ...planned, online };
  return events.some(beginsPreparation) ? { ...planned, online: true } : undefined;
}

/**
 * True if the event begins a preparation. It is evaluated before it begins, because applications notice its first step.
 */
const beginsPreparation = (event: LogEvent): boolean =>
  event.type === 'change.preparing' ||
  (event.type === 'change.opened' && event.data.online && event.data.proposal === undefined);

const NAMES = 'NAME_STILL_USED';

/** Queries database functions only if the policy needs them. */
export async function findMentions(
  db: Queryable,
  policy: Policy,
  { before, after, events }: Pick<Plan, 'before' | 'after' | 'events'>,
): Promise<Warning[]> {
  if (!isNamed(policy, NAMES)) return [];
  return warnAboutMentions(db, { before, after, touched: collectionsChanged(events) });
}

interface PolicyInput extends Pick<EnforcementInput, 'planned' | 'revised'> {
  /** Acknowledgements, keyed by finding. */
  acknowledgements: ReadonlyMap<string, Acknowledgement & { index: number }>;
  names: NamesBefore;
  /** The events of the batch that the policy evaluates. */
  events: readonly LogEvent[];
}

interface EnforcementResult {
  /** Blocked findings, those with the strictest action first. */
  stopped: BlockedFinding[];
  coverage: { matched: ReadonlySet<number>; needed: Acknowledgement[]; covered: Finding[] };
}

type BlockedFinding = FindingWithAction<Finding> & { needs?: { approvals: number; approved: number } };

function* weigh(
  findings: readonly Finding[],
  { planned, revised, acknowledgements, names, events }: PolicyInput,
): Resumable<EnforcementResult> {
  const { policy } = planned;
  const stopped: BlockedFinding[] = [];
  const matched = new Set<number>();
  const needed = new Map<string, Acknowledgement>();
  const covered: Finding[] = [];
  const kept = readKeptLocations(events);
  const approvalsOf = (finding: Finding): number => {
    const location = locationText(finding);
    const seen = { code: finding.code, location, kept: kept.has(location) };
    return (revised.approvals ?? []).filter((approval) => coversFinding(approval, seen)).length;
  };
  for (const finding of findings) {
    yield;
    const key = keyOfFinding(finding);
    const acknowledgement = acknowledgements.get(key);
    if (acknowledgement !== undefined) matched.add(acknowledgement.index);
    const weighed = judgeFinding(policy, finding, names);
    if (weighed === undefined || !isStopping(weighed.action)) continue;
    if (weighed.action === 'acknowledge' && acknowledgement !== undefined) needed.set(key, acknowledgement);
    else if (weighed.action !== 'approve') stopped.push(weighed);
    else {
      const needs = { approvals: policy.approvals, approved: approvalsOf(finding) };
      if (needs.approved < needs.approvals) stopped.push({ ...weighed, needs });
      else covered.push(finding);
    }
  }
  return { stopped: stopped.sort(byAction), coverage: { matched, needed: [...needed.values()], covered } };
}

function rejectUnmatched({ findings, at }: Acknowledgements, matched: ReadonlySet<number>): Problem[] {
  return findings.flatMap(({ code, place }, index) => {
    if (matched.has(index)) return [];
    const message = `no finding matches the acknowledgement ${JSON.stringify(keyOf({ code, place }))}. Read the plan again`;
    return [invalidProblem(at?.(index) ?? [], message, { acknowledged: { code, place } })];
  });
}

const NEEDS_REASON: Problem = {
  code: 'POLICY_REFUSED',
  message: 'The policy requires a reason (X-Reason). Send one, or add one to the change request.',
  details: REASON_REQUIRED,
};

/** Creates the problem of a blocked finding: its code, level, location and the safer alternative. */
function refusalOf({ needs, ...finding }: BlockedFinding): Problem {
  const { code, level, action, message, collection, field, object, why, safer } = finding;
  const location = locationText(finding);
  return {
    code: 'POLICY_REFUSED',
    message: `${SAYS[action](keyOf({ code, place: location }), needs?.approvals)}: ${message}.${safer === undefined ? '' : ` ${safer.text}`}`,
    ...(collection !== undefined && { collection }),
    ...(field !== undefined && { field }),
    details: {
      finding: code,
      level,
      action,
      place: location,
      ...(object && { object }),
      why,
      ...(safer && { safer }),
      ...needs,
    },
  };
}

type DescribeAction = (what: string, approvals?: number) => string;

const SAYS: Readonly<Record<BlockedFinding['action'], DescribeAction>> = {
  note: (what) => what,
  warn: (what) => what,
  acknowledge: (what) => `The policy requires an acknowledgement (X-Acknowledge: ${what})`,
  approve: (what, approvals = 1) =>
    `The policy requires a change request with ${approvals === 1 ? 'an approval' : `${approvals} approvals`} (${what})`,
  refuse: (what) => `The policy rejects this change (${what})`,
};
