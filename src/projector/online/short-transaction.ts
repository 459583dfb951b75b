/** The short transaction: statements that use prepared objects replace slow ones. */
import type { Statement } from '../ddl/statement.js';
import { check } from './check-preparations.js';
import { type Using, inItsPlace } from './replacement.js';
import { offendingOf } from './offending.js';
import { type Prepared, preparedOf } from './preparables.js';
import { type EngineStep, readStep, stepsOf } from './steps.js';
import type { DecidedChange, PreparationStep, PreparedStatements } from './types.js';

/** @see PreparationEngine.preparedStatements */
export function preparedStatements(change: DecidedChange, steps: readonly PreparationStep[]): PreparedStatements {
  const known = new Map(steps.map(readStep).map((step) => [step.prepared.key, step]));
  const used: Using[] = [];
  const missing: PreparationStep[] = [];
  const statements = change.statements.flatMap((statement) => {
    const prepared = preparedOf(statement);
    if (prepared === undefined) return [statement];
    const step = known.get(prepared.key);
    if (step === undefined) {
      missing.push(...furtherSteps(change, { statement, prepared, known }));
      return [statement];
    }
    const using = { id: change.id, schema: change.schema, statement, prepared, notNullBy: step.notNullBy };
    used.push(using);
    return inItsPlace(using);
  });
  if (missing.length > 0) return { kind: 'missing', steps: missing };
  return { kind: 'prepared', statements: used.length === 0 ? statements : [check(used), ...statements] };
}

interface Further {
  statement: Statement;
  prepared: Prepared;
  known: ReadonlyMap<string, EngineStep>;
}

/** Covers the other statements of a large table on which something was prepared. */
function furtherSteps(change: DecidedChange, { statement, prepared, known }: Further): PreparationStep[] {
  const other = [...known.values()].find(({ prepared: { table } }) => table === prepared.table);
  if (other === undefined) return [];
  const offending = offendingOf(change, statement, prepared);
  return stepsOf({ prepared, statement, size: { rows: null, bytes: null }, notNullBy: other.notNullBy, offending });
}
