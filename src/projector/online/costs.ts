/** What a batch costs, with the sizes of the tables on which it takes long. */
import { runYielding } from '../../kernel/event-loop.js';
import type { Warning } from '../../kernel/warning.js';
import type { Queryable } from '../../postgres/pool.js';
import { tableOfRows, takesLong, warningsOf } from '../ddl/cost-warnings.js';
import type { Statement } from '../ddl/statement.js';
import { readTableFacts } from './table-facts.js';

interface Costly {
  schema: string;
  statements: readonly Statement[];
  /** Milliseconds that what is deleted would be kept, where that was not looked into. */
  keep?: number;
}

/** Asks nothing where nothing takes long. The statements may have been made already, and taken back. */
export async function costWarnings(db: Queryable, { schema, statements, keep = 0 }: Costly): Promise<Warning[]> {
  const tables = new Set(statements.filter(takesLong).map(tableOfRows));
  const sizes = await readTableFacts(db, { schema, tables: [...tables], exact: false });
  return runYielding(warningsOf(statements, { keep, sizes }));
}
