/**
 * PostgreSQL drops and creates inherited columns together with those of the parent table. The log does not record
 * inheritance. The batch therefore needs explicit events for the columns of managed children.
 */
import { backfillOfEvent } from '../../schema/model/backfill.js';
import { runYielding } from '../../kernel/event-loop.js';
import { type Problem, problemAbout, type Warning } from '../../kernel/problem.js';
import { quoteName } from '../../kernel/text.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Queryable } from '../../postgres/pool.js';
import { changedAttributes } from '../ddl/alter-column.js';
import { isGenerated } from '../ddl/recreate.js';
import { type Descendant, type ParentColumn, readDescendants } from '../catalog/deletion-facts.js';
import { startFolding } from '../../schema/fold/evolve.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { changeProblems } from '../../schema/invariants/index.js';
import { type LogEvent, type NewEvent, isAdopted, isMetaOnly } from '../../schema/model/events.js';
import { type CollectionNode, type State, getField, hasColumn } from '../../schema/model/state.js';
import { toAdopted } from '../../schema/operations/accept-drift.js';
import { backfillProblem } from '../../schema/operations/backfills.js';
import { decideDraft } from '../../schema/operations/operation.js';
import { type ReachContext, filterLosing, findLostColumns, withoutLost } from './lost-columns.js';
import { type Parent, changedChecks, eventsOf, recreatesColumn, withoutRepeated } from './child-events.js';

export interface InheritanceInput {
  state: State;
  events: readonly LogEvent[];
  schema: string;
  /** Tables that are known to have no children. */
  childless?: ReadonlySet<string>;
  /** True if the request has `purge`. Without it, the deletion of an inherited column is rejected. */
  purge: boolean;
}

export interface WithDescendants {
  events: LogEvent[];
  /** Warnings about lost columns for which the batch has no statement. */
  warnings: Warning[];
  problems: readonly Problem[];
}

/**
 * Adds events for the columns of managed children that PostgreSQL changes together with those of their parents.
 * Reorders the children's own events and deletions of tables so that PostgreSQL accepts them.
 */
export async function withDescendants(
  db: Queryable,
  { state, events, schema, childless, purge }: InheritanceInput,
): Promise<WithDescendants> {
  const columns = await runYielding(columnChanges(state, events));
  const changes = columns.filter(({ before }) => childless?.has(before.table) !== true);
  const requested = filterRequestedColumns(changes, { state, purge });
  const descendants = await readDescendants(
    db,
    { schema, state },
    requested.map(({ before }) => before),
  );
  if (descendants.length === 0) return { events: [...events], warnings: [], problems: [] };
  const filled = rejectFilledParents(requested, descendants);
  if (filled.length > 0) return { events: [], warnings: [], problems: filled };
  const lost = findLostColumns(requested, descendants);
  const isLost = ({ before }: ColumnChange): boolean =>
    lost.some(({ table, column }) => table === before.table && column === before.column);
  const placed = orderByInheritance(events, requested, descendants);
  const followed = await followOrRefuse({
    state,
    events: placed,
    requested,
    descendants,
    lost: new Set(requested.filter(isLost).map(({ event }) => event)),
  });
  const { events: all, after } = followed;
  const problems = await runYielding(problemsOf(state, followed));
  if (problems.length > 0) return { events: [], warnings: [], problems };
  const { draft, warnings, problems: ofRelations } = withoutLost({ before: state, after, events: all }, lost);
  if (ofRelations.length > 0) return { events: [], warnings: [], problems: ofRelations };
  const decided = await runYielding(decideDraft(after, draft));
  if (!decided.ok) return { events: all, warnings, problems: decided.problems };
  return { events: [...all, ...decided.value.map(toAdopted)], warnings, problems: [] };
}

/** An UPDATE of a parent also writes the rows of its children, whose changes the log would not explain. */
function rejectFilledParents(requested: readonly ColumnChange[], descendants: readonly Descendant[]): Problem[] {
  return requested.flatMap(({ event }, index) => {
    const child = descendants.find(({ place }) => place === index);
    if (backfillOfEvent(event) === undefined || child === undefined) return [];
    const { collection, field } = event as NewEvent;
    const message = `${quoteName(collection)} cannot be filled: the table ${child.name} inherits from it`;
    return [backfillProblem({ collection, field: field ?? '' }, message)];
  });
}

/**
 * Rejects a batch that contradicts what PostgreSQL does to children. Its events cannot be folded, although the log is
 * valid.
 */
async function followOrRefuse(input: InheritedChangesInput): Promise<InheritedChanges> {
  try {
    return await runYielding(followParents(input));
  } catch (error) {
    if (!(error instanceof UnreadableEventError)) throw error;
    const message = `The changes to tables that inherit from each other contradict one another: ${error.why}. Apply them one after the other.`;
    return { events: [], after: input.state, touched: new Set(), problems: [{ code: 'INVALID_PAYLOAD', message }] };
  }
}

/** Also checks the children, because the decision of the batch saw them without the changes of their parents. */
function* problemsOf(from: State, { after: to, touched, problems }: InheritedChanges): Resumable<Problem[]> {
  if (problems.length > 0 || touched.size === 0) return problems;
  return yield* changeProblems({ from, to, touched, isRecreated: () => true });
}

/**
 * Returns warnings for a diff that has not been applied: about data that inheriting tables lose, and about each reason
 * why the diff would be rejected because of them.
 */
export async function warnAboutDescendants(
  db: Queryable,
  input: Pick<InheritanceInput, 'state' | 'events' | 'schema'>,
): Promise<Warning[]> {
  const { warnings, problems } = await withDescendants(db, { ...input, purge: true });
  const reasons = problems.map(({ message, collection, field }): Warning => ({
    code: 'INHERITED',
    ...(collection && { collection }),
    ...(field && { field }),
    message,
  }));
  return [...warnings, ...reasons];
}

interface ColumnChange {
  event: LogEvent;
  before: ParentColumn;
  /** The names of the CHECK constraints that a collection.updated removes or adds: `-positive`, `+positive`. */
  checks: ReadonlySet<string>;
}

const CHANGES: ReadonlySet<string> = new Set([
  'collection.deleted',
  'collection.updated',
  'field.created',
  'field.updated',
  'field.renamed',
  'field.deleted',
] satisfies LogEvent['type'][]);

/** True if an event may change a column, or constraints that children inherit, or deletes a table. */
function changesColumn(event: LogEvent): boolean {
  if (!CHANGES.has(event.type) || isAdopted(event)) return false;
  if (event.type === 'field.updated') return event.data.backfill !== undefined || !isMetaOnly(event.data.patch);
  return event.type !== 'collection.updated' || event.data.patch.some(({ path }) => CONSTRAINTS.test(path));
}

const CONSTRAINTS = /^\/schema(\/extras(\/constraints.*)?)?$/;

function* columnChanges(state: State, events: readonly LogEvent[]): Resumable<ColumnChange[]> {
  const former = formerNames();
  const changes: ColumnChange[] = [];
  const checksOf = createCheckReader(state, events);
  for (const event of events) {
    const [collection, field] = [event.collection ?? '', event.field ?? ''];
    const checks = checksOf(event);
    const table = former.collection(collection);
    const existed = !former.isCreated(collection) && state.collections.get(table)?.collection.schema;
    const before = {
      table,
      column: former.field(collection, field),
      withPartitions: event.type === 'collection.updated',
    };
    if (existed && changesColumn(event) && checks !== null) changes.push({ event, before, checks });
    former.add(event);
    yield;
  }
  return changes;
}

/** Returns a reader for events in order. It returns the changed constraints, or null if a table change has none. */
function createCheckReader(state: State, events: readonly LogEvent[]) {
  const isTableChange = (event: LogEvent): boolean => event.type === 'collection.updated' && changesColumn(event);
  if (!events.some(isTableChange)) return () => NO_CHECKS;
  const folding = startFolding(state);
  let { position } = state;
  return (event: LogEvent): ReadonlySet<string> | null => {
    const before = copyOf(folding.node(event.collection ?? ''));
    folding.add({ ...event, position: ++position });
    if (!isTableChange(event)) return NO_CHECKS;
    const checks = signedChecks({ before, now: folding.node(event.collection ?? '') });
    return checks.size === 0 ? null : checks;
  };
}

const NO_CHECKS: ReadonlySet<string> = new Set();

function signedChecks(parent: Pick<Parent, 'before' | 'now'>): ReadonlySet<string> {
  const { oldOnly, newOnly } = changedChecks(parent);
  return new Set([...oldOnly.map(({ name }) => `-${name}`), ...newOnly.map(({ name }) => `+${name}`)]);
}

/**
 * Leaves out deletions of columns with values without `purge`, which are rejected later with the names of all children,
 * and a deletion of a single table, which needs no order.
 */
function filterRequestedColumns(
  changes: readonly ColumnChange[],
  { state, purge }: Pick<InheritanceInput, 'state' | 'purge'>,
): ColumnChange[] {
  const deletesTables = changes.filter(deletesTable).length > 1;
  const isKept = ({ event, before }: ColumnChange): boolean =>
    // The trash keeps no values of a generated column.
    event.type === 'field.deleted' && !isGenerated(getField(state, before.table, before.column));
  return changes.filter((change) => (deletesTable(change) ? deletesTables : purge || !isKept(change)));
}

const deletesTable = ({ event }: ColumnChange): boolean => event.type === 'collection.deleted';

/**
 * PostgreSQL drops, renames and changes an inherited column only together with, or after, that of the parent. It can
 * add a column to a parent whose children already have it, but not to a child that has inherited it.
 */
function orderByInheritance(
  events: readonly LogEvent[],
  requested: readonly ColumnChange[],
  descendants: readonly Descendant[],
): LogEvent[] {
  const placed = [...events];
  for (const { place, table } of descendants) {
    const change = requested[place] as ColumnChange;
    const { event: parent } = change;
    if (deletesTable(change)) continue;
    const child = requested.find((each) => each.before.table === table && belongsTo(each, change))?.event;
    if (child === undefined) continue;
    const [first, second] = parent.type === 'field.created' ? [child, parent] : [parent, child];
    if (placed.indexOf(first) < placed.indexOf(second)) continue;
    placed.splice(placed.indexOf(child), 1);
    placed.splice(placed.indexOf(parent) + (first === parent ? 1 : 0), 0, child);
  }
  return orderDeletions(placed, requested, descendants);
}

/**
 * PostgreSQL does not drop a table before its children, so their deletions move before that of their parent. Moving that
 * of the parent could put it after a rename that takes its name.
 */
function orderDeletions(
  placed: readonly LogEvent[],
  requested: readonly ColumnChange[],
  descendants: readonly Descendant[],
): LogEvent[] {
  const deletions = new Map(requested.filter(deletesTable).map(({ event, before }) => [before.table, event]));
  const before = new Map<LogEvent, LogEvent[]>();
  for (const { place, table } of descendants) {
    const parent = requested[place];
    const child = deletions.get(table ?? '');
    if (parent === undefined || !deletesTable(parent) || child === undefined) continue;
    const children = before.get(parent.event);
    if (children === undefined) before.set(parent.event, [child]);
    else children.push(child);
  }
  const ordered = new Set<LogEvent>();
  const add = (event: LogEvent): void => {
    if (ordered.has(event)) return;
    for (const child of before.get(event) ?? []) add(child);
    ordered.add(event);
  };
  placed.forEach(add);
  return [...ordered];
}

/**
 * True if the changes of a child and of its parent are about the same column or constraint. A child may change its column
 * to the type that the parent adds.
 */
const belongsTo = (child: ColumnChange, parent: ColumnChange): boolean =>
  child.before.column === parent.before.column &&
  (child.event.type === parent.event.type ||
    (child.event.type === 'field.updated' && parent.event.type === 'field.created')) &&
  (child.event.type !== 'collection.updated' || [...child.checks].some((check) => parent.checks.has(check)));

/* Changes that PostgreSQL makes to columns of children. */

interface InheritedChangesInput {
  state: State;
  events: readonly LogEvent[];
  requested: readonly ColumnChange[];
  descendants: readonly Descendant[];
  /** Deletions of columns that PostgreSQL drops together with those of the parent. */
  lost: ReadonlySet<LogEvent>;
}

interface InheritedChanges {
  events: LogEvent[];
  after: State;
  /** The children that change together with their parents, by their names after the batch. */
  touched: ReadonlySet<string>;
  problems: Problem[];
}

/** Moves changes of children after those of their parents, and omits what they repeat. */
function* followParents({
  state,
  events,
  requested,
  descendants,
  lost,
}: InheritedChangesInput): Resumable<InheritedChanges> {
  const all: LogEvent[] = [];
  const problems: Problem[] = [];
  const former = formerNames();
  const current = new Map<string, string>();
  /** The result of the batch's own events, without the changes that follow for children. */
  const original = startFolding(state);
  const folding = startFolding(state);
  const append = (event: LogEvent): void => {
    all.push(event);
    folding.add({ ...event, position: state.position + all.length });
  };
  const descendantsOf = groupByEvent(requested, descendants);
  const repeated = findRepeatedRenames(requested, descendantsOf);
  /** Children that an event of a parent changed, by their names before the batch. */
  const changed = new Set<string>();
  const isChanged = (name: string): boolean => !former.isCreated(name) && changed.has(former.collection(name));
  const left = new Map<string, number>();
  const follow = (parent: Parent, children: readonly ManagedDescendant[], links: readonly Descendant[]): void => {
    const rejected = rejectOtherParents(parent, links);
    problems.push(...(rejected.length > 0 ? rejected : rejectKeptGenerated(parent, links)));
    const nullable = nullableWith(parent, links, left);
    const recreated = recreatedWith(parent, links);
    const losesCheck = findLostChecks(parent, links, left);
    for (const descendant of children) {
      const table = current.get(descendant.table) ?? descendant.table;
      const becomesNullable = nullable.has(descendant.oid);
      const isRecreated = recreated.has(descendant.oid);
      const lost = (name: string): boolean => losesCheck.has(keyOfCheck(descendant, name));
      const child = { table, descendant, folding, parent, becomesNullable, isRecreated, losesCheck: lost };
      const parentEvents = eventsOf(child);
      problems.push(...parentEvents.problems);
      parentEvents.events.forEach(append);
      if (parentEvents.events.length > 0) changed.add(descendant.table);
    }
  };
  for (const event of events) {
    yield;
    const collection = event.collection ?? '';
    const old = copyOf(original.node(collection));
    original.add({ ...event, position: state.position + all.length + 1 });
    const name = former.collection(collection);
    if (event.type === 'collection.renamed') current.set(name, event.data.to);
    const isChild = isChanged(collection);
    former.add(event);
    if (repeated.has(event)) continue;
    const rest = isChild ? withoutRepeated(event, { old, original, folding, problems }) : event;
    if (rest === null) continue;
    const before = copyOf(folding.node(collection));
    append(lost.has(event) ? toAdopted(event as NewEvent) : rest);
    const children = descendantsOf.get(event);
    if (children === undefined) continue;
    const parent = { event: rest as NewEvent, before, now: copyOf(folding.node(collection)) };
    const links = descendants.filter(({ place }) => requested[place]?.event === event);
    follow(parent, children, links);
  }
  const touched = new Set([...changed].map((name) => current.get(name) ?? name));
  return { events: all, after: folding.state(), touched, problems };
}

/** PostgreSQL renames and retypes a child's column only if all parents are the changed table or its descendants. */
function rejectOtherParents({ event, before, now }: Parent, links: readonly Descendant[]): Problem[] {
  const { collection, field } = event;
  const [old, next] = [before, now].map((node) => node?.fields.get(field ?? ''));
  const isRetyped = hasColumn(old) && hasColumn(next) && changedAttributes(old, next).has('type');
  if (collection === null || field === null || !(event.type === 'field.renamed' || isRetyped)) return [];
  const reaching = new Map(links.map((each) => [`${each.parent} ${each.oid}`, each]));
  const counted = (oid: number): number => [...reaching.values()].filter((each) => each.oid === oid).length;
  const child = links.find(({ oid, parents }) => (parents ?? 0) > counted(oid));
  if (child === undefined) return [];
  const parents = child.parentNames ?? [];
  const message =
    `The ${isRetyped ? 'type' : 'name'} of column ${quoteName(field)} of ${quoteName(collection)} cannot be changed: ` +
    `the table ${child.name} inherits the column from ${parents.join(' and ')}, and PostgreSQL does not change it for one of several parents. ` +
    `Detach the table from the other parents (ALTER TABLE ${child.name} NO INHERIT …), change the column in all of them, and attach it again.`;
  const details = { inherited_by: [child.name], parents };
  return [problemAbout({ kind: 'field', collection, field }, message, { code: 'DATABASE_REFUSED', details })];
}

/** Rejects a change to a generated column that PostgreSQL does not make in all tables that inherit the column. */
function rejectKeptGenerated({ event, before, now }: Parent, links: readonly Descendant[]): Problem[] {
  const { collection, field } = event;
  const [old, next] = [before, now].map((node) => node?.fields.get(field ?? ''));
  if (collection === null || field === null || !isGenerated(old) || !hasColumn(next)) return [];
  const having = links.filter(({ parents }) => (parents ?? 0) > 0);
  const [what, child, why] = isGenerated(next)
    ? ([
        'type',
        changedAttributes(old, next).has('type') ? having.find(({ isLocal }) => isLocal) : undefined,
        'defines the generated column too, and PostgreSQL keeps its type',
      ] as const)
    : ([
        'generation expression',
        having.find(({ parent, root }) => parent !== root),
        'inherits the column indirectly, and PostgreSQL removes an expression only from a table and its direct children',
      ] as const);
  if (child === undefined) return [];
  const message =
    `The ${what} of column ${quoteName(field)} of ${quoteName(collection)} cannot be changed: the table ${child.name} ${why}. ` +
    `Detach the table (ALTER TABLE ${child.name} NO INHERIT …), change the column in both, and attach it again.`;
  const details = { inherited_by: [child.name] };
  return [problemAbout({ kind: 'field', collection, field }, message, { code: 'DATABASE_REFUSED', details })];
}

/** Returns the children whose generated columns PostgreSQL drops with that of the parent, and creates again. */
function recreatedWith({ event, before, now }: Parent, links: readonly Descendant[]): ReadonlySet<number> {
  const [old, field] = [before, now].map((node) => node?.fields.get(event.field ?? ''));
  if (!hasColumn(old) || !hasColumn(field) || !recreatesColumn(old, field)) return new Set();
  const held = ({ parents, isLocal }: Descendant) => ({ parents: parents ?? 0, isLocal: isLocal === true });
  const columnOf = (): string => field.field;
  return new Set(filterLosing(links, { columnOf, held, left: new Map() }).map(({ oid }) => oid));
}

/**
 * Returns the children whose columns become nullable together with that of the parent, because they have no NOT NULL
 * constraint of their own.
 */
function nullableWith(
  { event, before, now }: Parent,
  links: readonly Descendant[],
  left: ReachContext['left'],
): ReadonlySet<number> {
  const [old, field] = [before, now].map((node) => node?.fields.get(event.field ?? ''));
  if (!hasColumn(old) || !hasColumn(field) || !field.schema.is_nullable) return new Set();
  if (!changedAttributes(old, field).has('nullability')) return new Set();
  const held = ({ notNull }: Descendant) => notNull;
  return new Set(filterLosing(links, { columnOf: () => field.field, held, left }).map(({ oid }) => oid));
}

/**
 * Returns the CHECK constraints that PostgreSQL drops from children. Neither the child itself nor another parent
 * defines them. For constraints that are added, the parents are counted.
 */
function findLostChecks(parent: Parent, links: readonly Descendant[], left: ReachContext['left']): ReadonlySet<string> {
  const lost = new Set<string>();
  if (parent.event.type !== 'collection.updated') return lost;
  const { oldOnly, newOnly } = changedChecks(parent);
  const heldBy =
    (name: string) =>
    ({ checks }: Descendant) =>
      checks?.[name] ?? { parents: 0, isLocal: false };
  for (const { name } of oldOnly)
    for (const descendant of filterLosing(links, { columnOf: () => `\0${name}`, held: heldBy(name), left }))
      lost.add(keyOfCheck(descendant, name));
  for (const { name } of newOnly)
    for (const descendant of new Map(links.map((each) => [`${each.parent} ${each.oid}`, each])).values()) {
      const key = keyOfCheck(descendant, name);
      left.set(key, (left.get(key) ?? heldBy(name)(descendant).parents) + 1);
    }
  return lost;
}

/** The key under which `left` counts the parents of a child. */
const keyOfCheck = ({ oid }: Descendant, name: string): string => `${oid} \0${name}`;

/** Copies a node, because a later event may change it in place. */
const copyOf = (node: CollectionNode | undefined): CollectionNode | undefined =>
  node && { ...node, fields: new Map(node.fields) };

type ManagedDescendant = Descendant & { table: string };

/** Groups the inheriting tables by event, parents first. A table with several parents appears once. */
function groupByEvent(
  requested: readonly ColumnChange[],
  descendants: readonly Descendant[],
): ReadonlyMap<LogEvent, ManagedDescendant[]> {
  const descendantsByEvent = new Map<LogEvent, ManagedDescendant[]>();
  for (const descendant of descendants) {
    const event = requested[descendant.place]?.event;
    if (event === undefined || descendant.table === null) continue;
    const others = descendantsByEvent.get(event) ?? [];
    if (!others.some(({ oid }) => oid === descendant.oid))
      descendantsByEvent.set(event, [...others, descendant as ManagedDescendant]);
  }
  return descendantsByEvent;
}

/** Returns the renames of child columns that PostgreSQL already makes together with those of their parents. */
function findRepeatedRenames(
  requested: readonly ColumnChange[],
  descendantsOf: ReadonlyMap<LogEvent, readonly ManagedDescendant[]>,
): ReadonlySet<LogEvent> {
  const made = new Set<string>();
  const keyOf = (table: string, { field, data }: Extract<LogEvent, { type: 'field.renamed' }>): string =>
    JSON.stringify([table, field, data.to]);
  for (const [event, descendants] of descendantsOf)
    if (event.type === 'field.renamed') for (const { table } of descendants) made.add(keyOf(table, event));
  return new Set(
    requested.flatMap(({ event, before }) =>
      event.type === 'field.renamed' && made.has(keyOf(before.table, event)) ? [event] : [],
    ),
  );
}
