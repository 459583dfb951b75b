/** Which rows would stand in the way of what is prepared. */
import type { Problem } from '../../kernel/problem.js';
import { columnList } from '../ddl/names.js';
import type { Statement } from '../ddl/statement.js';
import { type OffendingRows, offendingRowsOf } from '../refusals/offending-rows.js';
import type { Prepared } from './preparables.js';
import type { DecidedChange } from './types.js';

/** By what is made: how PostgreSQL refuses the rows that break the rule. */
const STATES = { 'not null': '23502', key: '23505', index: '23505', constraint: '23503', copy: '' } as const;

/** Null where nothing more can be asked than PostgreSQL says by itself. */
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

/** Whether it is the rule of one field and no other. */
function isOf(what: Prepared['what'], field: string): boolean {
  if (what.kind === 'key' || what.kind === 'index') return what.definition === columnList([field]);
  return what.kind === 'not null' || (what.kind === 'constraint' && what.references !== null);
}
