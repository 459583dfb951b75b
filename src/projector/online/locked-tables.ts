/** Whom a batch locks, and how large that is: what somebody wants to know before it is run. */
import type { Queryable } from '../../postgres/pool.js';
import type { LockedTable, Statement } from '../ddl/statement.js';
import { strongestLocks } from '../ddl/table-locks.js';
import { readTableFacts } from './table-facts.js';

export interface LockedTableFacts extends LockedTable {
  /** As PostgreSQL's statistics have them; null: they don't know the table yet. */
  rows: number | null;
  bytes: number | null;
}

/** Each table that was there before once, by name, with the strongest lock on it. */
export async function lockedTables(
  db: Queryable,
  { schema, statements }: { schema: string; statements: readonly Statement[] },
): Promise<LockedTableFacts[]> {
  const locks = strongestLocks(statements);
  const facts = await readTableFacts(db, { schema, tables: locks.map(({ table }) => table), exact: false });
  return locks.map((each) => {
    const { rows = null, bytes = null } = facts.get(each.table) ?? {};
    return { ...each, rows, bytes };
  });
}
