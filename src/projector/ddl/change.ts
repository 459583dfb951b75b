/** What the planners get: one event of a batch with the states around it; and how they say what a statement costs. */
import type { NewEvent, SchemaEventType } from '../../schema/model/events.js';
import type { State } from '../../schema/model/state.js';
import type { DatabaseObject, LockedTable, Statement, TableLock } from './statement.js';
import type { BatchNeeds } from './batch-needs.js';
import type { Sql } from './sql.js';

interface ChangeBy<E extends NewEvent> {
  event: E;
  /** The event's index in its batch. */
  index: number;
  before: State;
  after: State;
  /** PostgreSQL's schema that holds the tables. */
  schema: string;
  /** By collection, the index of the event of this batch that made its table. */
  createdAt: ReadonlyMap<string, number>;
  needs: BatchNeeds;
  /** The field that statements are about, where it isn't the event's. */
  about?: string;
  /** The primary key is recreated around the event: its statements are planned around that. */
  recreatesKey?: boolean;
}

/** `T`: the event's type. */
export type Change<T extends SchemaEventType = SchemaEventType> = ChangeBy<Extract<NewEvent, { type: T }>>;

/** Whether the table was made by this batch: it is empty then, and no other session can see or lock it. */
export function isNew({ createdAt, index }: Change, collection: string): boolean {
  return (createdAt.get(collection) ?? Infinity) <= index;
}

/** What a statement costs on a table that may hold rows. What isn't named is false. */
export type Costs = Pick<Statement, 'lock'> &
  Partial<Pick<Statement, 'loses_data' | 'rewrites_table' | 'may_fail' | 'lock_entries' | 'drops' | 'ensures'>> & {
    /** What it is for, where that isn't the event's column or table. */
    object?: DatabaseObject;
    /** Tables beside the event's own that are locked too. */
    also?: readonly LockedTable[];
  };

/** A statement on the event's own table: on a table of this batch it costs nothing. */
export function statement(change: Change, text: Sql, summary: string, costs: Costs): Statement {
  const { event, index } = change;
  const free = isNew(change, event.collection);
  return {
    sql: text,
    summary,
    ...aimOf(change, costs),
    lock: free ? 'none' : costs.lock,
    locks: lockedTables(change, [{ table: event.collection, lock: costs.lock }, ...(costs.also ?? [])]),
    loses_data: !free && costs.loses_data === true,
    rewrites_table: !free && costs.rewrites_table === true,
    may_fail: !free && costs.may_fail === true,
    lock_entries: costs.lock_entries ?? 1,
    source: { event: index, type: event.type, collection: event.collection, field: change.about ?? event.field },
  };
}

function aimOf(
  change: Change,
  { object, drops = [], ensures }: Costs,
): Pick<Statement, 'object' | 'drops' | 'ensures'> {
  return { object: object ?? objectOf(change), drops, ...(ensures !== undefined && { ensures }) };
}

/** The column or the table that the event is about. */
function objectOf({ event, about }: Change): DatabaseObject {
  const field = about ?? event.field;
  return field === null ? tableObject(event.collection) : partOf(event.collection, 'column', field);
}

export const tableObject = (name: string): DatabaseObject => ({ kind: 'table', name, table: null });

export const partOf = (table: string, kind: 'column' | 'constraint' | 'index', name: string): DatabaseObject => ({
  kind,
  name,
  table,
});

/** Of a statement that drops its object. */
export const dropping = (object: DatabaseObject): Pick<Statement, 'object' | 'drops'> => ({ object, drops: [object] });

/** Those of them that this batch hasn't made itself. */
export function lockedTables(
  change: Change,
  locks: readonly { table: string; lock: TableLock }[],
): readonly LockedTable[] {
  return locks.flatMap(({ table, lock }) => (lock === 'none' || isNew(change, table) ? [] : [{ table, lock }]));
}
