import { changesObjects, changesSchema } from '../../schema/fold/event-schemas.js';
import { type LogEvent, type NewEvent, readRestored, isAdopted, isMetaOnly } from '../../schema/model/events.js';
import { type RunningFold, fold, startFolding } from '../../schema/fold/evolve.js';
import { withRenamedTypes, withTypeNames } from '../../schema/transition/objects.js';
import {
  type State,
  hasColumn,
  getField,
  type CollectionNode,
  extrasOf,
  isFolder,
  type ColumnField,
} from '../../schema/model/state.js';
import type { Resumable } from '../../kernel/resumable.js';
import {
  type Statement,
  batchNeeds,
  type Change,
  fieldNameOf,
  type Step,
  statementsOf,
  dropOf,
  step,
  tableObject,
} from './step.js';
import { type RecreatedRun, planRecreatedRuns } from './recreate.js';
import { type DeferredForeignKey, createDeferredForeignKeys, planRelation } from './relation.js';
import { planCollectionRenamed, planFieldRenamed } from './rename.js';
import { detachPartition, planPurges, dropKeptColumn, restoreColumn, moveToTrash, restoreTable } from './trash.js';
import type { ObjectFacts } from './catalog-object.js';
import { planObjects } from './objects.js';
import type { Problem } from '../../kernel/problem.js';
import { addColumn, addFilledColumn, dropColumn, alterColumn, addIndex, typeChanges } from './alter-column.js';
import { fillColumn } from './backfill.js';
import type { TableSchema } from '../../schema/model/model.js';
import { isType } from '../../schema/model/objects.js';
import { parentOf } from '../../schema/model/order.js';
import { needsUnique } from './column.js';
import { createBareTable } from './create-table.js';
import { changeExtras, completeTable, keepDefinitions, refuseWithPartitions } from './extras.js';
import { typeIdentitySequence } from './identity-sequence.js';
import { createNeeds } from './needs.js';
import { columnComment, countFromRows, isCounting, tableOf } from './keys-and-indexes.js';
import { type Sql, handOver, ident, literal, sql } from './sql.js';

/** Set if the batch is a slice of a log that is replayed into an empty database. */
interface ReplaySlice {
  /** The foreign keys that earlier slices deferred. */
  awaited: readonly DeferredForeignKey[];
}

export interface BatchPlan {
  statements: Statement[];
  after: State;
  /** Objects other than tables that prevent the change. Empty if there are none. */
  problems: Problem[];
}

interface PlanOptions {
  /**
   * Set for a replay. Statements about objects other than tables are then left out, because those are created after the
   * last slice.
   */
  replaying?: ReplaySlice;
  /** The objects other than tables that the database contains. */
  facts?: ObjectFacts | undefined;
  /** False on an instance that does not manage objects other than tables. */
  objects?: boolean;
  /** The role of OBJECTS_OWNER, which owns what the batch creates. */
  owner?: string | null | undefined;
}

/** Returns the statements of a batch in execution order, and the state after it. */
export function* planBatch(
  state: State,
  events: readonly LogEvent[],
  schema: string,
  { replaying, facts, objects = true, owner }: PlanOptions = {},
): Resumable<BatchPlan> {
  const needs = batchNeeds(state, replaying === undefined);
  const createdAt = new Map<string, number>();
  const changes: Change[] = [];
  let folding = startFolding(state);
  const named = withFinalTypeNames(state, events);
  const planned = [...events];
  const hasTrash = replaying === undefined;
  let { position } = state;
  for (const [index, event] of events.entries()) {
    yield;
    position += 1;
    // Creating a state for each event would copy all fields for each changed field.
    if (!changesSchema(event) || isAdopted(event) || keepsTable(event, folding)) {
      folding.add({ ...event, position });
      folding = afterTypeRename(folding, event);
      continue;
    }
    const before = named(folding.state());
    folding.add({ ...event, position });
    recordCreated(createdAt, event, { index, hasTrash });
    const after = named(folding.state());
    planned[index] = withoutTypeName(event, before, after);
    changes.push({ event, index, position, hasTrash, before, after, schema, owner, createdAt, needs });
  }
  const statements = yield* planChanges(changes, replaying?.awaited);
  const after = folding.state();
  if (!hasTrash) return { ...planTypes({ before: state, after, events, schema, owner, statements }), after };
  const shared = { position, hasTrash, before: state, after, schema, createdAt, needs };
  statements.push(...events.flatMap((event, index) => planAccepted({ ...shared, events, event, index })));
  if (!objects) return { statements: [...statements, ...planPurges(events)], after, problems: [] };
  const { first, last, problems } = planObjects({ before: state, after, events: planned, schema, owner, facts });
  return { statements: [...first, ...statements, ...last, ...planPurges(events)], after, problems };
}

type TypeRename = Extract<LogEvent, { type: 'object.renamed' }>;

const isTypeRename = (event: LogEvent): event is TypeRename => event.type === 'object.renamed' && isType(event.subject);

/** Returns the fold with the new name of a type in all columns, as in the database. Later events repeat it. */
const afterTypeRename = (folding: RunningFold, event: LogEvent): RunningFold =>
  isTypeRename(event)
    ? startFolding(withRenamedTypes(folding.state(), [{ former: event.subject.id, now: event.data.to }]))
    : folding;

/**
 * Returns a function that gives columns the names that their types have after the batch. All types are created and
 * renamed before the tables change.
 */
function withFinalTypeNames(state: State, events: readonly LogEvent[]): (state: State) => State {
  if (!events.some(isTypeRename)) return (each) => each;
  const positioned = events.map((event, index) => ({ ...event, position: state.position + index + 1 }));
  const end = fold(positioned, state);
  return (each) => withTypeNames(each, end);
}

/** Returns the event without the new name of the column's type, because PostgreSQL renames a type in all tables. */
function withoutTypeName(event: NewEvent, before: State, after: State): LogEvent {
  if (event.type !== 'field.updated') return event;
  const [old, now] = [before, after].map((state) => getField(state, event.collection, event.field ?? ''));
  if (!hasColumn(old) || !hasColumn(now) || typeChanges(old, now)) return event;
  const patch = event.data.patch.filter(({ path }) => path !== '/schema/data_type');
  return patch.length === event.data.patch.length ? event : { ...event, data: { ...event.data, patch } };
}

interface ReplayedTypes {
  before: State;
  after: State;
  events: readonly LogEvent[];
  schema: string;
  owner: string | null | undefined;
  statements: readonly Statement[];
}

/** A replay creates types with the tables that use them, and all other objects at its end. */
function planTypes({ before, after, events, schema, owner, statements }: ReplayedTypes): Omit<BatchPlan, 'after'> {
  const onlyTypes = (state: State): State => ({
    ...state,
    objects: state.objects.filter(({ object }) => isType(object)),
  });
  const [from, to] = [onlyTypes(before), onlyTypes(after)];
  if (from.objects.isEmpty() && to.objects.isEmpty()) return { statements: [...statements], problems: [] };
  const isOther = (event: LogEvent): boolean => changesObjects(event) && !isType(event.subject);
  // The positions of events must stay the same.
  const own = events.map((event) => (isOther(event) ? withoutEffect(event) : event));
  const { first, last, problems } = planObjects({
    before: from,
    after: to,
    events: own,
    schema,
    owner,
    facts: undefined,
    isReplay: true,
  });
  return { statements: [...first, ...statements, ...last], problems };
}

const withoutEffect = (event: LogEvent): LogEvent => ({ ...event, data: { ...event.data, adopted: true } }) as LogEvent;

/** Records the tables that the batch creates. They still count as created after a rename in the same batch. */
function recordCreated(
  createdAt: Map<string, number>,
  event: NewEvent,
  { index, hasTrash }: Pick<Change, 'index' | 'hasTrash'>,
): void {
  const { collection } = event;
  const isMade = event.type === 'collection.created' && !(hasTrash && readRestored(event.data) !== undefined);
  if (isMade && !createdAt.has(collection)) createdAt.set(collection, index);
  if (event.type !== 'collection.renamed') return;
  const made = createdAt.get(collection);
  if (made !== undefined && !createdAt.has(event.data.to)) createdAt.set(event.data.to, made);
}

const CHANGES_SEQUENCE = /^\/schema(?:$|\/(?:has_auto_increment|default_value|extras)(?:\/|$))/;

type Accepted = Omit<Change, 'event'> & { event: LogEvent; events: readonly LogEvent[] };

/**
 * A column that someone changed by hand may have a new sequence, which starts before the values of the rows. If a column
 * gets a new type with its parent's, constraints and indexes of its own table may use it.
 */
function planAccepted({ events, ...accepted }: Accepted): Statement[] {
  const { event } = accepted;
  if ((event.type !== 'field.created' && event.type !== 'field.updated') || !isAdopted(event)) return [];
  const change = { ...accepted, event };
  const field = getField(change.after, event.collection, fieldNameOf(event));
  if (!hasColumn(field)) return [];
  const isMoved = event.type === 'field.created' || event.data.patch.some(({ path }) => CHANGES_SEQUENCE.test(path));
  return statementsOf(change, [
    ...(isMoved && isCounting(field) ? [countFromRows(change, field, 'none')] : []),
    ...(isRetypedWithParent(change, field, events) ? keepDefinitions(change, field.field) : []),
  ]);
}

function isRetypedWithParent({ before }: Change, now: ColumnField, events: readonly LogEvent[]): boolean {
  const old = getField(before, now.collection, now.field);
  if (!hasColumn(old) || !typeChanges(old, now)) return false;
  return events.some((event) => event.type === 'field.updated' && event.field === now.field && !isAdopted(event));
}

/** True if an event leaves the table unchanged, because it changes only meta or fields without a column. */
function keepsTable(event: NewEvent, folding: RunningFold): boolean {
  switch (event.type) {
    case 'collection.updated':
      return isMetaOnly(event.data.patch);
    case 'field.updated':
      return event.data.backfill === undefined && isMetaOnly(event.data.patch);
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
  const runs = yield* planRecreatedRuns(changes);
  const deferred = createDeferredForeignKeys(awaited);
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
  const inRun = { ...change, recreatesKey: run.recreatesKey, recreated: run.recreated };
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

/* Decides how a created, updated or deleted field affects its column. */

/**
 * Adds the column. There is no step for an alias. If the event restores a field and there is a trash, the column comes
 * from there with its values.
 */
function planFieldCreated(change: Change<'field.created'>): Step[] {
  const field = getField(change.after, change.event.collection, fieldNameOf(change.event));
  if (!hasColumn(field)) return [];
  const { backfill } = change.event.data;
  const restored = readRestored(change.event.data);
  if (restored !== undefined && change.hasTrash) return restoreColumn(change, field, restored);
  return backfill === undefined ? addColumn(change, field) : addFilledColumn(change, field, backfill);
}

/**
 * Drops the column. There is no step for an alias. If the event names an expiry and there is a trash, the values are
 * kept; otherwise they are lost.
 */
function planFieldDeleted(change: Change<'field.deleted'>): Step[] {
  const field = getField(change.before, change.event.collection, fieldNameOf(change.event));
  if (!hasColumn(field)) return [];
  const { kept_until } = change.event.data;
  if (kept_until === undefined || !change.hasTrash) return [dropColumn(change, field)];
  return dropKeptColumn(change, field, kept_until);
}

/**
 * Returns no step if the column does not change. An alias that becomes a column is added. A column that becomes an
 * alias is dropped with its values.
 */
function planFieldUpdated(change: Change<'field.updated'>): Step[] {
  const { event, before, after } = change;
  const old = getField(before, event.collection, fieldNameOf(event));
  const now = getField(after, event.collection, fieldNameOf(event));
  const { backfill } = event.data;
  const fill = backfill === undefined || !hasColumn(now) ? [] : fillColumn(change, now, backfill);
  if (old?.schema === now?.schema) return fill;
  if (!hasColumn(old)) return hasColumn(now) ? addColumn(change, now) : [];
  if (!hasColumn(now)) return [dropColumn(change, old)];
  return alterColumn(change, old, now, fill);
}

/**
 * Creates the table. There is no step for a folder. If the event restores a table and there is a trash, the table comes
 * from there with its rows.
 */
function planCollectionCreated(change: Change<'collection.created'>): Step[] {
  const { event, after } = change;
  const node = after.collections.get(event.collection) as CollectionNode;
  const table = node.collection.schema;
  if (table === null) return [];
  const restored = readRestored(event.data);
  return restored !== undefined && change.hasTrash
    ? [...restoreTable(change, node, restored), ...handOverTable(change)]
    : makeTable(change, node, table);
}

/** Sequences that columns own follow the table, and must have its owner when they are assigned. */
function giveTable(change: Change<'collection.created'>): Step[] {
  if (change.owner == null) return [];
  const { collection } = change.event;
  const text = sql`ALTER TABLE ${tableOf(change)} OWNER TO ${ident(change.owner)}`;
  return [step(text, `set the owner of table ${collection} to ${change.owner}`, { lock: 'none' })];
}

/** A restored table that belonged to another role keeps its owner. */
function handOverTable(change: Change<'collection.created'>): Step[] {
  if (change.owner == null) return [];
  const summary = `set the owner of table ${change.event.collection} to ${change.owner}`;
  return [step(handOver(tableOf(change), change.owner), summary, { lock: 'ACCESS EXCLUSIVE' })];
}

function makeTable(change: Change<'collection.created'>, node: CollectionNode, table: TableSchema): Step[] {
  const statements = [
    ...createNeeds(change, table.extras?.needs ?? []),
    createTable(change, node),
    ...giveTable(change),
  ];
  if (table.comment !== null) statements.push(tableComment(change, table.comment));
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    statements.push(...typeIdentitySequence(change, field));
    if (field.schema.is_indexed) statements.push(addIndex(change, field));
    if (field.schema.comment !== null) statements.push(columnComment(change, field));
  }
  statements.push(...completeTable(change, node));
  return statements;
}

/** Returns no step, because the table already exists with all dependent objects. */
function planCollectionAdopted(): Step[] {
  return [];
}

/** Plans comment, constraints, indexes and needs. Fields have their own events. */
function planCollectionUpdated(change: Change<'collection.updated'>): Step[] {
  const { event, before, after } = change;
  const old = before.collections.get(event.collection)?.collection.schema;
  const now = after.collections.get(event.collection)?.collection.schema;
  if (!old || !now) return [];
  const comment = old.comment === now.comment ? [] : [tableComment(change, now.comment)];
  return [...comment, ...changeExtras(change)];
}

/**
 * Never uses CASCADE: earlier events removed all references, otherwise the drop must fail. IF EXISTS is used in all
 * deletions, because deleting an object that was dropped by hand must succeed.
 */
function planCollectionDeleted(change: Change<'collection.deleted'>): Step[] {
  const { event, before } = change;
  const node = before.collections.get(event.collection) as CollectionNode;
  if (isFolder(node)) return [];
  const parent = parentOf(before, event.collection);
  const { kept_until } = event.data;
  const lock_entries = droppedLockEntries(node);
  if (kept_until !== undefined && change.hasTrash)
    return [...refuseWithPartitions(change, node), ...moveToTrash(change, node, { parent, kept_until, lock_entries })];
  return [
    ...refuseWithPartitions(change, node),
    ...(parent === undefined ? [] : [detachPartition(change, parent)]),
    step(sql`DROP TABLE IF EXISTS ${tableOf(change)}`, `drop table ${event.collection}`, {
      ...dropOf(tableObject(event.collection)),
      lock: 'ACCESS EXCLUSIVE',
      loses_data: true,
      lock_entries,
    }),
  ];
}

function createTable(change: Change<'collection.created'>, node: CollectionNode): Step {
  const name = change.event.collection;
  const costs = { lock: 'none', lock_entries: tableLockEntries(node) } as const;
  return step(createBareTable(node, change.after, change.schema), `create table ${name}`, costs);
}

/**
 * Counts the lock entries of a table: the table, its row type, its TOAST table and TOAST index, one index per
 * constraint, and one sequence per identity.
 */
function tableLockEntries(node: CollectionNode): number {
  let entries = 6;
  for (const field of node.fields.values()) {
    if (!hasColumn(field)) continue;
    if (needsUnique(field) || field.schema.is_primary_key) entries += 2;
    if (field.schema.has_auto_increment) entries += 3;
  }
  return entries;
}

/** Counts the lock entries of objects that are created with separate statements: other indexes and constraints. */
function droppedLockEntries(node: CollectionNode): number {
  const { indexes = [], constraints = [] } = extrasOf(node);
  const indexed = [...node.fields.values()].filter(({ schema }) => schema?.is_indexed === true);
  return tableLockEntries(node) + indexed.length + indexes.length + 2 * constraints.length;
}

function tableComment(change: Change, comment: string | null): Step {
  const { collection } = change.event;
  const text: Sql = comment === null ? sql`NULL` : literal(comment);
  return step(sql`COMMENT ON TABLE ${tableOf(change)} IS ${text}`, `comment on table ${collection}`, {
    lock: 'SHARE UPDATE EXCLUSIVE',
  });
}
