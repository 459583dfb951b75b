/**
 * The output of the planners. A step is a statement that does not know its event, or whether the batch created its
 * table. `statementsOf` adds both.
 */
import { type Change, isNew } from './change.js';
import type { DatabaseObject, LockedTable, Statement } from './statement.js';
import type { Sql } from './sql.js';

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

/** No costs on a table that this batch created, because no other session can see it yet. */
function costsOn(own: string, change: Change, { lock, also = [], ...costs }: Costs): CostsOnTable {
  const locks = [{ table: own, lock }, ...also].flatMap((each) =>
    each.lock === 'none' || isNew(change, each.table) ? [] : [{ table: each.table, lock: each.lock }],
  );
  const rows = !isNew(change, own);
  return {
    lock: locks.length === 0 ? 'none' : lock,
    locks,
    loses_data: rows && costs.loses_data === true,
    rewrites_table: rows && costs.rewrites_table === true,
    may_fail: rows && costs.may_fail === true,
    ...(rows && costs.preparable !== undefined && { preparable: costs.preparable }),
  };
}

/** The column or table of the event. */
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

/** For a statement that drops its object. */
export const dropping = (object: DatabaseObject): Pick<Statement, 'object' | 'drops'> => ({ object, drops: [object] });
