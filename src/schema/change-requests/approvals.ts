/** Decides which approvals count: those of the current plan, by users who may approve now. */
import type { Policy } from '../policy.js';
import type { Approval, ChangeRequest } from './model.js';

/** The part of the policy about approvers. */
export type ApprovalRule = Pick<Policy, 'author_may_approve'>;

/**
 * Why an approval does not count. `another way`: the request was approved with online preparation and has none now, or
 * the reverse.
 */
export type WhyNot = 'another plan' | 'another way' | 'no longer an admin' | 'the author';

export interface JudgedApproval {
  approval: Approval;
  /** Null if it counts. */
  whyNot: WhyNot | null;
}

/** @param admins ids of approvers that are active admins */
export function judgeApprovals(
  { proposal, authors, online }: Pick<ChangeRequest, 'proposal' | 'authors' | 'online'>,
  { author_may_approve }: ApprovalRule,
  admins: ReadonlySet<string>,
): JudgedApproval[] {
  return (proposal?.approvals ?? []).map((approval) => ({
    approval,
    whyNot:
      approval.plan !== proposal?.plan
        ? 'another plan'
        : approval.online !== online
          ? 'another way'
          : !admins.has(approval.by.id)
            ? 'no longer an admin'
            : authors.some(({ id }) => id === approval.by.id) && !author_may_approve
              ? 'the author'
              : null,
  }));
}

/** Approvals of exactly this plan, at most one per person. */
export const countedApprovals = (judged: readonly JudgedApproval[]): Approval[] =>
  judged.filter(({ whyNot }) => whyNot === null).map(({ approval }) => approval);

/**
 * True if an approval covers a finding: the approver saw it, and the trash still keeps what it was to keep.
 * @param finding.kept true if the trash keeps the object
 */
export const coversFinding = (
  { findings, kept: wasKept }: Pick<Approval, 'findings' | 'kept'>,
  { code, location, kept }: { code: string; location: string; kept: boolean },
): boolean => (findings[code]?.includes(location) ?? false) && (kept || !wasKept.includes(location));
