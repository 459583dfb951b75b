/** Decides which approvals count: those of the current plan, by users who may approve now. */
import type { Accounts } from '../fold/accounts.js';
import { type SchemaLocation, locationText } from '../model/location.js';
import { byName } from '../model/state.js';
import type { UsedCredential } from '../model/token-scope.js';
import type { Policy } from '../policy.js';
import type { Approval, ChangeRequest } from './model.js';

/** The part of the policy about approvers. */
export type ApprovalRule = Pick<Policy, 'author_may_approve'>;

/**
 * The reason why an approval does not count. `another way`: the request was approved with online preparation and now
 * has none, or vice versa. `an issued credential`: according to the log, another user issued the token or set the
 * password, or there was no such token or identity.
 */
export const WHY_NOT = [
  'another plan',
  'another way',
  'no longer an admin',
  'an issued credential',
  'the author',
] as const;
export type ExclusionReason = (typeof WHY_NOT)[number];

export interface JudgedApproval {
  approval: Approval;
  /** Null if the approval counts. */
  whyNot: ExclusionReason | null;
}

export interface Approvers {
  /** Ids of approvers that are active admins. */
  admins: ReadonlySet<string>;
  /** Positions of approvals that were given with an issued credential. */
  issued: ReadonlySet<number>;
}

/**
 * Returns the id of another user who issued the credential of a user. Null if no other user did, and undefined if the
 * log records no such credential.
 * @param accounts the accounts when the credential was used. An account that the log does not record yet is that of the
 * first admin.
 */
export function findIssuer(
  accounts: Accounts,
  user: string,
  { credential, token = '' }: UsedCredential,
): string | null | undefined {
  const account = accounts.get(user);
  if (account === undefined) return null;
  if (credential === 'password') return account.password_set_by;
  return (credential === 'token' ? account.tokens : account.identities).get(token)?.issued_by;
}

/** True if the credential of an approval was not the approver's own. Takes the accounts at its position. */
export const hasIssuedCredential = (accounts: Accounts, approval: Approval): boolean =>
  findIssuer(accounts, approval.by.id, approval) !== null;

export function judgeApprovals(
  { proposal, authors, online }: Pick<ChangeRequest, 'proposal' | 'authors' | 'online'>,
  { author_may_approve }: ApprovalRule,
  { admins, issued }: Approvers,
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
            : issued.has(approval.position)
              ? 'an issued credential'
              : authors.some(({ id }) => id === approval.by.id) && !author_may_approve
                ? 'the author'
                : null,
  }));
}

/** Returns the approvals of exactly this plan, at most one per person. */
export const filterCounted = (judged: readonly JudgedApproval[]): Approval[] =>
  judged.filter(({ whyNot }) => whyNot === null).map(({ approval }) => approval);

/**
 * Returns the locations of findings by code, in the form that an approval records. A grouped finding has several
 * locations.
 */
export function approvedViewOf(
  findings: readonly (SchemaLocation & { code: string; places?: readonly SchemaLocation[] })[],
): Approval['findings'] {
  const seen = new Map<string, Set<string>>();
  for (const { code, places = [], ...place } of findings) {
    const locations = seen.get(code) ?? new Set();
    for (const each of [place, ...places]) locations.add(locationText(each));
    seen.set(code, locations);
  }
  return Object.fromEntries([...seen].map(([code, locations]) => [code, [...locations].sort(byName)]));
}

/**
 * True if an approval covers a finding: the approver saw the finding, and the trash still keeps the objects that it
 * kept when the approver saw them.
 */
export const coversFinding = (
  { findings, kept: wasKept }: Pick<Approval, 'findings' | 'kept'>,
  { code, location, kept }: { code: string; location: string; kept: boolean },
): boolean => (findings[code]?.includes(location) ?? false) && (kept || !wasKept.includes(location));
