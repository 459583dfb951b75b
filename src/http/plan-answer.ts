/** What a dry run answers: what would happen, what it would cost, and whether PostgreSQL took it. */
import type { DryRun, Plan } from '../pipeline/types.js';
import { warningsOf } from '../projector/ddl/cost-warnings.js';
import type { Statement } from '../projector/ddl/statement.js';
import type { LockedTableFacts } from '../projector/online/locked-tables.js';
import { runYielding } from '../kernel/event-loop.js';
import type { Warning } from '../kernel/warning.js';
import { type Answer, refusal } from './answer.js';
import { errorBody } from './errors.js';
import { largeJsonAnswer } from './json-text.js';

interface Beside {
  /** Warnings beside those of the statements. */
  further?: readonly Warning[];
  /** The warnings of the statements: with the sizes of their tables, where those can be asked for. */
  costs?: (statements: readonly Statement[]) => Promise<Warning[]>;
  /** What is locked, where its size was asked for. */
  tables?: readonly LockedTableFacts[];
}

const withoutSizes = (statements: readonly Statement[]): Promise<Warning[]> => runYielding(warningsOf(statements));

export async function planAnswer(
  run: DryRun,
  { further = [], costs = withoutSizes, tables }: Beside = {},
): Promise<Answer> {
  if (run.kind === 'refused') return refusal(run.problems);
  const { accepted, refusal: problem, events, statements, before, warnings, preparation } = run;
  const plan = {
    accepted,
    ...(problem !== undefined && errorBody([problem])),
    events: events.map(({ type, version, collection, field, data, subject }) => ({
      type,
      version,
      collection,
      field,
      data,
      ...(subject && { subject }),
    })),
    statements: statements.map(({ sql, summary, lock, loses_data, rewrites_table, may_fail, source }) => ({
      sql,
      summary,
      lock,
      loses_data,
      rewrites_table,
      may_fail,
      event: source.event,
      collection: source.collection,
      field: source.field,
    })),
    warnings: [...(await costs(statements)), ...warnings, ...(preparation?.warnings ?? []), ...further],
    ...(tables && { tables }),
    ...(preparation && { online: preparedFirst(preparation) }),
  };
  return { ...(await largeJsonAnswer(plan)), position: before.position };
}

/** What takes long, and is done before the change while the tables are used. */
function preparedFirst({ collections, steps }: NonNullable<Plan['preparation']>): object {
  return {
    collections,
    steps: steps.map(({ kind, collection, field, summary, rows, bytes }) => ({
      kind,
      collection,
      field,
      summary,
      rows,
      bytes,
    })),
  };
}
