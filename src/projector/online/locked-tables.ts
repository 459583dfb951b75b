/** The tables that a batch locks, and their size. */
import type { Queryable } from '../../postgres/pool.js';
import type { LockedTable, Statement } from '../ddl/statement.js';
import { strongestLocks } from '../ddl/table-locks.js';
import { readTableFacts } from './table-facts.js';

export interface LockedTableFacts extends LockedTable {
  /** Estimated by PostgreSQL; null without statistics. */
  rows: number | null;
  bytes: number | null;
}

/** Each existing table once, by name, with its strongest lock. */
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
