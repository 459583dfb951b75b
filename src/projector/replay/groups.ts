/** Groups events so that one transaction can hold their locks: PostgreSQL's lock table has a fixed size. */
import type { LogEvent } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import { awaitedForeignKeys } from '../ddl/deferred-foreign-keys.js';
import { planBatch } from '../ddl/plan.js';
import { lockEntriesOf } from '../refusals/too-few-locks.js';
import type { Statement } from '../ddl/statement.js';
import { runToEnd } from '../../kernel/resumable.js';

export interface Group<E extends LogEvent> {
  events: E[];
  statements: Statement[];
  /** The state after the group. */
  after: State;
}

/** A quarter of the capacity of a server with default settings. */
const LOCK_ENTRIES = 1_500;

/** The number of events planned together, small enough for their locks. */
const SLICE = 50;

/** Groups in order, planned for empty tables. A statement's source is the index of the event in its group. */
export function* groupsOf<E extends LogEvent>(
  from: State,
  events: readonly E[],
  schema: string,
): Generator<Group<E>, State> {
  let state = from;
  let group: Group<E> = { events: [], statements: [], after: state };
  let entries = 0;
  for (let start = 0; start < events.length;) {
    const slice = planSlice(state, events.slice(start, start + SLICE), schema);
    const needed = lockEntriesOf(slice.statements);
    if (entries > 0 && entries + needed > LOCK_ENTRIES) {
      yield group;
      group = { events: [], statements: [], after: state };
      entries = 0;
    }
    const offset = group.events.length;
    group.events.push(...slice.events);
    for (const each of slice.statements) {
      group.statements.push({ ...each, source: { ...each.source, event: each.source.event + offset } });
    }
    group.after = slice.after;
    // A group ends with the event that must be committed before others use its objects.
    entries = slice.statements.some(({ commit }) => commit !== undefined) ? LOCK_ENTRIES : entries + needed;
    state = slice.after;
    start += slice.events.length;
  }
  if (group.events.length > 0) yield group;
  return state;
}

/** Takes the events up to the first one that must be committed before others use its objects. */
function planSlice<E extends LogEvent>(state: State, events: E[], schema: string): Group<E> {
  const plan = (some: E[]) =>
    runToEnd(planBatch(state, some.map(onEmptyTables), schema, { awaited: awaitedForeignKeys(state, schema) }));
  const all = plan(events);
  const last = all.statements.find(({ commit }) => commit !== undefined)?.source.event ?? events.length - 1;
  if (last === events.length - 1) return { events, ...all };
  const first = events.slice(0, last + 1);
  return { events: first, ...plan(first) };
}

/** The tables are empty and none existed before: indexes are built at once, and adopted tables are created. */
function onEmptyTables(event: LogEvent): LogEvent {
  if (event.type === 'collection.adopted') return { ...event, type: 'collection.created', version: 1 };
  const {
    adopted: _,
    concurrent_indexes: __,
    ...data
  } = event.data as { adopted?: boolean; concurrent_indexes?: boolean };
  return { ...event, data } as LogEvent;
}
