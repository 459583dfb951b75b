/** Which approvals count: those for the plan as it is, by whoever may approve it now. */
import type { Policy } from '../policy/index.js';
import type { Approval, ChangeRequest } from './model.js';

/** What of the policy is about who approves. */
export type ApprovalRule = Pick<Policy, 'author_may_approve'>;

/** Why an approval doesn't count. */
export type WhyNot = 'another plan' | 'no longer an admin' | 'the author';

export interface JudgedApproval {
  approval: Approval;
  /** Null: it counts. */
  whyNot: WhyNot | null;
}

/** @param admins of those who approved, the ids of active admins */
export function judgeApprovals(
  { proposal, author }: Pick<ChangeRequest, 'proposal' | 'author'>,
  { author_may_approve }: ApprovalRule,
  admins: ReadonlySet<string>,
): JudgedApproval[] {
  return (proposal?.approvals ?? []).map((approval) => ({
    approval,
    whyNot:
      approval.plan !== proposal?.plan
        ? 'another plan'
        : !admins.has(approval.by.id)
          ? 'no longer an admin'
          : approval.by.id === author.id && !author_may_approve
            ? 'the author'
            : null,
  }));
}

/** People who approve exactly this plan: each has one approval at most. */
export const countApprovals = (judged: readonly JudgedApproval[]): number =>
  judged.filter(({ whyNot }) => whyNot === null).length;
