/**
 * request × event → request. Pure. A new event type needs an entry in `TRANSITIONS`, and in `ACTIONS` (`actions.ts`) if
 * users trigger it.
 */
import { UnreadableEventError } from '../fold/upcasting.js';
import type { StoredEvent } from '../model/events.js';
import {
  CHANGE,
  CHANGE_STATES,
  type ChangeEvent,
  type ChangeEventOf as Of,
  type ChangeRequest,
  type ChangeState,
  type StoredChangeEvent,
} from './model.js';
import {
  approved,
  commented,
  keepsApprovals,
  opened,
  preparing,
  rejected,
  scheduled,
  updated,
  withTimes,
} from './fold-details.js';

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
      /** Further changes. Absent if only the state changes. */
      says?: (event: Of<T>, before: ChangeRequest) => Partial<ChangeRequest>;
    }
);

const UNDER_WAY = ['queued', 'preparing', 'prepared'] as const;
const CARRIED_OUT = ['open', 'approved', 'scheduled', 'failed'] as const;
const JUDGED = ['open', 'approved', 'scheduled', 'preparing', 'prepared', 'failed'] as const;

const staying = (_: unknown, before: ChangeRequest | undefined): ChangeState => before?.state ?? 'open';

/** Source and target states per event. */
const TRANSITIONS: { readonly [T in Type]: Transition<T> } = {
  'change.opened': { from: [null], to: ({ data }) => (data.proposal === undefined ? 'queued' : 'open'), opens: opened },
  'change.updated': {
    from: [],
    proposed: ['open', 'approved', 'rejected', 'scheduled', 'failed'],
    to: (event, before) => (keepsApprovals(event, before) ? 'approved' : 'open'),
    says: updated,
  },
  'change.commented': { from: [], proposed: CHANGE_STATES, to: staying, says: commented },
  'change.approved': {
    from: [],
    proposed: JUDGED,
    to: ({ data }, before) => (data.complete && before?.state === 'open' ? 'approved' : staying(data, before)),
    says: approved,
  },
  'change.rejected': { from: [], proposed: JUDGED, to: 'rejected', says: rejected },
  'change.scheduled': { from: [], proposed: [...CARRIED_OUT, 'prepared'], to: 'scheduled', says: scheduled },
  'change.preparing': { from: UNDER_WAY, proposed: CARRIED_OUT, to: 'preparing', says: preparing },
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

/** True if an event of this type may occur now. */
export const mayFollow = (request: Pick<ChangeRequest, 'state' | 'proposal'>, type: Type): boolean =>
  isFrom(TRANSITIONS[type] as Transition<Type>, request);

export const isChangeEvent = <E extends { type: string }>(event: E): event is E & ChangeEvent =>
  Object.hasOwn(TRANSITIONS, event.type);

/** Returns the request that an event is about. @throws UnreadableEventError if it names none */
export function changeIdOf({ subject, position, type }: ChangeEvent & { position?: number }): string {
  if (subject?.kind === CHANGE) return subject.id;
  throw new UnreadableEventError(position ?? 0, `${type} names no change request`);
}

/**
 * Returns the request after an event.
 * @param before undefined if there is none yet
 * @throws UnreadableEventError for an event that cannot occur then, because another program wrote the log
 */
export function evolveChange(before: ChangeRequest | undefined, event: StoredChangeEvent): ChangeRequest {
  const id = changeIdOf(event);
  // TypeScript cannot infer that the event and its transition have the same type.
  const transition = TRANSITIONS[event.type] as Transition<Type>;
  if (!isFrom(transition, before) || (before !== undefined && before.id !== id)) throw impossible(event, before);
  const { position, occurred_at } = event;
  const state = typeof transition.to === 'function' ? transition.to(event, before) : transition.to;
  const after = evolved(before, event, transition);
  const schedule = state === 'scheduled' ? after.schedule : null;
  return { ...after, state, schedule, changed_at: occurred_at, position };
}

function isFrom(transition: Transition<Type>, before: Pick<ChangeRequest, 'state' | 'proposal'> | undefined): boolean {
  if (before === undefined) return 'opens' in transition;
  if ('opens' in transition) return false;
  const { from, proposed = [] } = transition;
  return from.includes(before.state) || (before.proposal !== null && proposed.includes(before.state));
}

function evolved(
  before: ChangeRequest | undefined,
  event: StoredChangeEvent,
  transition: Transition<Type>,
): Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> {
  if ('opens' in transition) return transition.opens(event);
  if (before === undefined) throw impossible(event, before);
  return { ...before, ...transition.says?.(event, before) };
}

function impossible(event: StoredChangeEvent, before: ChangeRequest | undefined): UnreadableEventError {
  const state = before === undefined ? 'there is no such request' : `the request is ${before.state}`;
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
