import type { Finding, TableStatistics, Dependent } from '../../../src/schema/findings/model.js';
import { findingsOf } from '../../../src/schema/findings/planned-batch.js';
import { planBatch } from '../../../src/projector/ddl/plan.js';
import { runToEnd } from '../../../src/kernel/resumable.js';
import type { State } from '../../../src/schema/model/state.js';
import type { InputOf, OperationName } from '../../../src/schema/operations/index.js';
import { attempt } from '../../support/given.js';

export interface Facts {
  statistics?: { [table: string]: TableStatistics };
  dependents?: readonly Dependent[];
  keep?: number;
}

export function findingsFor<N extends OperationName>(
  before: State,
  name: N,
  input: InputOf<N>,
  { statistics = {}, dependents = [], keep }: Facts = {},
): Finding[] {
  const decided = attempt(before, name, input);
  if (!decided.ok) throw new Error(JSON.stringify(decided.problems));
  const events = decided.value;
  const { statements, after } = runToEnd(planBatch(before, events, 'public'));
  const plan = { before, after, events, statements, ...(keep !== undefined && { keep }) };
  return runToEnd(findingsOf(plan, { statistics: new Map(Object.entries(statistics)), dependents }));
}

export const ROWS = (rows: number, more: Partial<TableStatistics> = {}): TableStatistics => ({
  rows,
  bytes: rows * 100,
  age: 60,
  uses: 1_000,
  ...more,
});
