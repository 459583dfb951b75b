/** Shows the reviews of a change request, with the texts stored outside the log. */
import type { Document } from '../log/document-lines.js';
import { readPolicy } from '../log/read-policy.js';
import type { Queryable } from '../postgres/pool.js';
import { activeAdmins } from '../projector/change-requests/approvers.js';
import { type WhyNot, countedApprovals, judgeApprovals } from '../schema/change-requests/approvals.js';
import type { Approval, ChangeRequest, Said } from '../schema/change-requests/model.js';
import type { Cause } from '../schema/model/events.js';
import { DEFAULT_POLICY, type Policy } from '../schema/policy/index.js';

export interface ShownProposal {
  /** Position of the schema that it was written for. */
  base: number;
  /** Number of approvals that the policy requires where it requires any, and how many of the given ones count now. */
  approvals_needed: number;
  approvals_counted: number;
  author_may_approve: boolean;
  /** Everyone who changed its content. */
  authors: Cause['actor'][];
  /**
   * Time of the last change of title or reason. Earlier approvals refer to the former text. Null if never changed. ISO
   * 8601
   */
  described_at: string | null;
  approvals: (ShownSaid &
    Pick<Approval, 'plan' | 'online' | 'credential'> & { counts: boolean; why_not: WhyNot | null })[];
  rejection: ShownSaid | null;
  comments: ShownSaid[];
}

export interface ShownSaid {
  by: Cause['actor'];
  /** ISO 8601 */
  at: string;
  position: number;
  /** Null if there was no text or it was erased. */
  text: string | null;
}

/** Hashes of the documents that contain the texts. */
export const textsOf = ({ proposal }: Pick<ChangeRequest, 'proposal'>): string[] =>
  proposal === null
    ? []
    : [...proposal.comments, ...proposal.approvals, ...(proposal.rejection ? [proposal.rejection] : [])].flatMap(
        ({ comment }) => comment ?? [],
      );

/** Decides which approvals count. */
export interface Judging {
  policy: Policy;
  admins: ReadonlySet<string>;
}

export const NOBODY: Judging = { policy: DEFAULT_POLICY, admins: new Set() };

/**
 * Reads the current policy and which approvers are active admins now. Returns `NOBODY` for a request that is no
 * proposal.
 */
export async function judgingOf(db: Queryable, { proposal }: ChangeRequest): Promise<Judging> {
  if (proposal === null) return NOBODY;
  const [{ policy }, admins] = await Promise.all([
    readPolicy(db),
    activeAdmins(
      db,
      proposal.approvals.map(({ by }) => by.id),
    ),
  ]);
  return { policy, admins };
}

/** Null for a request that is no proposal. @param documents those of `textsOf`. Missing ones are shown as erased. */
export function showProposal(
  request: ChangeRequest,
  documents: ReadonlyMap<string, Document>,
  { policy, admins }: Judging,
): ShownProposal | null {
  const { proposal } = request;
  if (proposal === null) return null;
  const shown = ({ by, at, position, comment }: Said): ShownSaid => ({
    by,
    at,
    position,
    text: comment === null ? null : textOf(documents.get(comment)),
  });
  const judged = judgeApprovals(request, policy, admins);
  return {
    base: proposal.base,
    approvals_needed: policy.approvals,
    approvals_counted: countedApprovals(judged).length,
    author_may_approve: policy.author_may_approve,
    authors: request.authors,
    described_at: proposal.described_at,
    approvals: judged.map(({ approval, whyNot }) => ({
      ...shown(approval),
      plan: approval.plan,
      online: approval.online,
      credential: approval.credential,
      counts: whyNot === null,
      why_not: whyNot,
    })),
    rejection: proposal.rejection && shown(proposal.rejection),
    comments: proposal.comments.map(shown),
  };
}

const textOf = (document: Document | undefined): string | null =>
  document?.content == null ? null : (JSON.parse(document.content) as { comment: string }).comment;
