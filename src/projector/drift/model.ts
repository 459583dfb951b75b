/** Drift: where PostgreSQL's catalog isn't what the log says. */
import type { NewEvent } from '../../schema/model/events.js';
import type { Statement } from '../ddl/statement.js';
import type { Json } from '../../kernel/json.js';

export interface Drift {
  /** Nothing is missing or different. Unmanaged tables are no drift. */
  ok: boolean;
  /** By name. */
  tables: TableDrift[];
  /** Unmanaged tables, by name: adopt them, or leave them. */
  unmanaged: string[];
}

export interface TableDrift {
  table: string;
  kind: 'missing' | 'different' | 'not wanted';
  /** The unmanaged table that looks like this one: probably it under another name. */
  renamed_to?: string;
  differences: DriftDifference[];
}

export interface DriftDifference {
  field?: string;
  /** What of it: `column`, `schema.data_type`, `index articles_title_index`. */
  member: string;
  /** What the log says; null: nothing of the kind. */
  expected: Json;
  /** What is there; null: nothing of the kind. */
  found: Json;
  /** The column that looks like this one: probably it under another name. */
  renamed_to?: string;
  /** What would end the difference, in the database or in the log. */
  repair: Repair;
}

export interface Repair {
  /** Statements that make the database as the log says. */
  database: RepairStatement[];
  /** Events that make the log say what is there. */
  log: Pick<NewEvent, 'type' | 'collection' | 'field' | 'data'>[];
}

export interface RepairStatement {
  sql: string;
  summary: string;
  /** It drops an object, or converts values that may not come back: run only where the caller allows it. */
  drops: boolean;
}

/** What would make the log and the table alike. */
/** `object`: what it is for. `field`: null for what is about the table as a whole. */
export type PlannedRepair = RepairStatement & { field: string | null } & Pick<Statement, 'object' | 'ensures'>;

export interface RepairPlan {
  statements: PlannedRepair[];
  events: NewEvent[];
}
