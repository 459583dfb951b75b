/**
 * Replays a log event by event. It checks whether the policy and the trust rules allowed each change, and whether each
 * change request was applied with the reviewed plan. Pure. It holds only the policy, the trust rules, the accounts,
 * unfinished requests and one batch.
 */
import { isObject } from '../../kernel/json.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Accounts, foldAccount, isActiveAdmin } from '../fold/accounts.js';
import { EVENT_KINDS } from '../fold/event-schemas.js';
import { type RawEvent, UnreadableEventError, readEvent } from '../fold/upcasting.js';
import { USER } from '../model/service-events.js';
import type { Actor, Cause, EventSubject, LogEvent, StoredEvent } from '../model/events.js';
import { locationText } from '../model/location.js';
import { TRUST_SUBJECT, type TrustRule } from '../model/token-scope.js';
import {
  type Acknowledgement,
  DEFAULT_POLICY,
  PURGE_FINDINGS,
  type Policy,
  actionOf,
  foldPolicy,
  hasReason,
  isEarlyPurge,
  isEnforced,
  keyOf,
  policyWarnings,
} from '../policy.js';
import { filterCounted, coversFinding, findIssuer, hasIssuedCredential, judgeApprovals } from './approvals.js';
import { changeIdOf, evolveChange, isChangeEvent } from './fold.js';
import { CHANGE, type ChangeEventOf, type ChangeRequest, type StoredChangeEvent } from './model.js';
import { explainUntrusted, isPipeline } from './replay-trust.js';

/**
 * A change that the policy, the approvals or the trust rules at its position did not allow, or that differs from the
 * reviewed plan.
 */
export interface DisallowedChange {
  position: number;
  reason: string;
}

/** An event as stored. */
type RecordedEvent = RawEvent &
  Pick<StoredEvent, 'batch' | 'hash' | 'occurred_at' | 'actor' | 'reason' | 'request_id'> &
  Pick<Cause, 'context'> & { subject?: EventSubject | undefined };

interface PolicyReplay {
  /** Adds the next event of a log whose hash chain was verified. */
  add(event: RecordedEvent): Resumable<void>;
  /** Call it after the last event. It returns at most 100 changes, in the order of the log. */
  end(): Resumable<DisallowedChange[]>;
}

/** A batch that has ended. */
interface EndedBatch {
  /** All events except `change.applied`, as stored. */
  events: readonly RawEvent[];
  /** The data of `change.applied`. Null if the batch did not apply a reviewed change request. */
  applied: ChangeEventOf<'change.applied'>['data'] | null;
  /** The policy before the batch. */
  policy: Policy;
  /** True if the collections of the batch are compared with a scope. */
  isScoped: boolean;
}

interface ReplayedBatch {
  /** The hash of the plan, or the reason why it is unknown. Null if the plan was not reviewed. */
  plan: string | UnreadableEventError | null;
  /** True if the batch changed the schema outside a scope. Undefined if that is unknown or not needed. */
  reachesOutside?: (scope: readonly string[]) => boolean;
}

/** Returns the facts about the next batch that only its schema shows. */
export type PlanReplay = (batch: EndedBatch) => Resumable<ReplayedBatch>;

/**
 * True if the policy evaluates an event. It evaluates changes to the schema, to objects and to the policy, and purges before
 * the retention period has passed.
 */
export function isJudged(event: Pick<RawEvent, 'type' | 'data'>): boolean {
  if (event.type === POLICY_UPDATED || isEarlyPurge(event)) return true;
  if (!Object.hasOwn(EVENT_KINDS, event.type)) return false;
  const { changesSchema, changesObjects } = EVENT_KINDS[event.type as keyof typeof EVENT_KINDS];
  return changesSchema || changesObjects;
}

const POLICY_UPDATED = 'policy.updated';

const MOST = 100;

interface Request {
  request: ChangeRequest;
  /** Positions of approvals that were given with an issued credential. */
  issued: ReadonlySet<number>;
}

/** The facts that a replay has collected up to a position. */
interface Replayed {
  policy: Policy;
  /** The hash of the event that set the policy. Null if none did. */
  hash: string | null;
  accounts: Accounts;
  requests: Map<string, Request>;
  trust: readonly TrustRule[];
}

/** The part of a batch that the policy evaluates. */
interface Batch {
  id: string;
  /** The first event of the batch. */
  first: RecordedEvent;
  /** The trust rules before the batch. */
  trust: readonly TrustRule[];
  /** The change request of each event about one, before that event. Undefined if it did not exist. */
  requests: (ChangeRequest | undefined)[];
  /** The position of the first event in the batch that the policy evaluates. */
  position: number | null;
  context: Cause['context'];
  /** The policy before the batch. */
  policy: Policy;
  hash: string | null;
  replaces: LogEvent[];
  /** Locations of deleted objects that the trash keeps. */
  kept: Set<string>;
  /** Findings, by code, that the events of the batch prove. */
  certain: Acknowledgement[];
  /** All events except `change.applied`. */
  events: RecordedEvent[];
  applied: { event: ChangeEventOf<'change.applied'>; request: Request | undefined } | null;
}

/** @param planOf from `createPlanReplay`. Null if plans are not compared. */
export function createPolicyReplay(planOf: PlanReplay | null): PolicyReplay {
  const replayed: Replayed = {
    policy: DEFAULT_POLICY,
    hash: null,
    accounts: new Map(),
    requests: new Map(),
    trust: [],
  };
  const disallowed: DisallowedChange[] = [];
  let batch: Batch | undefined;
  let unreadable = false;

  function* judge(): Resumable<void> {
    if (batch === undefined) return;
    const { accounts } = replayed;
    const schema = planOf === null ? undefined : yield* planOf(toEnded(batch));
    const reason =
      explainDisallowed(batch, accounts) ??
      (schema && explainOtherPlan(batch, schema)) ??
      explainPipeline(batch, accounts, schema?.reachesOutside);
    if (reason !== undefined) disallowed.push(reason);
    batch = undefined;
  }

  function recordUnreadable(error: unknown): void {
    if (!(error instanceof UnreadableEventError)) throw error;
    // An unreadable event makes all later judgements impossible.
    unreadable = true;
    disallowed.push({ position: error.position, reason: `the policy cannot be followed: ${error.message}` });
  }

  return {
    *add(event) {
      if (unreadable || disallowed.length === MOST) return;
      try {
        if (batch?.id !== event.batch) yield* judge();
        batch ??= startBatch(event, replayed);
        recordJudged(batch, event);
        replay(batch, event, replayed);
      } catch (error) {
        recordUnreadable(error);
      }
    },
    *end() {
      try {
        if (!unreadable && disallowed.length < MOST) yield* judge();
      } catch (error) {
        recordUnreadable(error);
      }
      return disallowed;
    },
  };
}

/** The plan is only computed if users reviewed one. */
const reviewedPlan = ({ applied }: Batch): string | undefined => applied?.request?.request.proposal?.plan;

const toEnded = (batch: Batch): EndedBatch => ({
  events: batch.events,
  applied: reviewedPlan(batch) === undefined ? null : (batch.applied?.event.data ?? null),
  policy: batch.policy,
  isScoped: isPipeline(batch.first.actor),
});

function explainOtherPlan(batch: Batch, { plan }: ReplayedBatch): DisallowedChange | undefined {
  const { applied } = batch;
  const reviewed = reviewedPlan(batch);
  if (applied === null || reviewed === undefined || plan === reviewed) return undefined;
  const why = plan instanceof UnreadableEventError ? ` (${plan.message})` : '';
  return {
    position: applied.event.position,
    reason: `it differs from the plan of change request ${changeIdOf(applied.event)}${why}`,
  };
}

function explainPipeline(
  batch: Batch,
  accounts: Accounts,
  reachesOutside: ReplayedBatch['reachesOutside'],
): DisallowedChange | undefined {
  const { first, trust, applied } = batch;
  const { actor, occurred_at: occurredAt, position } = first;
  const events = applied === null ? batch.events : [...batch.events, applied.event];
  const isRequested = !continuesOwnRequest(batch);
  const reason = explainUntrusted({ actor, occurredAt, isRequested, events, rules: trust, reachesOutside }, accounts);
  return reason === undefined ? undefined : { position, reason };
}

/** True if the service continued a change request for the actor, which that user had requested before. */
function continuesOwnRequest({ first: { request_id, actor }, requests }: Batch): boolean {
  return request_id === null && requests.length > 0 && requests.every((request) => isOwnRequest(request, actor));
}

/** The name of a user can be erased in the meantime. */
const isOwnRequest = (request: ChangeRequest | undefined, { id, name }: Actor): boolean =>
  [request?.author, request?.applicant].some((user) => user?.id === id && (user.name === name || user.name === null));

const startBatch = (first: RecordedEvent, { policy, hash, trust }: Replayed): Batch => ({
  id: first.batch,
  first,
  trust,
  requests: [],
  position: null,
  context: first.context,
  policy,
  hash,
  replaces: [],
  kept: new Set(),
  certain: [],
  events: [],
  applied: null,
});

function recordJudged(batch: Batch, event: RecordedEvent): void {
  if (event.type !== 'change.applied') batch.events.push(event);
  if (!isJudged(event)) return;
  batch.position ??= event.position;
  if (isEarlyPurge(event)) batch.certain.push(...findingsOfPurge(batch, event));
  // The trash keeps data only for deleted tables and columns.
  if (!DELETIONS.has(event.type) || !isObject(event.data) || event.data['kept_until'] === undefined) return;
  const location = locationText(event);
  batch.kept.add(location);
  if (actionOf(batch.policy, 'LOSES_DATA', event.collection ?? undefined) === 'approve')
    batch.certain.push({ code: 'LOSES_DATA', place: location });
}

/** Change requests contain no purges, so no approval covers the findings of a purge. */
function findingsOfPurge({ policy }: Batch, event: RecordedEvent): Acknowledgement[] {
  const place = locationText(event);
  return PURGE_FINDINGS.filter((code) => actionOf(policy, code, event.collection ?? undefined) === 'approve').map(
    (code) => ({ code, place }),
  );
}

const DELETIONS: ReadonlySet<string> = new Set(['collection.deleted', 'field.deleted']);

function replay(batch: Batch, event: RecordedEvent, replayed: Replayed): void {
  const { type, subject } = event;
  if (type === POLICY_UPDATED) updatePolicy(batch, readEvent(event), replayed, event.hash);
  else if (subject?.kind === TRUST_SUBJECT.kind) updateTrust(readEvent(event), replayed);
  else if (subject?.kind === USER) foldAccount(replayed.accounts, readEvent(event));
  else if (subject?.kind === CHANGE && type !== 'change.commented') followRequest(batch, readEvent(event), replayed);
}

function updatePolicy(batch: Batch, event: LogEvent, replayed: Replayed, hash: string): void {
  if (event.type !== POLICY_UPDATED) return;
  batch.replaces.push(event);
  replayed.policy = foldPolicy([event], replayed.policy);
  replayed.hash = hash;
}

function updateTrust(event: LogEvent, replayed: Replayed): void {
  if (event.type === 'trust.updated') replayed.trust = event.data.rules;
}

function followRequest(batch: Batch, event: LogEvent, { accounts, requests }: Replayed): void {
  if (!isChangeEvent(event)) return;
  const stored = event as StoredChangeEvent;
  const id = changeIdOf(stored);
  const before = requests.get(id);
  batch.requests.push(before?.request);
  if (stored.type === 'change.applied') batch.applied = { event: stored, request: before };
  const request = evolveChange(before?.request, withRecordedIssuer(stored, accounts));
  const issued = new Set(before?.issued);
  const approval = request.proposal?.approvals.find(({ position }) => position === stored.position);
  if (approval !== undefined && hasIssuedCredential(accounts, approval)) issued.add(approval.position);
  if (hasEnded(request)) requests.delete(id);
  else requests.set(id, { request, issued });
}

/** Takes the issuer of a proposal's credential from the account events, which the service could have ignored. */
function withRecordedIssuer(event: StoredChangeEvent, accounts: Accounts): StoredChangeEvent {
  if (event.type !== 'change.opened' && event.type !== 'change.updated') return event;
  const { proposed_with: used } = event.data;
  const issuer = used && findIssuer(accounts, event.actor.id, used);
  if (used === undefined || issuer == null) return event;
  return { ...event, data: { ...event.data, proposed_with: { ...used, issued_by: issuer } } } as StoredChangeEvent;
}

/** True if only comments can follow. A failed proposal has not ended, because users can retry it. */
const hasEnded = ({ state, proposal }: ChangeRequest): boolean =>
  state === 'applied' || state === 'withdrawn' || (state === 'failed' && proposal === null);

function explainDisallowed(batch: Batch, accounts: Accounts): DisallowedChange | undefined {
  const { position, policy, hash, context, applied } = batch;
  if (position === null || !isEnforced(policy)) return undefined;
  if (context?.['policy'] !== hash) return { position, reason: 'it was not evaluated against the policy in force' };
  if (lacksReason(batch)) return { position, reason: 'the policy requires a reason' };
  const { acknowledge, approve } = requiredFindings(batch);
  const acknowledged = new Set(readAcknowledged(context));
  const unknown = acknowledge.find((each) => !acknowledged.has(keyOf(each)));
  if (unknown !== undefined) return { position, reason: `the policy requires an acknowledgement (${keyOf(unknown)})` };
  const uncovered = approve.find((each) => approvalsOf(each, batch, accounts) < policy.approvals);
  if (uncovered === undefined) return undefined;
  const approvals = approvalsOf(uncovered, batch, accounts);
  const reason = `it lacks approvals (${keyOf(uncovered)}): ${policy.approvals} required, ${approvals} valid`;
  return { position: applied?.event.position ?? position, reason };
}

/** An erasure removes the name of the actor and the reason together, so a reason may have existed without a name. */
const lacksReason = ({ policy, first }: Batch): boolean =>
  policy.requires_reason && first.actor.name !== null && !hasReason(first);

interface Required {
  acknowledge: Acknowledgement[];
  approve: Acknowledgement[];
}

/**
 * Returns the findings that the policy requires to be acknowledged or approved. Their source is the events of the
 * batch, or the findings that `change.applied` records.
 */
function requiredFindings({ policy, replaces, certain, applied }: Batch): Required {
  const changes = policyWarnings(policy, replaces).map(({ code }) => ({ code, place: '' }));
  const ofAction = (action: string): Acknowledgement[] =>
    changes.filter(({ code }) => actionOf(policy, code, undefined) === action);
  const recorded = Object.entries(applied?.event.data.findings ?? {});
  return {
    acknowledge: ofAction('acknowledge'),
    approve: [
      ...ofAction('approve'),
      ...recorded.flatMap(([code, locations]) => locations.map((location) => ({ code, place: location }))),
      // Findings about the steps of an online change are evaluated before the steps begin, so they are not required here.
      ...(applied?.request?.request.online === true ? [] : certain),
    ],
  };
}

const isAcknowledgement = (value: unknown): value is Acknowledgement =>
  isObject(value) && typeof value['code'] === 'string' && typeof value['place'] === 'string';

function readAcknowledged(context: Cause['context']): string[] {
  const codes = context?.['acknowledged'];
  return Array.isArray(codes) ? codes.flatMap((each) => (isAcknowledgement(each) ? [keyOf(each)] : [])) : [];
}

function approvalsOf(
  { code, place: location }: Acknowledgement,
  { policy, applied, kept }: Batch,
  accounts: Accounts,
): number {
  if (applied?.request === undefined) return 0;
  const { request, issued } = applied.request;
  const by = (request.proposal?.approvals ?? []).map((each) => each.by.id);
  // Before the first account event, the only account is the one that the first start created.
  const admins = new Set(by.filter((id) => accounts.size === 0 || isActiveAdmin(accounts.get(id))));
  const finding = { code, location, kept: kept.has(location) };
  return filterCounted(judgeApprovals(request, policy, { admins, issued })).filter((approval) =>
    coversFinding(approval, finding),
  ).length;
}
