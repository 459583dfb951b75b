import type { ObjectEvent, SchemaEvent } from '../../schema/model/events.js';
import type { ObjectName } from '../../schema/model/objects.js';
import type { Statement } from '../../projector/ddl/step.js';
import type { Json } from '../../kernel/json.js';

export interface Drift {
  /** True if nothing is missing or different. Unmanaged tables are not drift. */
  ok: boolean;
  /** Ordered by name. */
  tables: TableDrift[];
  /** The names of unmanaged tables, which can be adopted. */
  unmanaged: string[];
  /** The same tables, except those in unmanaged schemas, ordered by name. */
  unmanaged_tables: UnmanagedTable[];
  /** Objects other than tables that differ, ordered by kind and id. Absent if the instance manages only tables. */
  objects?: ObjectDrift[];
  /** Unmanaged objects other than tables, which can be adopted. Absent if the instance manages only tables. */
  unmanaged_objects?: ObjectName[];
}

export interface UnmanagedTable {
  table: string;
  /** PostgreSQL's estimate, with the rows of partitions. Null without statistics. */
  rows: number | null;
  /** The partitioned table, if it is in a managed schema. */
  partition_of?: string;
}

export interface ObjectDrift {
  object: ObjectName;
  kind: 'missing' | 'different';
  differences: Pick<DriftDifference, 'member' | 'expected' | 'found'>[];
  /** Two ways to end all differences of the object: in the database or in the log. */
  repair: {
    database: RepairStatement[];
    log: Pick<ObjectEvent, 'type' | 'collection' | 'field' | 'data' | 'subject'>[];
  };
}

export interface TableDrift {
  table: string;
  kind: 'missing' | 'different' | 'not wanted';
  /** The unmanaged table that probably is this table under another name. */
  renamed_to?: string;
  differences: DriftDifference[];
}

export interface DriftDifference {
  field?: string;
  /** The member: `column`, `schema.data_type`, `index articles_title_index`. */
  member: string;
  /** The value in the log. Null if there is none. */
  expected: Json;
  /** The value in the database. Null if there is none. */
  found: Json;
  /** The column that probably is this column under another name. */
  renamed_to?: string;
  /** Two ways to end the difference: in the database or in the log. */
  repair: Repair;
}

export interface Repair {
  /** Statements that change the database to match the log. */
  database: RepairStatement[];
  /** Events that change the log to match the database. */
  log: Pick<SchemaEvent, 'type' | 'collection' | 'field' | 'data'>[];
}

export interface RepairStatement {
  sql: string;
  summary: string;
  /** True if the statement drops an object or may lose values. It runs only if the request allows that. */
  drops: boolean;
  /** The tables that inherit the column, so that they lose it too. The request must allow that separately. */
  inherited_by?: string[];
}

/**
 * `object` is the subject of the statement. `field` is null if the statement concerns the table as a whole.
 * `losesColumn` is true if the statement drops a column with its values.
 */
export type PlannedRepair = RepairStatement & { field: string | null; losesColumn?: boolean } & Pick<
    Statement,
    'object' | 'ensures'
  >;

export interface RepairPlan {
  statements: PlannedRepair[];
  events: SchemaEvent[];
}
