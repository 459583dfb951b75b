/** Events in groups that one transaction can take: PostgreSQL's lock table has a fixed size. */
import type { NewEvent } from '../../schema/events.js';
import type { State } from '../../schema/state.js';
import { awaitedReferences } from '../ddl/late-references.js';
import { planBatch } from '../ddl/plan.js';
import { lockEntriesOf } from '../lock-table.js';
import type { Statement } from '../statement.js';

export interface Group<E extends NewEvent> {
  events: E[];
  statements: Statement[];
  /** The state after it. */
  after: State;
}

/** A quarter of what a server in its factory settings has room for. */
const LOCK_ENTRIES = 1_500;

/** Planned together; few enough that what they lock fits. */
const SLICE = 50;

/** Groups in order, planned for tables that hold nothing. A statement's source is the event's index in its group. */
export function* groupsOf<E extends NewEvent>(
  from: State,
  events: readonly E[],
  schema: string,
): Generator<Group<E>, State> {
  let state = from;
  let group: Group<E> = { events: [], statements: [], after: state };
  let entries = 0;
  for (let start = 0; start < events.length; start += SLICE) {
    const slice = events.slice(start, start + SLICE);
    const awaited = awaitedReferences(state, schema);
    const { statements, after } = planBatch(state, slice.map(onEmptyTables), schema, awaited);
    const needed = lockEntriesOf(statements);
    if (entries > 0 && entries + needed > LOCK_ENTRIES) {
      yield group;
      group = { events: [], statements: [], after: state };
      entries = 0;
    }
    const offset = group.events.length;
    group.events.push(...slice);
    for (const each of statements) {
      group.statements.push({ ...each, source: { ...each.source, event: each.source.event + offset } });
    }
    group.after = after;
    entries += needed;
    state = after;
  }
  if (group.events.length > 0) yield group;
  return state;
}

/** Tables are empty, and none was there before: indexes are made at once, and what was adopted is made. */
function onEmptyTables(event: NewEvent): NewEvent {
  switch (event.type) {
    case 'collection.adopted':
      return { ...event, type: 'collection.created', version: 1 };
    case 'collection.created':
      return { ...event, data: { collection: event.data.collection, fields: event.data.fields } };
    case 'collection.updated':
      return { ...event, data: { patch: event.data.patch } };
    case 'field.created':
      return { ...event, data: { field: event.data.field } };
    case 'field.updated':
      return { ...event, data: { patch: event.data.patch } };
    case 'relation.created':
      return { ...event, data: { relation: event.data.relation } };
    default:
      return event;
  }
}
