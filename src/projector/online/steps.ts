/** The steps that prepare one object, and their members that only this folder reads. */
import type { Json } from '../../kernel/json.js';
import type { Statement } from '../ddl/statement.js';
import type { OffendingRows } from '../refusals/offending-rows.js';
import { fromStoredSql, storedSql } from '../ddl/sql.js';
import { type Prepared, fromStored, toStored, wordOf } from './preparables.js';
import type { TableFacts } from './table-facts.js';
import type { PreparationStep } from './types.js';

/**
 * How a column becomes NOT NULL: through the constraint itself from PostgreSQL 18 on, or through an equivalent check.
 */
export type NotNullBy = 'constraint' | 'check';

/** The engine's view of a step. */
export interface EngineStep {
  kind: 'add' | 'validate' | 'index' | 'note' | 'copy';
  prepared: Prepared;
  notNullBy: NotNullBy;
  /** The rows that violate the rule; null if only PostgreSQL's message is available. */
  offending: OffendingRows | null;
  source: Statement['source'];
}

export interface Stepping {
  prepared: Prepared;
  statement: Statement;
  size: Pick<TableFacts, 'rows'> & { bytes: number | null };
  notNullBy: NotNullBy;
  offending: OffendingRows | null;
}

export function stepsOf(stepping: Stepping): PreparationStep[] {
  const { prepared } = stepping;
  const { what } = prepared;
  if (what.kind === 'index' || what.kind === 'key')
    return [toStep('index', `build the ${wordOf(what)} ${what.name} of ${prepared.table}`, stepping)];
  if (what.kind === 'copy')
    return [
      toStep('note', `note which rows of ${prepared.table} are written`, stepping),
      toStep('copy', `copy the values of ${prepared.table}.${what.column.name}`, stepping),
    ];
  const label = what.kind === 'not null' ? `${prepared.table}.${what.column}` : `${what.name} of ${prepared.table}`;
  const rule = what.kind === 'not null' ? `that ${label} is never null` : `the ${wordOf(what)} ${label}`;
  return [
    toStep('add', `hold new rows of ${prepared.table} to the rule ${rule}`, stepping),
    toStep('validate', `validate ${rule}`, stepping),
  ];
}

function toStep(kind: EngineStep['kind'], summary: string, stepping: Stepping): PreparationStep {
  const { prepared, statement, size, notNullBy, offending } = stepping;
  const isScan = kind !== 'add' && kind !== 'note';
  return {
    key: `${kind} ${prepared.key}`,
    kind,
    collection: prepared.table,
    field: statement.source.field,
    summary,
    rows: isScan ? size.rows : null,
    bytes: isScan ? size.bytes : null,
    prepared: { table: prepared.table, key: prepared.key, what: toStored(prepared.what) },
    notNullBy,
    offending: offending && { ...offending, words: [...offending.words], question: storedSql(offending.question) },
    source: { ...statement.source },
  };
}

/** Reads a step that the runner returns. */
export function readStep(step: PreparationStep): EngineStep {
  const { prepared, offending } = step as unknown as Record<'prepared' | 'offending', Record<string, Json>>;
  return {
    ...(step as unknown as Pick<EngineStep, 'kind' | 'notNullBy' | 'source'>),
    prepared: { ...(prepared as unknown as Prepared), what: fromStored(prepared['what'] ?? null) },
    offending: offending && {
      ...(offending as unknown as OffendingRows),
      question: fromStoredSql(offending['question'] as string[]),
    },
  };
}
