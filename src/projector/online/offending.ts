/** Finds the rows that would violate a prepared constraint. */
import type { Problem } from '../../kernel/problem.js';
import { columnList } from '../ddl/names.js';
import type { Statement } from '../ddl/statement.js';
import { type OffendingRows, offendingRowsOf } from '../refusals/offending-rows.js';
import type { Prepared } from './preparables.js';
import type { DecidedChange } from './types.js';

const STATES = { 'not null': '23502', key: '23505', index: '23505', constraint: '23503', copy: '' } as const;

/** Null if no query can tell more than PostgreSQL's own message. */
export function offendingOf(
  { before, after, schema }: DecidedChange,
  { source }: Statement,
  { what }: Prepared,
): OffendingRows | null {
  const { collection, field } = source;
  if (field === null || !isOf(what, field)) return null;
  const details = { sqlstate: STATES[what.kind] };
  const problem: Problem = { code: 'DATABASE_REFUSED', message: '', collection, field, details };
  return offendingRowsOf({ problem, before, after, schema });
}

/** Checks whether the rule concerns one field only. */
function isOf(what: Prepared['what'], field: string): boolean {
  if (what.kind === 'key' || what.kind === 'index') return what.definition === columnList([field]);
  return what.kind === 'not null' || (what.kind === 'constraint' && what.references !== null);
}
