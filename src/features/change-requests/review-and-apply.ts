/* Reviews and applies a proposal. This part plans comments, approvals and rejections. */
import type pg from 'pg';
import type { Document } from '../../log/document-lines.js';
import { keepDocuments, readDocuments } from '../../log/documents.js';
import { isObject } from '../../kernel/json.js';
import { describeLocation } from '../../schema/merge/model.js';
import { readApprovers, activeAdmins, readChange, isDue, readWaitUntil } from './rows.js';
import {
  type ApprovalRule,
  type JudgedApproval,
  filterCounted,
  judgeApprovals,
} from '../../schema/change-requests/approvals.js';
import type { Approval, ChangePlace, ChangeRequest } from '../../schema/change-requests/model.js';
import type { ApprovedView, Cause, LogEvent } from '../../schema/model/events.js';
import type { Queryable } from '../../postgres/pool.js';
import {
  type PlannedBatch,
  type Refusal,
  type Revise,
  type RevisedBatch,
  type Command,
  CommandRefused,
  type Prepare,
  type Recording,
} from '../../pipeline/types.js';
import {
  changeEvent,
  replaceBatch,
  planPreparation,
  prepare,
  toRefusal,
  toLoggedSteps,
  reviseForPreparation,
  withApplied,
  wrongState,
} from './planning.js';
import { type PlanOptions, planOf, type PlanView, requireAllowed } from './plan.js';
import {
  otherPlan,
  ownApproval,
  stalePlan,
  concurrentUpdateProblem,
  nothingToPrepare,
  badTime,
  notYetDue,
  schedulerLost,
} from './problems.js';
import type { PreparationEngine } from '../../projector/online/types.js';
import type { ChangeAction } from '../../schema/change-requests/fold.js';
import { findHeldConflicts } from '../../pipeline/transaction/decide.js';
import { invalidProblem, type Problem } from '../../kernel/problem.js';

/** Maximum number of comments per request. The comments are part of its row, which is read and written as a whole. */
const MOST_COMMENTS = 1_000;

/**
 * Rejects a comment with INVALID_STATE if the request has 1,000 comments, and for the reasons of `requireAllowed`.
 * @param place the change that the comment is about. Rejected with INVALID_PAYLOAD if it is not in the diff
 */
export const planComment =
  (id: string, comment: Document, place?: ChangePlace): Prepare<Recording> =>
  async (client) => {
    const request = await requireAllowed(client, id, 'comment');
    const { proposal } = request;
    if (place !== undefined && !(await isInDiff(client, request, place))) {
      const missing = `The diff of the change request does not contain ${describeLocation(place)}.`;
      throw new CommandRefused([invalidProblem(['place'], missing)]);
    }
    const message = `Change request ${id} already has the maximum of ${MOST_COMMENTS} comments.`;
    if (proposal.comments.length >= MOST_COMMENTS) throw new CommandRefused([{ code: 'INVALID_STATE', message }]);
    return {
      events: [changeEvent('change.commented', id, { comment: comment.hash })],
      also: keepDocuments([comment]),
    };
  };

/** False if the document of the request was erased. */
async function isInDiff(client: pg.ClientBase, { document }: ChangeRequest, place: ChangePlace): Promise<boolean> {
  const { content = null } = (await readDocuments(client, [document])).get(document) ?? {};
  const { input } = JSON.parse(content ?? '{}') as { input?: { body?: { diff?: Partial<Record<string, unknown>> } } };
  const items = input?.body?.diff?.[place.part];
  const { part: _, ...names } = place;
  return Array.isArray(items) && items.some((item) => hasMembers(item, names));
}

const hasMembers = (item: unknown, members: object): boolean =>
  isObject(item) && Object.entries(members).every(([name, value]) => item[name] === value);

/**
 * Rejects for the reasons of `requireAllowed`.
 * @param comment absent for a rejection without a comment
 */
export const planRejection =
  (id: string, comment?: Document): Prepare<Recording> =>
  async (client) => {
    await requireAllowed(client, id, 'reject');
    const events = [changeEvent('change.rejected', id, { ...(comment && { comment: comment.hash }) })];
    return { events, also: keepDocuments(comment ? [comment] : []) };
  };

export interface ApprovalInput {
  /** The hash of the reviewed plan. */
  plan: string;
  comment?: Document | undefined;
  by: Cause['actor'];
  credential: ApprovedView['credential'];
  /** The id of the API token with which the approver was authenticated. */
  token?: string | undefined;
  /** The facts that the approver saw. Undefined if the plan does not match the schema. */
  seen: PlanView['seen'] | undefined;
}

/** Records an approval. Each person counts once, and a second approval refers to the current plan. */
export const reviseForApproval =
  (id: string, { plan, comment, by, credential, token, seen }: ApprovalInput, planOptions: PlanOptions): Revise =>
  async (client, batch) => {
    const request = await requireAllowed(client, id, 'approve');
    if (request.proposal.plan !== plan) return { kind: 'refused', problems: [otherPlan(request, plan)] };
    const now = await planOf(batch, planOptions);
    if (now !== plan) return { kind: 'refused', problems: [stalePlan(request, now)] };
    const { policy } = batch;
    if (request.authors.some((author) => author.id === by.id) && !policy.author_may_approve)
      return { kind: 'refused', problems: [ownApproval(request)] };
    if (seen?.online !== request.online) return { kind: 'refused', problems: [concurrentUpdateProblem(id)] };
    const view: ApprovedView = { ...seen, credential, ...(token && { token }) };
    const approval = { ...view, by, plan, at: '', position: batch.before.head.position + 1, comment: null };
    const approvals = [...request.proposal.approvals.filter((each) => each.by.id !== by.id), approval];
    const after = { ...request, proposal: { ...request.proposal, approvals } };
    const complete = filterCounted(await readJudgedApprovals(client, after, policy)).length >= policy.approvals;
    const data = { ...view, plan, complete, ...(comment && { comment: comment.hash }) };
    const events = [changeEvent('change.approved', id, data)];
    return replaceBatch(batch, { events, also: keepDocuments(comment ? [comment] : []) });
  };

/** Returns the approvals of a request, and whether each of them counts now. */
async function readJudgedApprovals(
  db: Queryable,
  request: Pick<ChangeRequest, 'proposal' | 'authors' | 'online'>,
  rule: ApprovalRule,
): Promise<JudgedApproval[]> {
  return judgeApprovals(request, rule, await readApprovers(db, request.proposal?.approvals ?? []));
}

interface ReviewedPlan {
  kind: 'stands';
  /** The approvals that count at this time. */
  approvals: readonly Approval[];
  planOptions: PlanOptions;
}

/**
 * Passes the approvals that count to the policy. Also records how the plan is applied, so that the log can be verified.
 */
const withCountedApprovals = (
  { approvals, planOptions }: ReviewedPlan,
  outcome: RevisedBatch | Refusal,
): RevisedBatch | Refusal =>
  outcome.kind === 'refused'
    ? outcome
    : { ...outcome, events: outcome.events.map((event) => withOptions(event, planOptions)), approvals };

function withOptions(event: LogEvent, { purge, acknowledges }: PlanOptions): LogEvent {
  if (event.type !== 'change.applied') return event;
  const acknowledge = acknowledges?.findings ?? [];
  const data = { ...event.data, ...(purge === true && { purge }) };
  return { ...event, data: acknowledge.length === 0 ? data : { ...data, acknowledge: [...acknowledge] } };
}

/** Rejects a plan that differs from the reviewed one. */
async function requireReviewedPlan(
  client: pg.ClientBase,
  { request, batch, planOptions }: { request: ChangeRequest; batch: PlannedBatch; planOptions: PlanOptions },
): Promise<Refusal | ReviewedPlan> {
  const plan = await planOf(batch, planOptions);
  if (plan !== request.proposal?.plan) return { kind: 'refused', problems: [stalePlan(request, plan)] };
  return {
    kind: 'stands',
    approvals: filterCounted(await readJudgedApprovals(client, request, batch.policy)),
    planOptions,
  };
}

/* Prepare and apply the change of a proposal. It is decided again and must be exactly the approved change. */

export interface ActionOptions {
  engine: Pick<PreparationEngine, 'planPreparation'>;
  planOptions: PlanOptions;
}

/** Applies the change or begins its preparation. The runner then applies it, unless only preparation was requested. */
export const reviseForAction =
  (id: string, action: Extract<ChangeAction, 'prepare' | 'apply'>, { engine, planOptions }: ActionOptions): Revise =>
  async (client, batch) => {
    const request = await requireAllowed(client, id, action);
    const stands = await requireReviewedPlan(client, { request, batch, planOptions });
    if (stands.kind === 'refused') return stands;
    return withCountedApprovals(stands, await applyOrPrepare(client, { request, batch, action }, engine));
  };

/**
 * Used for dry runs. Returns the batch if it still is the reviewed plan.
 * @param foresee adds what would be prepared first
 */
export const reviseForDryRun =
  (id: string, { planOptions, foresee }: { planOptions: PlanOptions; foresee?: Revise }): Revise =>
  async (client, batch) => {
    const request = await requireAllowed(client, id, 'apply');
    const stands = await requireReviewedPlan(client, { request, batch, planOptions });
    if (stands.kind === 'refused') return stands;
    const revised = await foresee?.(client, batch);
    return revised?.kind === 'refused' ? revised : { ...batch, kind: 'revised', also: [], ...revised, change: id };
  };

async function applyOrPrepare(
  client: pg.ClientBase,
  { request, batch, action }: { request: ChangeRequest; batch: PlannedBatch; action: 'prepare' | 'apply' },
  engine: ActionOptions['engine'],
): Promise<RevisedBatch | Refusal> {
  const { id } = request;
  if (isPrepared(request)) return resumePreparation(batch, request);
  if (!request.online) return withApplied(batch, id);
  const preparation = await planPreparation(engine, client, { id, batch });
  if (preparation.kind === 'not possible') return toRefusal(preparation);
  if (preparation.kind === 'nothing')
    return action === 'apply' ? withApplied(batch, id) : { kind: 'refused', problems: [nothingToPrepare(request)] };
  const problems = findHeldConflicts(batch.held, { id, collections: preparation.collections });
  if (problems.length > 0) return { kind: 'refused', problems };
  return replaceBatch(batch, prepare(id, preparation, action === 'apply'));
}

/** True if the request is prepared and waits, for example until its scheduled time. */
const isPrepared = ({ state, preparation }: ChangeRequest): boolean =>
  state === 'prepared' || (state === 'scheduled' && preparation !== null);

/** Returns the batch with which the runner resumes a prepared request that was waiting. */
function resumePreparation(batch: PlannedBatch, { id, preparation }: ChangeRequest): RevisedBatch {
  const { steps = [], ...rest } = preparation ?? { collections: [] };
  return replaceBatch(batch, {
    events: [changeEvent('change.preparing', id, { ...rest, steps: toLoggedSteps(steps), apply: true })],
    also: [],
  });
}

/** Returns how the runner starts a request that was waiting for other requests or for its time. */
export const reviseForStart =
  (request: ChangeRequest, engine: ActionOptions['engine']): Revise =>
  async (client, batch) => {
    if (isPrepared(request)) return resumePreparation(batch, request);
    return request.online ? reviseForPreparation(engine, request.id)(client, batch) : withApplied(batch, request.id);
  };

/**
 * Runs a proposal only if it is still the approved one.
 * @param revise the action for a request without review
 */
export const requireApprovedPlan =
  (id: string, revise: Revise, planOptions: PlanOptions): Revise =>
  async (client, batch) => {
    const request = await readChange(client, id);
    if (request === undefined || request.proposal === null) return revise(client, batch);
    const stands = await requireReviewedPlan(client, { request, batch, planOptions });
    if (stands.kind === 'refused') return stands;
    const revised = withCountedApprovals(stands, await revise(client, batch));
    // If preparation is no longer needed, the request waits, as its author wanted.
    const applies = revised.kind === 'revised' && revised.change !== undefined;
    if (!applies || request.applicant !== null) return revised;
    return replaceBatch(batch, { events: [changeEvent('change.prepared', id, { steps: [] })], also: [] });
  };

/* Schedules a proposal for a time by the database's clock. The proposal is decided again at that time. */

/** Limits in milliseconds. A time up to `past` ago means now. A time after `future` is an error. */
const TIMES = { past: 60_000, future: 366 * 86_400_000 };

/**
 * Requires that the change could be applied now, and that the policy allows it.
 * @param at ISO 8601
 */
export const reviseForSchedule =
  (id: string, at: string, planOptions: PlanOptions): Revise =>
  async (client, batch) => {
    const request = await requireAllowed(client, id, 'apply');
    const wait = await readWaitUntil(client, at);
    if (wait < -TIMES.past) return { kind: 'refused', problems: [badTime(at, 'has passed')] };
    if (wait > TIMES.future) return { kind: 'refused', problems: [badTime(at, 'is more than a year away')] };
    const stands = await requireReviewedPlan(client, { request, batch, planOptions });
    if (stands.kind === 'refused') return stands;
    const scheduled = replaceBatch(batch, { events: [changeEvent('change.scheduled', id, { at })], also: [] });
    return withCountedApprovals(stands, { ...scheduled, online: request.online });
  };

/** Returns the command of a due request. Before anything is decided, it checks that the request is still due. */
export const requireDue =
  <C>(request: ChangeRequest, command: Command<C>): Prepare<C> =>
  async (client, ...at) => {
    const problem = await findStartProblem(client, request);
    if (problem !== null) throw new CommandRefused([problem]);
    return typeof command === 'function' ? (command as Prepare<C>)(client, ...at) : command;
  };

async function findStartProblem(client: pg.ClientBase, request: ChangeRequest): Promise<Problem | null> {
  const now = await readChange(client, request.id);
  if (now === undefined || now.schedule?.position !== request.schedule?.position) return wrongState(request.id, now);
  if (!(await isDue(client, now))) return notYetDue(now);
  const { id = '' } = now.applicant ?? {};
  return (await activeAdmins(client, [id])).has(id) ? null : schedulerLost(now);
}
