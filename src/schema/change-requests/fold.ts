/** request × event → request. Pure. A new kind of event is an entry of `TRANSITIONS`, and one that people bring about also of `EVENTS_OF`. */
import { UnreadableEventError } from '../fold/upcasting.js';
import type { StoredEvent } from '../model/events.js';
import { CHANGE, type ChangeEvent, type ChangeRequest, type ChangeState } from './model.js';

/** An event about a change request, in the log. */
export type StoredChangeEvent = ChangeEvent &
  Pick<StoredEvent, 'position' | 'batch' | 'occurred_at' | 'actor' | 'reason'>;

type Type = ChangeEvent['type'];
type Of<T extends Type> = Extract<StoredChangeEvent, { type: T }>;

/** What an event does. What isn't there yet has the state null. */
type Transition<T extends Type> = { to: ChangeState } & (
  | { from: readonly [null]; opens: (event: Of<T>) => Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> }
  | {
      from: readonly ChangeState[];
      /** What else it says of the request; absent: its state is all. */
      says?: (event: Of<T>, before: ChangeRequest) => Partial<ChangeRequest>;
    }
);

const OPEN = ['queued', 'preparing', 'prepared'] as const;

/** Where each event may come, and what the request is then. */
const TRANSITIONS: { readonly [T in Type]: Transition<T> } = {
  'change.opened': { from: [null], to: 'queued', opens: opened },
  'change.preparing': { from: OPEN, to: 'preparing', says: ({ data }) => ({ preparation: data }) },
  'change.prepared': {
    from: ['preparing'],
    to: 'prepared',
    says: ({ data }, { preparation }) => ({ preparation: withTimes(preparation, data.steps) }),
  },
  'change.applied': {
    from: OPEN,
    to: 'applied',
    says: ({ batch, position }) => ({ result: { batch, position } }),
  },
  'change.failed': { from: OPEN, to: 'failed', says: ({ data }) => ({ failure: data }) },
  'change.withdrawn': { from: OPEN, to: 'withdrawn' },
};

/** What people can do with a request. */
export type ChangeAction = 'withdraw';

const EVENTS_OF: Readonly<Record<ChangeAction, ChangeEvent['type']>> = { withdraw: 'change.withdrawn' };

/** What can be done in a state, in the words of the routes. */
export function allowedIn(state: ChangeState): ChangeAction[] {
  return (Object.keys(EVENTS_OF) as ChangeAction[]).filter((action) => mayFollow(state, EVENTS_OF[action]));
}

/** Whether an event of this type may come in this state. */
export const mayFollow = (state: ChangeState, type: ChangeEvent['type']): boolean => isFrom(TRANSITIONS[type], state);

/** Whether an event is about a change request. */
export const isChangeEvent = <E extends { type: string }>(event: E): event is E & ChangeEvent =>
  Object.hasOwn(TRANSITIONS, event.type);

/** The request that an event is about. @throws UnreadableEventError where it names none */
export function changeIdOf({ subject, position, type }: ChangeEvent & { position?: number }): string {
  if (subject?.kind === CHANGE) return subject.id;
  throw new UnreadableEventError(position ?? 0, `${type} names no change request`);
}

/**
 * The request after an event.
 * @param before undefined: there is none yet
 * @throws UnreadableEventError for one that can't come then: the log was written by something that isn't this service
 */
export function evolveChange(before: ChangeRequest | undefined, event: StoredChangeEvent): ChangeRequest {
  const id = changeIdOf(event);
  // TypeScript can't follow that an event and its transition belong together.
  const transition = TRANSITIONS[event.type] as Transition<Type>;
  if (!isFrom(transition, before?.state ?? null) || (before !== undefined && before.id !== id))
    throw impossible(event, before);
  const { position, occurred_at } = event;
  return { ...evolved(before, event, transition), state: transition.to, changed_at: occurred_at, position };
}

const isFrom = ({ from }: { from: readonly (ChangeState | null)[] }, state: ChangeState | null): boolean =>
  from.includes(state);

function evolved(
  before: ChangeRequest | undefined,
  event: StoredChangeEvent,
  transition: Transition<Type>,
): Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> {
  if ('opens' in transition) return transition.opens(event);
  if (before === undefined) throw impossible(event, before);
  return { ...before, ...transition.says?.(event, before) };
}

function opened(event: Of<'change.opened'>): Omit<ChangeRequest, 'state' | 'changed_at' | 'position'> {
  const { position, occurred_at, actor, reason } = event;
  return {
    id: changeIdOf(event),
    ...event.data,
    author: actor,
    reason,
    opened_at: occurred_at,
    opened_position: position,
    preparation: null,
    result: null,
    failure: null,
  };
}

function withTimes(
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

function impossible(event: StoredChangeEvent, before: ChangeRequest | undefined): UnreadableEventError {
  const state = before === undefined ? 'there is no such request' : `the request is ${before.state}`;
  return new UnreadableEventError(event.position, `${state} (${event.type} ${event.subject?.id ?? ''})`);
}

/** Requests folded from events in the order of the log, by id. Those that aren't about requests are passed over. */
export function foldChanges(
  events: Iterable<StoredEvent>,
  from: ReadonlyMap<string, ChangeRequest> = new Map(),
): Map<string, ChangeRequest> {
  const requests = new Map(from);
  for (const event of events) foldChange(requests, event);
  return requests;
}

/** The same of one event, in the map itself: for logs of many. */
export function foldChange(requests: Map<string, ChangeRequest>, event: StoredEvent): void {
  if (!isChangeEvent(event)) return;
  const id = changeIdOf(event);
  requests.set(id, evolveChange(requests.get(id), event));
}
