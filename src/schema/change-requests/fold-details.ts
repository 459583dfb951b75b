/** Applies events to the details of a request, other than its state. */
import type { ChangeEventOf as Of, ChangeRequest, Said } from './model.js';

/** Members without a value are null. */
export function opened(event: Of<'change.opened'>): Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> {
  const { position, occurred_at, actor, reason } = event;
  const { proposal, reverts = null, ...asked } = event.data;
  return {
    id: event.subject?.id ?? '',
    ...asked,
    author: actor,
    authors: [actor],
    reason,
    opened_at: occurred_at,
    opened_position: position,
    proposal:
      proposal === undefined ? null : { ...proposal, approvals: [], rejection: null, comments: [], described_at: null },
    applicant: proposal === undefined ? actor : null,
    schedule: null,
    reverts,
    preparation: null,
    result: null,
    failure: null,
  };
}

/** An unchanged plan with the same preparation keeps its approvals, unless the request was rejected or failed. */
export const keepsApprovals = ({ data }: Of<'change.updated'>, before: ChangeRequest | undefined): boolean =>
  before !== undefined &&
  (before.state === 'approved' || before.schedule?.approved === true) &&
  (data.plan === undefined || data.plan === before.proposal?.plan) &&
  (data.online === undefined || data.online === before.online);

/**
 * Clears the rejection, the preparation, the applicant and the failure. Approvals stay and count for an unchanged plan.
 */
export function updated(event: Of<'change.updated'>, request: ChangeRequest): Partial<ChangeRequest> {
  const { title, plan, base, ...asked } = event.data;
  const { proposal: before } = request;
  const proposal = before && {
    ...before,
    rejection: null,
    ...(isDescribed(event, request) && { described_at: event.occurred_at }),
    ...(title !== undefined && { title }),
    ...(plan !== undefined && { plan }),
    ...(base !== undefined && { base }),
  };
  const authors = authorsAfter(event, request);
  return { ...asked, authors, proposal, preparation: null, applicant: null, failure: null };
}

const isDescribed = ({ data: { title, reason } }: Of<'change.updated'>, request: ChangeRequest): boolean =>
  (title !== undefined && title !== request.proposal?.title) || (reason !== undefined && reason !== request.reason);

/** A user who changes the plan becomes an author, even if the plan is later changed back. */
function authorsAfter(
  { data: { plan }, actor }: Of<'change.updated'>,
  request: ChangeRequest,
): ChangeRequest['authors'] {
  const { authors, proposal } = request;
  const isSame = plan === undefined || plan === proposal?.plan;
  return isSame || authors.some(({ id }) => id === actor.id) ? authors : [...authors, actor];
}

/** The newest comment comes last. */
export function commented(event: Of<'change.commented'>, { proposal }: ChangeRequest): Partial<ChangeRequest> {
  return { proposal: proposal && { ...proposal, comments: [...proposal.comments, saidBy(event)] } };
}

/** Replaces an earlier approval by the same person. Ignored for requests that are no proposals. */
export function approved(event: Of<'change.approved'>, before: ChangeRequest): Partial<ChangeRequest> {
  const { proposal, schedule } = before;
  if (proposal === null) return {};
  const { plan, online, credential, findings, kept } = event.data;
  const approval = { ...saidBy(event), plan, online, credential, findings, kept };
  const others = proposal.approvals.filter(({ by }) => by.id !== event.actor.id);
  return {
    proposal: { ...proposal, approvals: [...others, approval] },
    schedule: schedule && { ...schedule, approved: schedule.approved || event.data.complete },
  };
}

/** A rejection removes earlier approvals. */
export function rejected(event: Of<'change.rejected'>, { proposal }: ChangeRequest): Partial<ChangeRequest> {
  return { proposal: proposal && { ...proposal, approvals: [], rejection: saidBy(event) }, applicant: null };
}

function saidBy(event: Of<'change.commented' | 'change.approved' | 'change.rejected'>): Said {
  const { actor, occurred_at, position, data } = event;
  return { by: actor, at: occurred_at, position, comment: data.comment ?? null };
}

/** Existing preparation is kept until the scheduled time. */
export function scheduled(
  { data: { at }, actor, position }: Of<'change.scheduled'>,
  { state, schedule, preparation }: ChangeRequest,
): Partial<ChangeRequest> {
  return {
    applicant: actor,
    schedule: { at, position, approved: state === 'approved' || schedule?.approved === true },
    preparation: state === 'prepared' || state === 'scheduled' ? preparation : null,
    failure: null,
  };
}

/** Replaces earlier preparation. With `apply` the actor is the applicant. */
export function preparing({ data, actor }: Of<'change.preparing'>): Partial<ChangeRequest> {
  const { apply, ...preparation } = data;
  return { preparation, failure: null, ...(apply === true && { applicant: actor }) };
}

/** Steps without an entry in `times` get no duration. Null stays null. */
export function withTimes(
  preparation: ChangeRequest['preparation'],
  times: readonly { key: string; milliseconds: number }[],
): ChangeRequest['preparation'] {
  const found = new Map(times.map(({ key, milliseconds }) => [key, milliseconds]));
  return (
    preparation && {
      ...preparation,
      steps: preparation.steps.map((step) => {
        const milliseconds = found.get(step.key);
        return milliseconds === undefined ? step : { ...step, milliseconds };
      }),
    }
  );
}
