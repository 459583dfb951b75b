import { changesSchema } from '../../schema/fold/event-schemas.js';
import { type LogEvent, type NewEvent, takenFromTrash, isAdopted } from '../../schema/model/events.js';
import { type Folding, startFolding } from '../../schema/fold/evolve.js';
import type { State } from '../../schema/model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Statement, batchNeeds, type Change, fieldNameOf, type Step, statementsOf } from './step.js';
import {
  planCollectionAdopted,
  planCollectionCreated,
  planCollectionDeleted,
  planCollectionUpdated,
} from './collection.js';
import { planFieldCreated, planFieldDeleted, planFieldUpdated } from './field.js';
import { type RecreatedRun, recreatedRuns } from './recreate.js';
import { type DeferredForeignKey, deferredForeignKeys, planRelation } from './relation.js';
import { planCollectionRenamed, planFieldRenamed } from './rename.js';
import { planPurges } from './trash.js';
import { type ObjectFacts, planObjects } from './objects.js';
import type { Problem } from '../../kernel/problem.js';

/** Set if the batch is a slice of a log that is replayed into an empty database. */
interface Replaying {
  /** The foreign keys that earlier slices deferred. */
  awaited: readonly DeferredForeignKey[];
}

export interface BatchPlan {
  statements: Statement[];
  after: State;
  /** Views and materialized views that prevent the change. Empty if there are none. */
  problems: Problem[];
}

interface PlanOptions {
  /** The statements about views and materialized views are then left out, because those are created after the last slice. */
  replaying?: Replaying;
  /** The views and materialized views that the database contains. */
  facts?: ObjectFacts | undefined;
  /** False on an instance that does not manage views and materialized views. */
  objects?: boolean;
}

/** Returns the statements of a batch in execution order, and the state after it. */
export function* planBatch(
  state: State,
  events: readonly LogEvent[],
  schema: string,
  { replaying, facts, objects = true }: PlanOptions = {},
): Resumable<BatchPlan> {
  const needs = batchNeeds(state, replaying === undefined);
  const createdAt = new Map<string, number>();
  const changes: Change[] = [];
  const folding = startFolding(state);
  const hasTrash = replaying === undefined;
  let { position } = state;
  for (const [index, event] of events.entries()) {
    yield;
    position += 1;
    // Creating a state for each event would copy all fields for each changed field.
    if (!changesSchema(event) || isAdopted(event) || staysBeside(event, folding)) {
      folding.add({ ...event, position });
      continue;
    }
    const before = folding.state();
    folding.add({ ...event, position });
    noteMade(createdAt, event, { index, hasTrash });
    const after = folding.state();
    changes.push({ event, index, position, hasTrash, before, after, schema, createdAt, needs });
  }
  const statements = yield* planChanges(changes, replaying?.awaited);
  const after = folding.state();
  if (!hasTrash) return { statements, after, problems: [] };
  if (!objects) return { statements: [...statements, ...planPurges(events)], after, problems: [] };
  const { first, last, problems } = planObjects({ before: state, after, events, schema, facts });
  return { statements: [...first, ...statements, ...last, ...planPurges(events)], after, problems };
}

/** A table that the batch created stays its own after a rename. */
function noteMade(
  createdAt: Map<string, number>,
  event: NewEvent,
  { index, hasTrash }: Pick<Change, 'index' | 'hasTrash'>,
): void {
  const { collection } = event;
  const isMade = event.type === 'collection.created' && !(hasTrash && takenFromTrash(event.data) !== undefined);
  if (isMade && !createdAt.has(collection)) createdAt.set(collection, index);
  if (event.type !== 'collection.renamed') return;
  const made = createdAt.get(collection);
  if (made !== undefined && !createdAt.has(event.data.to)) createdAt.set(event.data.to, made);
}

/** Checks whether an event leaves the table unchanged: it changes only meta or fields without a column. */
function staysBeside(event: NewEvent, folding: Folding): boolean {
  switch (event.type) {
    case 'collection.updated':
    case 'field.updated':
      return event.data.patch.every(({ path }) => path.startsWith('/meta/'));
    case 'field.created':
      return event.data.field.schema === null;
    case 'field.deleted':
      return folding.field(event.collection, fieldNameOf(event))?.schema === null;
    default:
      return false;
  }
}

/**
 * Plans event by event, except that generated columns are recreated around the changes of their collection's fields.
 */
function* planChanges(changes: readonly Change[], awaited: readonly DeferredForeignKey[] = []): Resumable<Statement[]> {
  const runs = yield* recreatedRuns(changes);
  const deferred = deferredForeignKeys(awaited);
  const statements: Statement[] = [];
  for (const change of changes) {
    const run = runs.get(change.index);
    statements.push(...deferred.before(change));
    for (const each of run === undefined ? planChange(change) : planInRun(change, run)) statements.push(each);
    deferred.after(change);
    if (run?.last.index === change.index) run.references.forEach(deferred.wait);
    yield;
  }
  const end = changes.at(-1)?.after;
  if (end !== undefined) yield* deferred.end(end, statements);
  return statements;
}

function planInRun(change: Change, run: RecreatedRun): Statement[] {
  const statements = change.index === run.first.index ? run.drop() : [];
  const isRecreated = run.recreated.has(fieldNameOf(change.event));
  const inRun = { ...change, recreatesKey: run.recreatesKey };
  statements.push(...(isRecreated ? run.step(inRun) : planChange(inRun)));
  if (change.index === run.last.index) statements.push(...run.recreate());
  return statements;
}

type Planners = { [T in NewEvent['type']]: (change: Change<T>) => Step[] };

const PLANNERS: Planners = {
  'collection.created': planCollectionCreated,
  'collection.adopted': planCollectionAdopted,
  'collection.updated': planCollectionUpdated,
  'collection.deleted': planCollectionDeleted,
  'collection.renamed': planCollectionRenamed,
  'field.created': planFieldCreated,
  'field.updated': planFieldUpdated,
  'field.deleted': planFieldDeleted,
  'field.renamed': planFieldRenamed,
  'relation.created': planRelation,
  'relation.updated': planRelation,
  'relation.deleted': planRelation,
};

function planChange(change: Change): Statement[] {
  const plan = PLANNERS[change.event.type] as (change: Change) => Step[];
  return statementsOf(change, plan(change));
}
