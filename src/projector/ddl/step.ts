/*
 * The output of the planners. A step is a statement that does not know its event, or whether the batch created its
 * table. `statementsOf` adds both.
 */
import type { Sql } from './sql.js';
import type { EventType, NewEvent, SchemaEventType } from '../../schema/model/events.js';
import type { Need } from '../../schema/model/extras.js';
import type { KINDS, ObjectKind } from '../../schema/model/objects.js';
import { type State, type TableLocation, locateTable } from '../../schema/model/state.js';
import { jsonEqual } from '../../kernel/json.js';
import { needLabel, needsOfNode } from '../../schema/model/order.js';

/** The strongest lock that the statement takes on a table that may hold rows, named as in PostgreSQL. */
type TableLock = 'none' | 'SHARE UPDATE EXCLUSIVE' | 'SHARE' | 'SHARE ROW EXCLUSIVE' | 'ACCESS EXCLUSIVE';

/** A table that existed before, and the strongest lock on it. */
export interface LockedTable {
  table: string;
  lock: Exclude<TableLock, 'none'>;
  /** Its location, unless it has the same name in the default schema. */
  at?: TableLocation;
}

/** A named object in the database. */
export interface DatabaseObject {
  kind: 'table' | 'column' | 'constraint' | 'index' | (typeof KINDS)[ObjectKind]['label'] | Need['kind'];
  name: string;
  /** The table that the object belongs to; null for a table and for standalone objects. */
  table: string | null;
  /** The schema of a standalone object outside the default schema. */
  schema?: string;
}

/**
 * The part of a statement that can be prepared outside its transaction, so that it needs no long lock
 * (src/projector/online). `name`: its final name.
 */
export type Preparable =
  /** `fill`: the change also fills the column, so that rows without a value get one before they are checked. */
  | { kind: 'not null'; column: string; fill?: FilledColumn }
  | ({ kind: 'fill' } & FilledColumn)
  /** `definition`: the text after the table name. */
  | { kind: 'index'; name: string; unique: boolean; definition: Sql }
  /** A primary key or unique constraint that uses a prepared index; `after`: the text after the index name. */
  | { kind: 'key'; name: string; type: 'PRIMARY KEY' | 'UNIQUE'; definition: Sql; after: Sql }
  /** `definition`: the text after the constraint name. `references`: the table that a foreign key references. */
  | { kind: 'constraint'; name: string; references: string | null; referencesAt?: TableLocation; definition: Sql }
  /** The values of a dropped column, with the primary key of their rows. `position`: their position in the trash. */
  | { kind: 'copy'; column: CopiedColumn; key: readonly CopiedColumn[]; position: number };

/** A column that gets a value in the rows in which it is null. */
export interface FilledColumn {
  column: string;
  /** An expression about the row `t`. */
  value: Sql;
  /** The column that the value comes from; null if it comes from none. */
  source: string | null;
  /** The columns of the primary key. Empty if the table has none. */
  key: readonly string[];
}

/** A column of a table, and its name in the copy. */
export interface CopiedColumn {
  name: string;
  identity: string;
}

export interface Statement {
  sql: Sql;
  /** The object that the statement creates, changes or drops. */
  object: DatabaseObject;
  /** The location of the table that the object belongs to, unless it has the same name in the default schema. */
  at?: TableLocation;
  /** Objects that the statement drops: its object or parts of it. */
  drops: readonly DatabaseObject[];
  /**
   * Set if the statement does nothing when the object already matches. It then ensures a sequence, or the column that
   * owns it.
   */
  ensures?: 'object' | 'owner';
  /** A phrase for display: `create table articles`. */
  summary: string;
  lock: TableLock;
  /** The tables that the statement locks and that other sessions may use. */
  locks: readonly LockedTable[];
  /** The lock on a view or function that existed before, or on the view of a trigger. */
  object_lock?: LockedTable['lock'];
  /** True if the statement loses rows, columns or values. */
  loses_data: boolean;
  kept_until?: string;
  /** True if PostgreSQL rewrites the whole table under the lock. */
  rewrites_table: boolean;
  /** True if existing rows can make the statement fail. */
  may_fail: boolean;
  /** Number of entries in PostgreSQL's shared lock table until the commit. This is an upper estimate. */
  lock_entries: number;
  /** How the statement can be prepared; undefined if that is not possible or not needed. */
  preparable?: Preparable;
  /** Set if the objects that the statement creates can be used only in a later transaction. */
  commit?: 'before it is used';
  /** The event that requires the statement: its index in the batch, its type and its subject. */
  source: { event: number; type: EventType; collection: string; field: string | null };
}

/* The input of the planners: one event of a batch with the states before and after it. */

/* Collects the objects that the tables of a batch need, each once. */

interface BatchNeeds {
  /** Records the need. Returns the definition that tables had until now. */
  record(need: Need, collection: string): { old: Need | undefined; isUnchanged: boolean };
  /** True if an existing object must match the definition. False in a replay, which reports a difference at its end. */
  isCompared: boolean;
}

/** @param state the state before the batch. It is scanned on first use, because most batches need nothing. */
export function batchNeeds({ collections }: State, isCompared: boolean): BatchNeeds {
  let needs: ReadonlyMap<string, Need> | undefined;
  const seen = new Map<string, Need>();
  /** The table's own definition takes precedence. Other tables may record another one after manual changes. */
  const before = (label: string, collection: string): Need | undefined => {
    const own = needsOfNode(collections.get(collection)).find((each) => needLabel(each) === label);
    if (own !== undefined) return own;
    needs ??= new Map([...collections.values()].flatMap(needsOfNode).map((each) => [needLabel(each), each]));
    return needs.get(label);
  };
  return {
    isCompared,
    record(need, collection) {
      const label = needLabel(need);
      const last = seen.get(label);
      seen.set(label, need);
      // A sequence is dropped with its column and may have to be created again.
      const isUnchanged = need.kind !== 'sequence' && last !== undefined && jsonEqual(last, need);
      return { old: last ?? before(label, collection), isUnchanged };
    },
  };
}

interface ChangeBy<E extends NewEvent> {
  event: E;
  /** The index of the event in its batch. */
  index: number;
  position: number;
  /** True if deleted objects move to the trash and restores take them from it. False for a replay. */
  hasTrash: boolean;
  before: State;
  after: State;
  schema: string;
  /** The role that owns new tables. Absent or null if they belong to the role of the connection. */
  owner?: string | null | undefined;
  /** For each collection, the index of the event of this batch that created its table. A restored table has rows. */
  createdAt: ReadonlyMap<string, number>;
  needs: BatchNeeds;
  /** The field that the statements concern, if it is not the field of the event. */
  about?: string;
  /** The former name of a renamed table. The statements then find all tables at their locations after the event. */
  formerTable?: string;
  /** True if the statements that recreate the primary key are planned around the event. */
  recreatesKey?: boolean;
  /** The columns that are dropped before the event and created again after it. */
  recreated?: ReadonlySet<string>;
}

export type Change<T extends SchemaEventType = SchemaEventType> = ChangeBy<Extract<NewEvent, { type: T }>>;

/** True if this batch created the table. Such a table is empty, and no other session can see or lock it. */
export function isNew({ createdAt, index }: Change, collection: string): boolean {
  return (createdAt.get(collection) ?? Infinity) <= index;
}

/** The location of a table of the change. The table may exist only after the change. */
export const locationIn = ({ before, after, schema, formerTable }: Change, collection: string): TableLocation =>
  locateTable(formerTable === undefined && before.collections.has(collection) ? before : after, collection, schema);

/** The field of an event. The fallback is not a valid field name. */
export const fieldNameOf = ({ field }: Pick<NewEvent, 'field'>): string => field ?? '';

/** The costs of a step on a table that may hold rows. Missing members are false. */
export type Costs = Pick<Statement, 'lock'> &
  Partial<
    Pick<
      Statement,
      | 'loses_data'
      | 'kept_until'
      | 'rewrites_table'
      | 'may_fail'
      | 'lock_entries'
      | 'drops'
      | 'ensures'
      | 'preparable'
      | 'commit'
    >
  > & {
    /** The object, if it is not the event's column or table. */
    object?: DatabaseObject;
    /** Other tables that the statement locks. */
    also?: readonly LockedTable[];
  };

export interface Step {
  text: Sql;
  summary: string;
  costs: Costs;
}

/** @param summary a phrase for display: `create table articles` */
export const step = (text: Sql, summary: string, costs: Costs): Step => ({ text, summary, costs });

/** Turns the steps of an event into statements. */
export function statementsOf(change: Change, steps: readonly Step[]): Statement[] {
  const { event, index } = change;
  const source = { event: index, type: event.type, collection: event.collection, field: change.about ?? event.field };
  return steps.map(({ text, summary, costs }) => {
    const { lock_entries = 1, drops = [], ensures, commit, kept_until } = costs;
    const object = costs.object ?? objectOf(change);
    return {
      sql: text,
      summary,
      object,
      drops,
      ...optionalLocation(change, object.table ?? event.collection),
      ...(ensures !== undefined && { ensures }),
      ...costsOn(object.table ?? event.collection, change, costs),
      lock_entries,
      ...(kept_until !== undefined && { kept_until }),
      ...(commit !== undefined && { commit }),
      source,
    };
  });
}

type CostsOnTable = Pick<Statement, 'lock' | 'locks' | 'loses_data' | 'rewrites_table' | 'may_fail' | 'preparable'>;

const optionalLocation = ({ before, after, schema }: Change, collection: string): { at?: TableLocation } =>
  findOtherLocation(before.collections.has(collection) ? before : after, collection, schema);

/** Returns the location of a table. Empty if the table has the collection's name in the default schema. */
export function findOtherLocation(
  state: Pick<State, 'collections'>,
  collection: string,
  schema: string,
): { at?: TableLocation } {
  const at = locateTable(state, collection, schema);
  return at.schema === schema && at.name === collection ? {} : { at };
}

/**
 * Returns the costs of a step. A table that this batch created has no costs, because no other session can see it yet.
 */
function costsOn(own: string, change: Change, { lock, also = [], ...costs }: Costs): CostsOnTable {
  const locks = [{ table: own, lock }, ...also].flatMap((each) =>
    each.lock === 'none' || isNew(change, each.table)
      ? []
      : [{ table: each.table, lock: each.lock, ...optionalLocation(change, each.table) }],
  );
  const rows = !isNew(change, own);
  return {
    lock: locks.length === 0 ? 'none' : lock,
    locks,
    loses_data: rows && costs.loses_data === true,
    rewrites_table: rows && costs.rewrites_table === true,
    may_fail: rows && costs.may_fail === true,
    ...(rows && costs.preparable !== undefined && { preparable: addReferenceLocation(costs.preparable, change) }),
  };
}

function addReferenceLocation(preparable: Preparable, change: Change): Preparable {
  if (preparable.kind !== 'constraint' || preparable.references === null) return preparable;
  const { at } = optionalLocation(change, preparable.references);
  return at === undefined ? preparable : { ...preparable, referencesAt: at };
}

/** The column that the statements concern, or else the table of the event. */
function objectOf({ event, about }: Change): DatabaseObject {
  const field = about ?? event.field;
  return field === null ? tableObject(event.collection) : partOf(event.collection, 'column', field);
}

/** A table in the managed schema. */
export const tableObject = (name: string): DatabaseObject => ({ kind: 'table', name, table: null });

/** A part of a table in the managed schema. Parts of different kinds may have the same name. */
export const partOf = (table: string, kind: 'column' | 'constraint' | 'index', name: string): DatabaseObject => ({
  kind,
  name,
  table,
});

/** Returns the members of a statement that drops its object. */
export const dropOf = (object: DatabaseObject): Pick<Statement, 'object' | 'drops'> => ({ object, drops: [object] });
