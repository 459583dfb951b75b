/**
 * What a reviewer should know of a planned change. A rule is a pure function over an event, its statements and the
 * statistics of their tables; it carries its own documentation, of which `docs/findings` is made.
 */
import type { Warning } from '../../kernel/warning.js';
import type { NewEvent } from '../model/events.js';
import type { Collection, Field, Relation } from '../model/model.js';
import type { CollectionNode, State } from '../model/state.js';
import type { TypeLookup } from './types-used.js';
import type { PlannedStatement } from './planned-statement.js';

/** Ascending. `note`: good to know. `warn`: look at it. `danger`: others are held up, or something is gone for good. */
export const LEVELS = ['note', 'warn', 'danger'] as const;
export type Level = (typeof LEVELS)[number];

/** Another way to the same end. */
export interface SaferWay {
  /** One or two sentences for people. */
  text: string;
  /** What to send instead; absent where it takes more than one request, or a decision. */
  request?: SafeRequest;
}

export interface SafeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With its query: `/fields/articles/title?online`. */
  path: string;
  body?: unknown;
}

/** A table as PostgreSQL's statistics have it. */
export interface TableStatistics {
  /** null: not known. */
  bytes: number | null;
  /** An estimate; null: there is none. */
  rows: number | null;
  /** Seconds since it was made (the last ANALYZE); null: it was counted on the way. */
  age: number | null;
  /** Scans, and rows written, as far as they are counted; 0: nobody has used it since. Null: not known. */
  uses?: number | null;
}

/** Something outside the schema that PostgreSQL keeps to a table or a column: a view, a rule, a policy, a function. */
export interface Dependent {
  kind: string;
  name: string;
  table: string;
  /** null: the table as a whole. */
  column: string | null;
}

/** How other tools of this field call what a rule finds. */
export interface Aliases {
  squawk?: readonly string[];
  strong_migrations?: readonly string[];
  atlas?: readonly string[];
}

/** Something to know of a change: where, how bad, why, and what could be done instead. */
export interface Finding extends Warning {
  level: Level;
  /** What in the collection, where that is no field: a constraint, an index. */
  object?: { kind: string; name: string };
  /** Index of the planned event that it is about; absent: it is about none, or about several. */
  event?: number;
  /** Index of the planned statement. */
  statement?: number;
  /** Why it matters, whatever it is about. */
  why: string;
  safer?: SaferWay;
  /** `squawk:ban-char-field` */
  aliases: readonly string[];
  /** What the level is by; absent: it doesn't depend on the table. Null: there are no statistics. */
  statistics?: TableStatistics | null;
  /** Further places that the same is true of, the first being its own. */
  places?: readonly { collection: string; field?: string }[];
}

/** What is said of a rule, in plain sentences. Markdown is allowed. */
export interface RuleText {
  /** Stable: part of the interface. */
  code: string;
  /** A few words: `Table rewritten`. */
  title: string;
  /** What is found. */
  what: string;
  /** Why it matters. One or two sentences: it stands in every finding. */
  why: string;
  /** What to do instead. */
  safer: string;
  /** A request that is found, and one that is not. */
  example?: { unsafe: string; safe?: string };
  aliases?: Aliases;
  /** What the level depends on; absent: on nothing. */
  levels?: string;
}

export interface Rule extends RuleText {
  /** Where a check says no other. */
  level: Level;
  /** It is about what is there then, however it came: it holds for what is adopted too. */
  standing?: boolean;
  /** It is only noticed where a document is read: a policy can show it or not, and stop nothing by it. */
  shownOnly?: boolean;
  /** Of each statement of a plan. */
  statement?: (statement: PlannedStatement, planned: PlannedEvent) => Observed | undefined;
  /** Of each field that an event makes or changes; those that come with a new collection too. */
  field?: (change: FieldChange, planned: PlannedEvent) => Observed | undefined;
  /** Of each relation that an event makes or changes. */
  relation?: (change: RelationChange, planned: PlannedEvent) => Observed | undefined;
  /** Of each event. */
  event?: (planned: PlannedEvent) => Observed | readonly Observed[] | undefined;
}

/** What a check saw. What it leaves out is the event's, or the rule's. */
export interface Observed {
  /** One sentence for people, with the names. */
  message: string;
  level?: Level;
  collection?: string;
  field?: string | null;
  object?: { kind: string; name: string };
  safer?: SaferWay;
  /** What the level is by. */
  statistics?: TableStatistics | null;
}

export interface FieldChange {
  /** Undefined: it is new. */
  old: Field | undefined;
  now: Field;
}

export interface RelationChange {
  /** Undefined: it is new. */
  old: Relation | undefined;
  now: Relation;
}

/** An event of a plan, with what there is to know of it. */
export interface PlannedEvent {
  event: NewEvent;
  index: number;
  /** The database was so before: only what is there then matters, not how it came. */
  found: boolean;
  /** The collection, before and after the whole batch; undefined: it isn't there. */
  before: CollectionNode | undefined;
  after: CollectionNode | undefined;
  /** What the event's field was called before the batch; empty: it is about none. */
  formerField: string;
  statements: readonly IndexedStatement[];
  batch: ReviewedBatch;
}

/** A statement, and its index in the plan. */
export interface IndexedStatement {
  index: number;
  statement: PlannedStatement;
}

/** What is planned together. */
export interface ReviewedBatch {
  before: State;
  after: State;
  /** Milliseconds that what is deleted would be kept; 0: it isn't, or that was looked into. */
  keep: number;
  /** What can be prepared is prepared outside the transaction, and makes nobody wait. */
  online: boolean;
  /** What can be prepared has to be, where its table has more rows; null: as one likes. */
  onlineAboveRows: number | null;
  /** Whether a table is made by the batch: nobody uses it yet. */
  isNew(table: string): boolean;
  /** Undefined: not known. By the name that the table has before the batch. */
  statistics(table: string): TableStatistics | undefined;
  /** What outside the schema needs a table or one of its columns. */
  dependents(table: string): readonly Dependent[];
  /** Types and collations that are missing or must not be used. */
  types: TypeLookup;
}

export type { Collection, Field, Relation };
