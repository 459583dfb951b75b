/** What a rule may know of a planned statement. Those of src/projector/ddl are such. */
import type { EventType } from '../model/events.js';

export interface PlannedObject {
  kind: string;
  name: string;
  /** The table that it is part of; null for a table, and for what is part of none. */
  table: string | null;
}

export interface PlannedStatement {
  sql: string;
  /** One phrase for people: `create table articles`. */
  summary: string;
  object: PlannedObject;
  drops: readonly PlannedObject[];
  lock: string;
  locks: readonly { table: string; lock: string }[];
  loses_data: boolean;
  kept_until?: string;
  rewrites_table: boolean;
  may_fail: boolean;
  preparable?: { kind: string; unique?: boolean; type?: string; references?: string | null };
  source: { event: number; type: EventType; collection: string; field: string | null };
}

/** The table whose rows a statement reads. */
export const tableOfRows = ({ object, source }: Pick<PlannedStatement, 'object' | 'source'>): string =>
  object.table ?? source.collection;

/** Building an index (SHARE) or checking rows holds the lock for as long as the table is big. */
export function scansUnderLock({ lock, may_fail }: Pick<PlannedStatement, 'lock' | 'may_fail'>): boolean {
  return lock === 'SHARE' || (may_fail && lock !== 'none' && lock !== 'SHARE UPDATE EXCLUSIVE');
}

/** Whether it takes the longer, the larger its table is. */
export const takesLong = (statement: PlannedStatement): boolean =>
  statement.rewrites_table || scansUnderLock(statement) || statement.preparable?.kind === 'copy';
