/** events → statements. Pure; a batch is planned against the state that each of its events meets. */
import { evolve } from '../../schema/evolve.js';
import type { NewEvent } from '../../schema/events.js';
import type { State } from '../../schema/state.js';
import type { Statement } from '../statement.js';
import type { Change } from './change.js';
import { planCollectionCreated, planCollectionDeleted, planCollectionUpdated } from './collection.js';
import { planFieldCreated, planFieldDeleted, planFieldUpdated } from './field.js';
import { planRelation } from './relation.js';

/** The statements one event needs, in order, on tables that may hold rows. */
export function planEvent(before: State, event: NewEvent, after: State, schema: string): Statement[] {
  return planChange({ event, index: 0, before, after, schema, created: new Set() });
}

/** The statements of a batch in the order they must run, and the state after it. */
export function planBatch(
  state: State,
  events: readonly NewEvent[],
  schema: string,
): { statements: Statement[]; after: State } {
  const created = new Set<string>();
  const statements: Statement[] = [];
  let before = state;
  for (const [index, event] of events.entries()) {
    const after = evolve(before, { ...event, position: before.position + 1 });
    if (event.type === 'collection.created') created.add(event.collection);
    for (const each of planChange({ event, index, before, after, schema, created })) statements.push(each);
    before = after;
  }
  return { statements, after: before };
}

type Planners = { [T in NewEvent['type']]: (change: Change<T>) => Statement[] };

const PLANNERS: Planners = {
  'collection.created': planCollectionCreated,
  'collection.updated': planCollectionUpdated,
  'collection.deleted': planCollectionDeleted,
  'field.created': planFieldCreated,
  'field.updated': planFieldUpdated,
  'field.deleted': planFieldDeleted,
  'relation.created': planRelation,
  'relation.updated': planRelation,
  'relation.deleted': planRelation,
};

function planChange(change: Change): Statement[] {
  const plan = PLANNERS[change.event.type] as (change: Change) => Statement[];
  return plan(change);
}
