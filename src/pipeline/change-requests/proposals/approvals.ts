/** Comments, approvals and rejections of a proposal. */
import type pg from 'pg';
import type { Document } from '../../../log/document-lines.js';
import { keepDocuments } from '../../../log/documents.js';
import { activeAdmins } from '../../../projector/change-requests/approvers.js';
import {
  type ApprovalRule,
  type JudgedApproval,
  countedApprovals,
  judgeApprovals,
} from '../../../schema/change-requests/approvals.js';
import type { Approval, ChangeRequest } from '../../../schema/change-requests/model.js';
import type { ApprovedView, Cause } from '../../../schema/model/events.js';
import type { PlannedBatch, Refusal, Revise, RevisedBatch } from '../../types.js';
import { changeEvent } from '../events.js';
import { instead } from '../planning.js';
import { type How, planOf } from './plan.js';
import { otherPlan, ownApproval, stale } from './problems.js';
import { allowed } from './asked-for.js';

/** Comments per request, because its row is read and written as one. */
const MOST_COMMENTS = 1_000;

/** Rejects with INVALID_STATE at 1,000 comments, and for the reasons of `allowed`. */
export const commentingOf =
  (id: string, comment: Document): Revise =>
  async (client, batch) => {
    const { proposal } = await allowed(client, id, 'comment');
    if (proposal.comments.length >= MOST_COMMENTS)
      return {
        kind: 'refused',
        problems: [
          {
            code: 'INVALID_STATE',
            message: `The change request ${id} has ${MOST_COMMENTS} comments: that is all it takes.`,
          },
        ],
      };
    const events = [changeEvent('change.commented', id, { comment: comment.hash })];
    return instead(batch, { events, also: keepDocuments([comment]) });
  };

/** Fails for the reasons of `allowed`. @param comment absent for a rejection without a comment */
export const rejectingOf =
  (id: string, comment?: Document): Revise =>
  async (client, batch) => {
    await allowed(client, id, 'reject');
    const events = [changeEvent('change.rejected', id, { ...(comment && { comment: comment.hash }) })];
    return instead(batch, { events, also: keepDocuments(comment ? [comment] : []) });
  };

export interface Approving {
  /** The hash of the reviewed plan. */
  plan: string;
  comment?: Document | undefined;
  by: Cause['actor'];
  credential: ApprovedView['credential'];
}

/** Each person counts once. A second approval refers to the current plan. */
export const approvingOf =
  (id: string, { plan, comment, by, credential }: Approving, how: How): Revise =>
  async (client, batch) => {
    const request = await allowed(client, id, 'approve');
    if (request.proposal.plan !== plan) return { kind: 'refused', problems: [otherPlan(request, plan)] };
    const now = await planOf(batch, how);
    if (now !== plan) return { kind: 'refused', problems: [stale(request, now)] };
    const { policy } = batch;
    if (request.authors.some((author) => author.id === by.id) && !policy.author_may_approve)
      return { kind: 'refused', problems: [ownApproval(request)] };
    // The policy enforcement adds the findings, because it computes them.
    const view: ApprovedView = { online: request.online, credential, findings: {}, kept: [] };
    const given = { ...view, by, plan, at: '', position: 0, comment: null };
    const approvals = [...request.proposal.approvals.filter((each) => each.by.id !== by.id), given];
    const after = { ...request, proposal: { ...request.proposal, approvals } };
    const complete = countedApprovals(await judged(client, after, policy)).length >= policy.approvals;
    const data = { ...view, plan, complete, ...(comment && { comment: comment.hash }) };
    const events = [changeEvent('change.approved', id, data)];
    return instead(batch, { events, also: keepDocuments(comment ? [comment] : []) });
  };

/** Returns the approvals of a request, and which of them count now. */
async function judged(
  db: Parameters<typeof activeAdmins>[0],
  request: Pick<ChangeRequest, 'proposal' | 'authors' | 'online'>,
  rule: ApprovalRule,
): Promise<JudgedApproval[]> {
  const ids = (request.proposal?.approvals ?? []).map(({ by }) => by.id);
  return judgeApprovals(request, rule, await activeAdmins(db, ids));
}

/** Passes the counted approvals to the policy. */
export const counting = (
  { approvals }: { approvals: readonly Approval[] },
  outcome: RevisedBatch | Refusal,
): RevisedBatch | Refusal => (outcome.kind === 'refused' ? outcome : { ...outcome, approvals });

/** Rejects a plan that differs from the reviewed one. @returns the approvals that count now */
export async function standing(
  client: pg.ClientBase,
  { request, batch, how }: { request: ChangeRequest; batch: PlannedBatch; how: How },
): Promise<Refusal | { kind: 'stands'; approvals: readonly Approval[] }> {
  const plan = await planOf(batch, how);
  if (plan !== request.proposal?.plan) return { kind: 'refused', problems: [stale(request, plan)] };
  return { kind: 'stands', approvals: countedApprovals(await judged(client, request, batch.policy)) };
}
