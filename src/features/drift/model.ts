import type { ObjectEvent, SchemaEvent } from '../../schema/model/events.js';
import type { ObjectName } from '../../schema/model/objects.js';
import type { Statement } from '../../projector/ddl/step.js';
import type { Json } from '../../kernel/json.js';

export interface Drift {
  /** True if nothing is missing or different. Unmanaged tables are not drift. */
  ok: boolean;
  /** Ordered by name. */
  tables: TableDrift[];
  /** The names of unmanaged tables, which can be adopted or left alone. */
  unmanaged: string[];
  /** Objects other than tables that differ, ordered by kind and id. Absent if the instance does not manage them. */
  objects?: ObjectDrift[];
  /** Objects other than tables that can be adopted or left alone. Absent if the instance does not manage them. */
  unmanaged_objects?: ObjectName[];
}

export interface ObjectDrift {
  object: ObjectName;
  kind: 'missing' | 'different';
  differences: Pick<DriftDifference, 'member' | 'expected' | 'found'>[];
  /** Ends all differences of the object, in the database or in the log. */
  repair: {
    database: RepairStatement[];
    log: Pick<ObjectEvent, 'type' | 'collection' | 'field' | 'data' | 'subject'>[];
  };
}

export interface TableDrift {
  table: string;
  kind: 'missing' | 'different' | 'not wanted';
  /** The unmanaged table that is probably this one under another name. */
  renamed_to?: string;
  differences: DriftDifference[];
}

export interface DriftDifference {
  field?: string;
  /** The member: `column`, `schema.data_type`, `index articles_title_index`. */
  member: string;
  /** The value in the log; null if it has none. */
  expected: Json;
  /** The value in the database; null if it has none. */
  found: Json;
  /** The column that is probably this one under another name. */
  renamed_to?: string;
  /** Ways to end the difference, in the database or in the log. */
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
  /** True if the statement drops an object or may lose values. It runs only if the caller allows that. */
  drops: boolean;
  /** The tables that inherit the column, so they lose it too. The caller must allow that separately. */
  inherited_by?: string[];
}

/**
 * `object` is the subject of the statement. `field` is null if it concerns the table as a whole. `losesColumn` is true
 * if it drops a column with its values.
 */
export type PlannedRepair = RepairStatement & { field: string | null; losesColumn?: boolean } & Pick<
    Statement,
    'object' | 'ensures'
  >;

export interface RepairPlan {
  statements: PlannedRepair[];
  events: SchemaEvent[];
}
