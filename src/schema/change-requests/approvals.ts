/** Which approvals count: those for the plan as it is, by whoever may approve it now. */
import type { Policy } from '../policy/index.js';
import type { Approval, ChangeRequest } from './model.js';

/** What of the policy is about who approves. */
export type ApprovalRule = Pick<Policy, 'author_may_approve'>;

/** Why an approval does not count. `another way`: it was to be prepared online then and is not now, or the reverse. */
export type WhyNot = 'another plan' | 'another way' | 'no longer an admin' | 'the author';

export interface JudgedApproval {
  approval: Approval;
  /** Null: it counts. */
  whyNot: WhyNot | null;
}

/** @param admins of those who approved, the ids of active admins */
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

/** Approvals of exactly this plan: each person has one at most. */
export const countedApprovals = (judged: readonly JudgedApproval[]): Approval[] =>
  judged.filter(({ whyNot }) => whyNot === null).map(({ approval }) => approval);

/**
 * Whether an approval covers a finding: whoever approved has seen it, and what the trash was to keep then is kept now.
 * @param finding.kept whether the trash keeps what is at the location
 */
export const coversFinding = (
  { findings, kept: wasKept }: Pick<Approval, 'findings' | 'kept'>,
  { code, location, kept }: { code: string; location: string; kept: boolean },
): boolean => (findings[code]?.includes(location) ?? false) && (kept || !wasKept.includes(location));
