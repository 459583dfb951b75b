/*
 * Folds change requests from their events. Pure. A new event type needs an entry in `TRANSITIONS`, and in `ACTIONS` if
 * users trigger it.
 */
import { UnreadableEventError } from '../fold/upcasting.js';
import type { Actor, StoredEvent } from '../model/events.js';
import {
  CHANGE,
  CHANGE_STATES,
  type ChangeEvent,
  type ChangeEventOf as Of,
  type ChangeRequest,
  type ChangeState,
  type StoredChangeEvent,
  type CommentEntry,
} from './model.js';

/* Applies events to all details of a request except its state. */

/** Members that have no value yet are null. */
function openRequest(event: Of<'change.opened'>): Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> {
  const { position, occurred_at, actor, reason } = event;
  const { proposal, reverts = null, proposed_with: proposedWith, ...request } = event.data;
  return {
    id: event.subject?.id ?? '',
    ...request,
    author: actor,
    authors: addAuthors([], actor, proposedWith?.issued_by),
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
const keepsApprovals = ({ data }: Of<'change.updated'>, before: ChangeRequest | undefined): boolean =>
  before !== undefined &&
  (before.state === 'approved' || before.schedule?.approved === true) &&
  (data.plan === undefined || data.plan === before.proposal?.plan) &&
  (data.online === undefined || data.online === before.online);

/**
 * Clears the rejection, the preparation, the applicant and the failure. Approvals remain, and count if the plan is
 * unchanged.
 */
function updateRequest(event: Of<'change.updated'>, request: ChangeRequest): Partial<ChangeRequest> {
  const { title, plan, base, proposed_with: _, ...change } = event.data;
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
  return { ...change, authors, proposal, preparation: null, applicant: null, failure: null };
}

const isDescribed = ({ data: { title, reason } }: Of<'change.updated'>, request: ChangeRequest): boolean =>
  (title !== undefined && title !== request.proposal?.title) || (reason !== undefined && reason !== request.reason);

/** A user who changes the plan or its preparation becomes an author, even if it is later changed back. */
function authorsAfter(
  { data: { plan, online, proposed_with: proposedWith }, actor }: Of<'change.updated'>,
  request: ChangeRequest,
): Actor[] {
  const { authors, proposal } = request;
  const isSame = (plan === undefined || plan === proposal?.plan) && (online === undefined || online === request.online);
  return isSame ? authors : addAuthors(authors, actor, proposedWith?.issued_by);
}

/**
 * Adds the actor and the user who issued the actor's credential. Otherwise an admin could propose a plan with a token
 * that they issued to another user, and then approve it.
 */
function addAuthors(authors: Actor[], actor: Actor, issuer: string | undefined): Actor[] {
  const added = [actor, ...(issuer === undefined ? [] : [{ id: issuer, name: null }])];
  return [...authors, ...added.filter(({ id }) => authors.every((author) => author.id !== id))];
}

/** The newest comment comes last. */
function addComment(event: Of<'change.commented'>, { proposal }: ChangeRequest): Partial<ChangeRequest> {
  return { proposal: proposal && { ...proposal, comments: [...proposal.comments, toComment(event)] } };
}

/** Replaces an earlier approval by the same person. Ignored for requests that are not proposals. */
function addApproval(event: Of<'change.approved'>, before: ChangeRequest): Partial<ChangeRequest> {
  const { proposal, schedule } = before;
  if (proposal === null) return {};
  const { plan, online, credential, token, findings, kept } = event.data;
  const approval = { ...toComment(event), plan, online, credential, ...(token && { token }), findings, kept };
  const others = proposal.approvals.filter(({ by }) => by.id !== event.actor.id);
  return {
    proposal: { ...proposal, approvals: [...others, approval] },
    schedule: schedule && { ...schedule, approved: schedule.approved || event.data.complete },
  };
}

/** A rejection removes earlier approvals. */
function recordRejection(event: Of<'change.rejected'>, { proposal }: ChangeRequest): Partial<ChangeRequest> {
  return { proposal: proposal && { ...proposal, approvals: [], rejection: toComment(event) }, applicant: null };
}

function toComment(event: Of<'change.commented' | 'change.approved' | 'change.rejected'>): CommentEntry {
  const { actor, occurred_at, position, data } = event;
  return { by: actor, at: occurred_at, position, comment: data.comment ?? null };
}

/** Keeps the preparation of a request that is already prepared or scheduled. */
function recordSchedule(
  { data: { at }, actor, position, reason }: Of<'change.scheduled'>,
  { state, schedule, preparation, reason: before }: ChangeRequest,
): Partial<ChangeRequest> {
  return {
    applicant: actor,
    reason: before ?? reason,
    schedule: { at, position, approved: state === 'approved' || schedule?.approved === true },
    preparation: state === 'prepared' || state === 'scheduled' ? preparation : null,
    failure: null,
  };
}

/**
 * Replaces an earlier preparation. If the event has `apply`, its actor becomes the applicant. A request without a reason
 * gets theirs, because the service records the reason of the request when it applies it later.
 */
function recordPreparation(
  { data, actor, reason }: Of<'change.preparing'>,
  { reason: before }: ChangeRequest,
): Partial<ChangeRequest> {
  const { apply, ...preparation } = data;
  return { preparation, failure: null, ...(apply === true && { applicant: actor, reason: before ?? reason }) };
}

/** Adds the durations in `times` to the steps. Steps without an entry remain unchanged. */
function withTimes(
  preparation: ChangeRequest['preparation'],
  times: readonly { key: string; milliseconds: number }[],
): ChangeRequest['preparation'] {
  const millisecondsByKey = new Map(times.map(({ key, milliseconds }) => [key, milliseconds]));
  return (
    preparation && {
      ...preparation,
      steps: preparation.steps.map((step) => {
        const milliseconds = millisecondsByKey.get(step.key);
        return milliseconds === undefined ? step : { ...step, milliseconds };
      }),
    }
  );
}

type Type = ChangeEvent['type'];

/** The transition of an event. A request that does not exist yet has the state null. */
type Transition<T extends Type> = {
  to: ChangeState | ((event: Of<T>, before: ChangeRequest | undefined) => ChangeState);
} & (
  | { from: readonly [null]; opens: (event: Of<T>) => Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> }
  | {
      from: readonly ChangeState[];
      /** Further source states for proposals. */
      proposed?: readonly ChangeState[];
      /** Members that the event changes besides the state. Absent if the event changes only the state. */
      says?: (event: Of<T>, before: ChangeRequest) => Partial<ChangeRequest>;
    }
);

const UNDER_WAY = ['queued', 'preparing', 'prepared'] as const;
const CARRIED_OUT = ['open', 'approved', 'scheduled', 'failed'] as const;
const JUDGED = ['open', 'approved', 'scheduled', 'preparing', 'prepared', 'failed'] as const;

const keepState = (_: unknown, before: ChangeRequest | undefined): ChangeState => before?.state ?? 'open';

/** Source and target states per event. */
const TRANSITIONS: { readonly [T in Type]: Transition<T> } = {
  'change.opened': {
    from: [null],
    to: ({ data }) => (data.proposal === undefined ? 'queued' : 'open'),
    opens: openRequest,
  },
  'change.updated': {
    from: [],
    proposed: ['open', 'approved', 'rejected', 'scheduled', 'failed'],
    to: (event, before) => (keepsApprovals(event, before) ? 'approved' : 'open'),
    says: updateRequest,
  },
  'change.commented': { from: [], proposed: CHANGE_STATES, to: keepState, says: addComment },
  'change.approved': {
    from: [],
    proposed: JUDGED,
    to: ({ data }, before) => (data.complete && before?.state === 'open' ? 'approved' : keepState(data, before)),
    says: addApproval,
  },
  'change.rejected': { from: [], proposed: JUDGED, to: 'rejected', says: recordRejection },
  'change.scheduled': { from: [], proposed: [...CARRIED_OUT, 'prepared'], to: 'scheduled', says: recordSchedule },
  'change.preparing': { from: UNDER_WAY, proposed: CARRIED_OUT, to: 'preparing', says: recordPreparation },
  'change.prepared': {
    from: ['preparing'],
    to: 'prepared',
    says: ({ data }, { preparation }) => ({ preparation: withTimes(preparation, data.steps) }),
  },
  'change.applied': {
    from: UNDER_WAY,
    proposed: CARRIED_OUT,
    to: 'applied',
    says: ({ batch, position }) => ({ result: { batch, position }, failure: null }),
  },
  'change.failed': {
    from: UNDER_WAY,
    proposed: ['scheduled'],
    to: 'failed',
    says: ({ data }) => ({ failure: data, applicant: null }),
  },
  'change.withdrawn': { from: UNDER_WAY, proposed: [...CARRIED_OUT, 'rejected'], to: 'withdrawn' },
};

/** True if the state of the request allows an event of this type. */
export const isAllowedAfter = (request: Pick<ChangeRequest, 'state' | 'proposal'>, type: Type): boolean =>
  isFrom(TRANSITIONS[type] as Transition<Type>, request);

export const isChangeEvent = <E extends { type: string }>(event: E): event is E & ChangeEvent =>
  Object.hasOwn(TRANSITIONS, event.type);

/** Returns the id of the request that an event is about. @throws UnreadableEventError if the event names none */
export function changeIdOf({ subject, position, type }: ChangeEvent & { position?: number }): string {
  if (subject?.kind === CHANGE) return subject.id;
  throw new UnreadableEventError(position ?? 0, `${type} does not name a change request`);
}

/**
 * Returns the request after an event.
 * @param before undefined if the request does not exist yet
 * @throws UnreadableEventError for an event that the state does not allow, because another program wrote the log
 */
export function evolveChange(before: ChangeRequest | undefined, event: StoredChangeEvent): ChangeRequest {
  const id = changeIdOf(event);
  // TypeScript cannot infer that the event and its transition have the same type.
  const transition = TRANSITIONS[event.type] as Transition<Type>;
  if (!isFrom(transition, before) || (before !== undefined && before.id !== id))
    throw createImpossibleError(event, before);
  const { position, occurred_at } = event;
  const state = typeof transition.to === 'function' ? transition.to(event, before) : transition.to;
  const after = evolveRequest(before, event, transition);
  const schedule = state === 'scheduled' ? after.schedule : null;
  return { ...after, state, schedule, changed_at: occurred_at, position };
}

function isFrom(transition: Transition<Type>, before: Pick<ChangeRequest, 'state' | 'proposal'> | undefined): boolean {
  if (before === undefined) return 'opens' in transition;
  if ('opens' in transition) return false;
  const { from, proposed = [] } = transition;
  return from.includes(before.state) || (before.proposal !== null && proposed.includes(before.state));
}

function evolveRequest(
  before: ChangeRequest | undefined,
  event: StoredChangeEvent,
  transition: Transition<Type>,
): Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> {
  if ('opens' in transition) return transition.opens(event);
  if (before === undefined) throw createImpossibleError(event, before);
  return { ...before, ...transition.says?.(event, before) };
}

function createImpossibleError(event: StoredChangeEvent, before: ChangeRequest | undefined): UnreadableEventError {
  const state = before === undefined ? 'the change request does not exist' : `the change request is ${before.state}`;
  return new UnreadableEventError(event.position, `${state} (${event.type} ${event.subject?.id ?? ''})`);
}

/** Folds requests from events in log order, by id. Ignores other events. */
export function foldChanges(
  events: Iterable<StoredEvent>,
  from: ReadonlyMap<string, ChangeRequest> = new Map(),
): Map<string, ChangeRequest> {
  const requests = new Map(from);
  for (const event of events) foldChange(requests, event);
  return requests;
}

/** Folds one event into the map, for long logs. */
export function foldChange(requests: Map<string, ChangeRequest>, event: StoredEvent): void {
  if (!isChangeEvent(event)) return;
  const id = changeIdOf(event);
  requests.set(id, evolveChange(requests.get(id), event));
}

/*
 * Decides which actions the state of a change request allows. Actions are named like the routes. Permissions are
 * checked elsewhere.
 */

const WAITING = ['open', 'approved', 'failed'] as const;

export const CHANGE_ACTIONS = [
  'update',
  'rebase',
  'comment',
  'approve',
  'reject',
  'prepare',
  'apply',
  'withdraw',
  'revert',
] as const;
export type ChangeAction = (typeof CHANGE_ACTIONS)[number];

/**
 * The event of each action and the states that allow it. Without `in`, the transitions of the event decide. Some
 * actions append no event.
 */
const ACTIONS: Readonly<Record<ChangeAction, { event?: ChangeEvent['type']; in?: readonly ChangeState[] }>> = {
  update: { event: 'change.updated' },
  rebase: { event: 'change.updated' },
  comment: { event: 'change.commented' },
  approve: { event: 'change.approved' },
  reject: { event: 'change.rejected' },
  prepare: { event: 'change.preparing', in: WAITING },
  apply: { event: 'change.scheduled' },
  withdraw: { event: 'change.withdrawn' },
  // A revert opens another request.
  revert: { in: ['applied'] },
};

/**
 * A request for a policy cannot be rebased or reverted. There is nothing to merge, and to restore the old policy, users
 * request it like any other policy.
 */
const NOT_OF_POLICY: ReadonlySet<ChangeAction> = new Set(['rebase', 'revert']);

type TransitionInput = Pick<ChangeRequest, 'operation' | 'state' | 'proposal' | 'online' | 'applicant'>;

/** Returns the actions that the state allows, named like the routes. Permissions are checked elsewhere. */
export const allowedActions = (request: TransitionInput): ChangeAction[] =>
  CHANGE_ACTIONS.filter((action) => allowsAction(request, action));

/** True if the state allows the action. A scheduled request may also be applied immediately. */
export function allowsAction(request: TransitionInput, action: ChangeAction): boolean {
  const { event, in: states } = ACTIONS[action];
  if (request.operation === 'update-policy' && NOT_OF_POLICY.has(action)) return false;
  if (
    (event !== undefined && !isAllowedAfter(request, event)) ||
    (states !== undefined && !states.includes(request.state))
  )
    return false;
  if (action === 'prepare') return request.online;
  return action !== 'apply' || request.applicant === null || request.state === 'scheduled';
}
