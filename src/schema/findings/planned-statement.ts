/** The parts of a planned statement that rules use. The statements of src/projector/ddl match. */
import type { EventType } from '../model/events.js';

interface PlannedObject {
  kind: string;
  name: string;
  /** The table of the object. Null for a table, and for objects outside tables. */
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

/** Returns the table whose rows a statement reads. */
export const tableOfRows = ({ object, source }: Pick<PlannedStatement, 'object' | 'source'>): string =>
  object.table ?? source.collection;

/**
 * True for statements that build an index (SHARE) or check rows. They hold the lock in proportion to the size of the
 * table.
 */
export function scansUnderLock({ lock, may_fail }: Pick<PlannedStatement, 'lock' | 'may_fail'>): boolean {
  return lock === 'SHARE' || (may_fail && lock !== 'none' && lock !== 'SHARE UPDATE EXCLUSIVE');
}

/** True if the duration grows with the size of the table. */
export const takesLong = (statement: PlannedStatement): boolean =>
  statement.rewrites_table || scansUnderLock(statement) || statement.preparable?.kind === 'copy';
