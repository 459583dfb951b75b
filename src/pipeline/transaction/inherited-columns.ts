/**
 * PostgreSQL drops and creates inherited columns with those of the parent table. The log does not record inheritance, so
 * the batch must say what happens to the columns of managed children.
 */
import { runYielding } from '../../kernel/event-loop.js';
import type { Problem } from '../../kernel/problem.js';
import type { Resumable } from '../../kernel/resumable.js';
import type { Warning } from '../../kernel/warning.js';
import type { Queryable } from '../../postgres/pool.js';
import { type Heir, type ParentColumn, readHeirs } from '../../projector/trash/facts.js';
import { startFolding } from '../../schema/fold/evolve.js';
import { formerNames } from '../../schema/fold/former-names.js';
import { type LogEvent, type NewEvent, isAdopted } from '../../schema/model/events.js';
import { type State, UNMADE, getField, hasColumn } from '../../schema/model/state.js';
import { adopted } from '../../schema/operations/accept-drift.js';
import { decideDraft } from '../../schema/operations/operation.js';
import { dropField } from '../../schema/transition/cascade.js';
import { Draft } from '../../schema/transition/draft.js';

export interface Inheriting {
  state: State;
  events: readonly LogEvent[];
  schema: string;
  /** The deletion of an inherited column is rejected without it. */
  purge: boolean;
}

export interface WithHeirs {
  events: LogEvent[];
  /** Losses for which the batch has no statement. */
  warnings: Warning[];
  problems: readonly Problem[];
}

/** Adds events for the columns that managed children lose, and puts their own events into the order that works. */
export async function withHeirs(db: Queryable, { state, events, schema, purge }: Inheriting): Promise<WithHeirs> {
  const asked = columnsAsked(await runYielding(columnChanges(state, events)), purge);
  const heirs = await readHeirs(
    db,
    schema,
    asked.map(({ before }) => before),
  );
  if (heirs.length === 0) return { events: [...events], warnings: [], problems: [] };
  const placed = inOrder(events, asked, heirs);
  const after = foldedState(state, placed);
  const lost = lostWith(asked, heirs);
  const isLost = ({ before }: ColumnChange): boolean =>
    lost.some(({ table, column }) => table === before.table && column === before.column);
  const own = new Set(asked.filter(isLost).map(({ event }) => event));
  const all = placed.map((event) => (own.has(event) ? adopted(event as NewEvent) : event));
  const { draft, warnings } = withoutLost({ before: state, after }, lost);
  const decided = await runYielding(decideDraft(after, draft));
  if (!decided.ok) return { events: all, warnings, problems: decided.problems };
  return { events: [...all, ...decided.value.map(adopted)], warnings, problems: [] };
}

/** Deletes the fields that the batch itself does not delete. */
function withoutLost({ before, after }: { before: State; after: State }, lost: readonly LostColumn[]) {
  const draft = new Draft(after);
  const warnings: Warning[] = [];
  if (lost.length === 0) return { draft, warnings };
  const names = new Map([...after.collections].map(([name, { identities }]) => [identities.collection, name]));
  for (const { table, column, of: parent } of lost) {
    const name = names.get(before.collections.get(table)?.identities.collection ?? UNMADE);
    if (name === undefined || !hasColumn(getField(after, name, column))) continue;
    dropField(draft, after, name, column);
    const message = `drop column ${name}.${column}, which is inherited from ${parent}: data is permanently lost`;
    warnings.push({ code: 'LOSES_DATA', collection: name, field: column, message });
  }
  return { draft, warnings };
}

interface ColumnChange {
  event: LogEvent;
  before: ParentColumn;
}

function* columnChanges(state: State, events: readonly LogEvent[]): Resumable<ColumnChange[]> {
  const former = formerNames();
  const found: ColumnChange[] = [];
  for (const event of events) {
    yield;
    const { type, collection, field } = event;
    const isChange = type === 'field.created' || type === 'field.deleted';
    if (isChange && !isAdopted(event)) {
      const table = former.collection(collection);
      if (state.collections.has(table))
        found.push({ event, before: { table, column: former.field(collection, field ?? '') } });
    }
    former.add(event);
  }
  return found;
}

/** New columns matter only if several tables get one with the same name. */
function columnsAsked(changes: readonly ColumnChange[], purge: boolean): ColumnChange[] {
  const created = new Map<string, number>();
  for (const { event, before } of changes)
    if (event.type === 'field.created') created.set(before.column, (created.get(before.column) ?? 0) + 1);
  return changes.filter(({ event, before }) =>
    event.type === 'field.deleted' ? purge : (created.get(before.column) ?? 0) > 1,
  );
}

/**
 * PostgreSQL drops an inherited column only after that of the parent. It adds one to a parent if its children have the
 * column, but not to a child that inherited it.
 */
function inOrder(events: readonly LogEvent[], asked: readonly ColumnChange[], heirs: readonly Heir[]): LogEvent[] {
  const placed = [...events];
  for (const { place, table } of heirs) {
    const { event: parent, before } = asked[place] as ColumnChange;
    const child = asked.find(
      (each) => each.before.table === table && each.before.column === before.column && each.event.type === parent.type,
    )?.event;
    if (child === undefined) continue;
    const [first, second] = parent.type === 'field.deleted' ? [parent, child] : [child, parent];
    if (placed.indexOf(first) < placed.indexOf(second)) continue;
    placed.splice(placed.indexOf(child), 1);
    placed.splice(placed.indexOf(parent) + (first === parent ? 1 : 0), 0, child);
  }
  return placed;
}

interface LostColumn extends ParentColumn {
  /** The table whose column is deleted. */
  of: string;
}

/**
 * Columns that PostgreSQL drops from heirs in the managed schema. An heir keeps a column that it also defines itself or
 * inherits from another parent.
 */
function lostWith(asked: readonly ColumnChange[], heirs: readonly Heir[]): LostColumn[] {
  const columnOf = ({ place }: Heir): string => asked[place]?.before.column ?? '';
  const having = heirs.filter((each) => each.parents !== null && asked[each.place]?.event.type === 'field.deleted');
  const dropped = new Set(having.map((each) => `${each.root} ${columnOf(each)}`));
  const left = new Map<string, number>();
  const lost: LostColumn[] = [];
  // Each parent comes before its children. Several columns of one batch can be inherited by the same child.
  const links = new Map(having.map((each) => [`${each.parent} ${each.oid} ${columnOf(each)}`, each]));
  for (const each of links.values()) {
    const { place, oid, parent, table, parents, isLocal } = each;
    const key = `${oid} ${columnOf(each)}`;
    if (!dropped.has(`${parent} ${columnOf(each)}`)) continue;
    left.set(key, (left.get(key) ?? parents ?? 0) - 1);
    if (left.get(key) !== 0 || isLocal === true) continue;
    dropped.add(key);
    if (table !== null) lost.push({ table, column: columnOf(each), of: asked[place]?.before.table ?? '' });
  }
  return lost;
}

function foldedState(state: State, events: readonly LogEvent[]): State {
  const folding = startFolding(state);
  for (const [index, event] of events.entries()) folding.add({ ...event, position: state.position + 1 + index });
  return folding.state();
}
