/** What events say of a request, beside its state. */
import type { ChangeEventOf as Of, ChangeRequest, Said } from './model.js';

/** Members that nobody has said anything of yet are null. */
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

/** The same plan, prepared in the same way, keeps its approvals. What was rejected or failed is looked at again. */
export const keepsApprovals = ({ data }: Of<'change.updated'>, before: ChangeRequest | undefined): boolean =>
  before !== undefined &&
  (before.state === 'approved' || before.schedule?.approved === true) &&
  (data.plan === undefined || data.plan === before.proposal?.plan) &&
  (data.online === undefined || data.online === before.online);

/**
 * Takes back the rejection, the preparation, the applicant and the failure. Approvals stay, and count where the plan is
 * the same.
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

/** Whoever changes the plan is an author from then on, also of what it is changed back to. */
function authorsAfter(
  { data: { plan }, actor }: Of<'change.updated'>,
  request: ChangeRequest,
): ChangeRequest['authors'] {
  const { authors, proposal } = request;
  const isSame = plan === undefined || plan === proposal?.plan;
  return isSame || authors.some(({ id }) => id === actor.id) ? authors : [...authors, actor];
}

/** The newest comment stands last. */
export function commented(event: Of<'change.commented'>, { proposal }: ChangeRequest): Partial<ChangeRequest> {
  return { proposal: proposal && { ...proposal, comments: [...proposal.comments, saidBy(event)] } };
}

/** Takes the place of an earlier approval by the same person. Nothing changes for what is no proposal. */
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

/** What was approved before is not approved any more. */
export function rejected(event: Of<'change.rejected'>, { proposal }: ChangeRequest): Partial<ChangeRequest> {
  return { proposal: proposal && { ...proposal, approvals: [], rejection: saidBy(event) }, applicant: null };
}

function saidBy(event: Of<'change.commented' | 'change.approved' | 'change.rejected'>): Said {
  const { actor, occurred_at, position, data } = event;
  return { by: actor, at: occurred_at, position, comment: data.comment ?? null };
}

/** What was prepared before waits with it. */
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

/** Takes the place of what was prepared before. With `apply` its actor is who applies it. */
export function preparing({ data, actor }: Of<'change.preparing'>): Partial<ChangeRequest> {
  const { apply, ...preparation } = data;
  return { preparation, failure: null, ...(apply === true && { applicant: actor }) };
}

/** Of steps that aren't among `times` nothing is said. Null stays null. */
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
