/**
 * Findings about planned changes. A rule is a pure function of an event, its statements and the statistics of their
 * tables. It contains its documentation, from which `docs/findings` is generated.
 */
import type { Warning } from '../../kernel/warning.js';
import type { NewEvent } from '../model/events.js';
import type { Field, Relation } from '../model/model.js';
import type { CollectionNode, State } from '../model/state.js';
import type { TypeLookup } from './types-used.js';
import type { PlannedStatement } from './planned-statement.js';

/** Ascending. `note`: for information. `warn`: needs attention. `danger`: blocks others or loses data permanently. */
export const LEVELS = ['note', 'warn', 'danger'] as const;
export type Level = (typeof LEVELS)[number];

/** Another method with the same result. */
export interface SaferWay {
  /** One or two sentences for people. */
  text: string;
  /** The alternative request. Absent if it takes several requests or a decision. */
  request?: SafeRequest;
}

export interface SafeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Including its query: `/fields/articles/title?online`. */
  path: string;
  body?: unknown;
}

/** Statistics of PostgreSQL about a table. */
export interface TableStatistics {
  /** Null if unknown. */
  bytes: number | null;
  /** An estimate. Null if there is none. */
  rows: number | null;
  /** Seconds since the last ANALYZE. Null if it was counted. */
  age: number | null;
  /** Counted scans and written rows. 0 if the table is unused. Null if unknown. */
  uses?: number | null;
}

/** An object outside the schema that depends on a table or column: a view, rule, policy or function. */
export interface Dependent {
  kind: string;
  name: string;
  table: string;
  /** Null for the whole table. */
  column: string | null;
}

/** Names of the finding in similar tools. */
export interface Aliases {
  squawk?: readonly string[];
  strong_migrations?: readonly string[];
  atlas?: readonly string[];
}

/** A finding about a change: location, level, reason and alternative. */
export interface Finding extends Warning {
  level: Level;
  /** The object within the collection, if it is no field: a constraint or index. */
  object?: { kind: string; name: string };
  /** Index of the planned event. Absent if it concerns none or several. */
  event?: number;
  /** Index of the planned statement. */
  statement?: number;
  /** The general reason of the rule. */
  why: string;
  safer?: SaferWay;
  /** `squawk:ban-char-field` */
  aliases: readonly string[];
  /** The statistics behind the level. Null if there are none. Absent if the level does not depend on the table. */
  statistics?: TableStatistics | null;
  /** All locations of a grouped finding. The first is its own. */
  places?: readonly { collection: string; field?: string }[];
}

/** The documentation of a rule in plain sentences, in Markdown. */
interface RuleText {
  /** A stable part of the interface. */
  code: string;
  /** A few words: `Table rewrite`. */
  title: string;
  /** Describes what the rule finds. */
  what: string;
  /** Why it matters, in one or two sentences. Every finding contains them. */
  why: string;
  /** The alternative. */
  safer: string;
  /** A request with the finding, and one without. */
  example?: { unsafe: string; safe?: string };
  aliases?: Aliases;
  /** Describes what the level depends on. Absent if it is fixed. */
  levels?: string;
}

export interface Rule extends RuleText {
  /** The level unless a check overrides it. */
  level: Level;
  /** True if the rule checks the resulting schema, however it came about. It then also applies to adopted objects. */
  standing?: boolean;
  /** True if it only occurs while a document is read. A policy can hide it, but not block a change with it. */
  shownOnly?: boolean;
  /** Checks each statement of a plan. */
  statement?: (statement: PlannedStatement, planned: PlannedEvent) => Observed | undefined;
  /** Checks each created or changed field, including those of new collections. */
  field?: (change: FieldChange, planned: PlannedEvent) => Observed | undefined;
  /** Checks each created or changed relation. */
  relation?: (change: RelationChange, planned: PlannedEvent) => Observed | undefined;
  /** Checks each event. */
  event?: (planned: PlannedEvent) => Observed | readonly Observed[] | undefined;
}

/** The result of a check. Absent members default to those of the event or rule. */
export interface Observed {
  /** One sentence for people that contains the names. */
  message: string;
  level?: Level;
  collection?: string;
  field?: string | null;
  object?: { kind: string; name: string };
  safer?: SaferWay;
  /** The statistics behind the level. */
  statistics?: TableStatistics | null;
}

export interface FieldChange {
  /** Undefined for a new field. */
  old: Field | undefined;
  now: Field;
}

export interface RelationChange {
  /** Undefined for a new relation. */
  old: Relation | undefined;
  now: Relation;
}

/** A planned event with its context. */
export interface PlannedEvent {
  event: NewEvent;
  index: number;
  /** True if the event only records the database as it was. Only rules about the resulting schema apply. */
  found: boolean;
  /** The collection before and after the whole batch. Undefined where it does not exist. */
  before: CollectionNode | undefined;
  after: CollectionNode | undefined;
  /** The name of the event's field before the batch. Empty if it has none. */
  formerField: string;
  statements: readonly IndexedStatement[];
  batch: ReviewedBatch;
}

/** A statement with its index in the plan. */
export interface IndexedStatement {
  index: number;
  statement: PlannedStatement;
}

/** Data about the whole plan. */
export interface ReviewedBatch {
  before: State;
  after: State;
  /** Milliseconds that deleted objects would be kept. 0 if they are not kept, or if that was already checked. */
  keep: number;
  /** True if slow work is prepared outside the transaction and blocks nobody. */
  online: boolean;
  /** Tables with more rows must be changed online where possible. Null sets no limit. */
  onlineAboveRows: number | null;
  /** True if the batch creates the table, so that nobody uses it yet. */
  isNew(table: string): boolean;
  /** Undefined if unknown. By the table's name before the batch. */
  statistics(table: string): TableStatistics | undefined;
  /** Objects outside the schema that depend on the table or its columns. */
  dependents(table: string): readonly Dependent[];
  /** Types and collations that are missing or must not be used. */
  types: TypeLookup;
}

export type { Field, Relation };
