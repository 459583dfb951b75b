/** request × event → request. Pure. A new kind of event is a line in `STATES` and, where it says more, one in `evolved`. */
import { UnreadableEventError } from '../fold/upcasting.js';
import type { StoredEvent } from '../model/events.js';
import { CHANGE, type ChangeEvent, type ChangeRequest, type ChangeState } from './model.js';

/** An event about a change request, in the log. */
export type StoredChangeEvent = ChangeEvent &
  Pick<StoredEvent, 'position' | 'batch' | 'occurred_at' | 'actor' | 'reason'>;

/** The states that an event may meet, and the one that it leads to. What isn't there yet has the state null. */
const STATES: { readonly [T in ChangeEvent['type']]: { from: readonly (ChangeState | null)[]; to: ChangeState } } = {
  'change.opened': { from: [null], to: 'queued' },
  'change.preparing': { from: ['queued', 'preparing', 'prepared'], to: 'preparing' },
  'change.prepared': { from: ['preparing'], to: 'prepared' },
  'change.applied': { from: ['queued', 'preparing', 'prepared'], to: 'applied' },
  'change.failed': { from: ['queued', 'preparing', 'prepared'], to: 'failed' },
  'change.withdrawn': { from: ['queued', 'preparing', 'prepared'], to: 'withdrawn' },
};

/** What people can do with a request. */
export type ChangeAction = 'withdraw';

const EVENTS_OF: Readonly<Record<ChangeAction, ChangeEvent['type']>> = { withdraw: 'change.withdrawn' };

/** What can be done in a state, in the words of the routes. */
export function allowedIn(state: ChangeState): ChangeAction[] {
  return (Object.keys(EVENTS_OF) as ChangeAction[]).filter((action) => mayFollow(state, EVENTS_OF[action]));
}

/** Whether an event of this type may come in this state. */
export const mayFollow = (state: ChangeState, type: ChangeEvent['type']): boolean => STATES[type].from.includes(state);

/** Whether an event is about a change request. */
export const isChangeEvent = <E extends { type: string }>(event: E): event is E & ChangeEvent =>
  Object.hasOwn(STATES, event.type);

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
  const { from, to } = STATES[event.type];
  if (!from.includes(before?.state ?? null) || (before !== undefined && before.id !== id))
    throw impossible(event, before);
  const { position, occurred_at } = event;
  return { ...evolved(before, event), state: to, changed_at: occurred_at, position };
}

function evolved(before: ChangeRequest | undefined, event: StoredChangeEvent): ChangeRequest {
  if (event.type === 'change.opened') return opened(event);
  if (before === undefined) throw impossible(event, before);
  switch (event.type) {
    case 'change.preparing':
      return { ...before, preparation: event.data };
    case 'change.prepared':
      return { ...before, preparation: withTimes(before.preparation, event.data.steps) };
    case 'change.applied':
      return { ...before, result: { batch: event.batch, position: event.position } };
    case 'change.failed':
      return { ...before, failure: event.data };
    default:
      return before;
  }
}

function opened(event: Extract<StoredChangeEvent, { type: 'change.opened' }>): ChangeRequest {
  const { position, occurred_at, actor, reason } = event;
  return {
    id: changeIdOf(event),
    state: 'queued',
    ...event.data,
    author: actor,
    reason,
    opened_at: occurred_at,
    opened_position: position,
    changed_at: occurred_at,
    position,
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
  for (const event of events) {
    if (!isChangeEvent(event)) continue;
    const id = changeIdOf(event);
    requests.set(id, evolveChange(requests.get(id), event));
  }
  return requests;
}

/** Documents that an event names, by hash. */
export function documentsOf(event: { type: string; data: unknown }): string[] {
  if (!isChangeEvent(event)) return [];
  return 'document' in event.data ? [event.data.document] : [];
}
