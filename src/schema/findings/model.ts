/*
 * Findings about planned changes. A rule is a pure function of an event, its statements and the statistics of their
 * tables. It contains its documentation, from which `docs/findings` is generated.
 */
import type { Warning } from '../../kernel/problem.js';
import {
  type NewEvent,
  type EventType,
  type LogEvent,
  type ObjectEvent,
  type SchemaEvent,
  readRestored,
} from '../model/events.js';
import type { Field, Relation } from '../model/model.js';
import { type ObjectName, PUBLIC, objectKey } from '../model/objects.js';
import type { SchemaObject } from '../model/object-document.js';
import { objectNameParts } from '../model/object-ids.js';
import type { CollectionNode, State } from '../model/state.js';
import { columnType, dataType, isExtensionType } from '../sql-text/data-types.js';
import { extensionsWith } from '../sql-text/allowed-names.js';
import { parseTypeText } from '../sql-text/expression.js';
import { parseDefinition } from '../sql-text/object-definition.js';
import type { Need } from '../model/extras.js';
import { needsOfNode, schemaOfNeed } from '../model/order.js';

/* The members of a planned statement that rules use. The statements of src/projector/ddl have these members. */

interface PlannedObject {
  kind: string;
  name: string;
  /** The table of the object. Null for a table, and for objects outside tables. */
  table: string | null;
}

export interface PlannedStatement {
  sql: string;
  /** A phrase for display: `create table articles`. */
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
export const isSizeDependent = (statement: PlannedStatement): boolean =>
  statement.rewrites_table || scansUnderLock(statement) || statement.preparable?.kind === 'copy';

/* The types and collations that planned events use. They must exist in the database. */

export interface TypeUse {
  kind: 'type' | 'collation';
  /** The type as written in the definition of the column. */
  text: string;
  collection: string;
  /** The column. Absent if the type is the base type of a domain in `needs`. */
  field?: string;
}

/** A type that does not exist, or is the row type of a relation in another PostgreSQL schema. */
export interface TypeFacts {
  isMissing: boolean;
  /** The relation in another schema whose row type the type is or contains. Null if there is none. */
  relation: string | null;
}

/** Undefined if the type exists and may be used. */
export type TypeLookup = ReadonlyMap<string, TypeFacts>;

export const typeKey = ({ kind, text }: Pick<TypeUse, 'kind' | 'text'>): string => `${kind} ${text}`;

/** Returns types that an event introduces. Types of restored objects already exist. */
export function typesUsed(event: LogEvent, after: State): TypeUse[] {
  if (event.collection === null) return [];
  const node = after.collections.get(event.collection);
  if (node === undefined) return [];
  return [
    ...fieldsIn(event, node).flatMap((field) => usesOfColumn(field, node, after)),
    ...usesOfDomains(event, node, after),
  ];
}

function fieldsIn(event: LogEvent, { fields }: CollectionNode): Field[] {
  if (event.type === 'collection.created') return readRestored(event.data) === undefined ? [...fields.values()] : [];
  if (event.type === 'field.created' && readRestored(event.data) !== undefined) return [];
  if (event.type !== 'field.created' && event.type !== 'field.updated') return [];
  const field = fields.get(event.field ?? '');
  return field === undefined ? [] : [field];
}

function usesOfColumn({ collection, field, schema }: Field, node: CollectionNode, after: State): TypeUse[] {
  if (schema === null) return [];
  const collation = schema.extras?.collation;
  const isOrdinary = dataType(schema.data_type) !== undefined && !isExtensionType(schema.data_type);
  return [
    ...(isOrdinary ? [] : typeUse(columnType(schema), { collection, field }, { node, after })),
    ...(collation === undefined || isNeeded(node, 'collation', collation)
      ? []
      : [{ kind: 'collation' as const, text: collation, collection, field }]),
  ];
}

function usesOfDomains(event: LogEvent, node: CollectionNode, after: State): TypeUse[] {
  if (event.type !== 'collection.created' && event.type !== 'collection.updated') return [];
  if (event.type === 'collection.created' && readRestored(event.data) !== undefined) return [];
  const location = { collection: node.collection.collection };
  return needsOfNode(node).flatMap((need) =>
    need.kind === 'domain' ? typeUse(need.type, location, { node, after }) : [],
  );
}

function typeUse(
  text: string,
  location: Pick<TypeUse, 'collection' | 'field'>,
  { node, after }: { node: CollectionNode; after: State },
): TypeUse[] {
  const parsed = parseTypeText(text);
  if (parsed === null || (dataType(parsed.name) !== undefined && !isExtensionType(parsed.name))) return [];
  const { name } = parsed;
  const isMade =
    isNeeded(node, 'enum', name) ||
    isNeeded(node, 'domain', name) ||
    after.collections.has(name) ||
    after.objects.has(objectKey({ kind: 'type', id: name })) ||
    extensionsWith('types', name).some((extension) => isNeeded(node, 'extension', extension));
  return isMade ? [] : [{ kind: 'type', text, ...location }];
}

/** True if the change creates the missing type itself. */
const isNeeded = (node: CollectionNode, kind: string, name: string): boolean =>
  needsOfNode(node).some((need) => need.kind === kind && nameOfNeed(need) === name);

/** Returns the name of a needed type in the form that column types use. */
function nameOfNeed(need: Need): string {
  const schema = schemaOfNeed(need);
  return schema === undefined ? need.name : `${schema}.${need.name}`;
}

/** Returns the roles that an object names. Only policies and privileges name roles. */
export function rolesOf({ kind, id, definition }: SchemaObject): readonly string[] {
  if (kind === 'privileges') return [objectNameParts({ kind, id }).name].filter((role) => role !== PUBLIC);
  const parsed = kind === 'policy' ? parseDefinition(definition) : '';
  return typeof parsed === 'string' ? [] : (parsed.policy?.roles ?? []);
}

/**
 * Listed in ascending order. `note`: for information. `warn`: needs attention. `danger`: blocks others or loses data
 * permanently.
 */
export const LEVELS = ['note', 'warn', 'danger'] as const;
export type Level = (typeof LEVELS)[number];

/** Another method with the same result. */
export interface SaferWay {
  /** One or two sentences for display. */
  text: string;
  /** The alternative request. Absent if it takes several requests or a decision. */
  request?: SafeRequest;
}

export interface SafeRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Includes the query: `/fields/articles/title?online`. */
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
  /** True for an object of the schema. Its own changes are part of the plan. */
  isManaged: boolean;
}

/** A table that inherits from another table or is a partition of it. All names are those before the plan. */
export interface Inheritance {
  /** The collection of the child, or `locationKey` of an unmanaged table. */
  child: string;
  /** Written like `child`. */
  parent: string;
  /** The name of the child and of the parent for display. */
  childName: string;
  parentName: string;
  isPartition: boolean;
  /** The columns that the parent determines. */
  columns: readonly string[];
  /** The columns whose NOT NULL constraint is inherited too. */
  notNull: readonly string[];
  /** The names of inherited CHECK constraints. */
  checks: readonly string[];
}

/** Names that similar tools use for the finding. */
export interface Aliases {
  squawk?: readonly string[];
  strong_migrations?: readonly string[];
  atlas?: readonly string[];
}

/** A finding about a change: location, level, reason and alternative. */
export interface Finding extends Warning {
  level: Level;
  /** The object within the collection, if it is not a field: a constraint or index. */
  object?: { kind: string; name: string };
  /** Index of the planned event. Absent if the finding is about none or several events. */
  event?: number;
  /** Index of the planned statement that the finding is about. */
  statement?: number;
  /** The reason from the rule, equal for all findings of that rule. */
  why: string;
  safer?: SaferWay;
  /** Names of the finding in similar tools: `squawk:ban-char-field`. */
  aliases: readonly string[];
  /**
   * The statistics from which the level follows. Null if there are none. Absent if the level does not depend on the
   * table.
   */
  statistics?: TableStatistics | null;
  /** All locations of a grouped finding. The first one is also in `collection` and `field`. */
  places?: readonly { collection: string; field?: string }[];
}

/** The documentation of a rule in plain sentences, in Markdown. */
interface RuleText {
  /** The code of the finding. It is part of the stable interface. */
  code: string;
  /** A few words: `Table rewrite`. */
  title: string;
  /** Describes what the rule finds. */
  what: string;
  /** Why the finding matters, in one or two sentences. Every finding contains this text. */
  why: string;
  /** Describes a method with the same result that avoids the finding. */
  safer: string;
  /** A request with the finding, and one without. */
  example?: { unsafe: string; safe?: string };
  aliases?: Aliases;
  /** Describes what determines the level. Absent if the level is fixed. */
  levels?: string;
}

export interface Rule extends RuleText {
  /** The level unless a check overrides it. */
  level: Level;
  /**
   * True if the rule checks the resulting schema, independently of the change. It then also applies to adopted objects.
   */
  standing?: boolean;
  /**
   * True if the finding only occurs while a document is read. A policy can hide it, but cannot block a change because
   * of it.
   */
  shownOnly?: boolean;
  /** Checks each statement of a plan. */
  statement?: (statement: PlannedStatement, planned: PlannedEvent) => Observation | undefined;
  /** Checks each created or changed field, including those of new collections. */
  field?: (change: FieldChange, planned: PlannedEvent) => Observation | undefined;
  /** Checks each created or changed relation. */
  relation?: (change: RelationChange, planned: PlannedEvent) => Observation | undefined;
  /** Checks each created or changed object other than tables. */
  object?: (change: ObjectChange, planned: PlannedObjectEvent) => Observation | undefined;
  /** Checks each event about objects other than tables. */
  objectEvent?: (planned: PlannedObjectEvent) => Observation | Observation[] | undefined;
  /** Checks each event about tables. */
  event?: (planned: PlannedEvent) => Observation | readonly Observation[] | undefined;
}

/** The result of a check. Absent members default to those of the event or rule. */
export interface Observation {
  /** One sentence for display that contains the names. */
  message: string;
  level?: Level;
  collection?: string;
  field?: string | null;
  object?: { kind: string; name: string };
  safer?: SaferWay;
  /** The statistics from which the level follows. */
  statistics?: TableStatistics | null;
}

export interface FieldChange {
  /** Undefined for a new field. */
  old: Field | undefined;
  now: Field;
}

export interface ObjectChange {
  /** Undefined for a new object. */
  old: SchemaObject | undefined;
  now: SchemaObject;
}

export interface RelationChange {
  /** Undefined for a new relation. */
  old: Relation | undefined;
  now: Relation;
}

/** A planned event of any kind. */
export interface LocatedEvent {
  /** The collection is null for an event about an object other than a table. */
  event: Pick<SchemaEvent, 'collection' | 'field'>;
  index: number;
  batch: ReviewedBatch;
}

/** A planned event about an object other than a table. */
export interface PlannedObjectEvent extends LocatedEvent {
  event: ObjectEvent;
  /** True if the event only records what the database already contained. */
  found: boolean;
  /** The object before the batch. Undefined if the batch creates it. */
  old: SchemaObject | undefined;
}

/** A planned event about tables with its context. */
export interface PlannedEvent extends LocatedEvent {
  event: NewEvent;
  /**
   * True if the event only records what the database already contained. Only rules about the resulting schema apply.
   */
  found: boolean;
  /** The collection before and after the whole batch. Undefined where it does not exist. */
  before: CollectionNode | undefined;
  after: CollectionNode | undefined;
  /** The name of the event's field before the batch. Empty if it has none. */
  formerField: string;
  statements: readonly IndexedStatement[];
}

/** A statement with its index in the plan. */
export interface IndexedStatement {
  index: number;
  statement: PlannedStatement;
}

/** Facts about the whole plan. */
export interface ReviewedBatch {
  /** Returns the privileges on the table, view, function, sequence or type that a new object replaces. */
  privilegesBefore(object: ObjectName): readonly ObjectName[];
  before: State;
  after: State;
  /**
   * How long the trash would keep deleted objects (milliseconds). 0 if it keeps nothing, or if that was already
   * checked.
   */
  keep: number;
  /** True if slow work is prepared outside the transaction, where it blocks nobody. */
  online: boolean;
  /** Tables with more rows must be changed online where possible. Null sets no limit. */
  onlineAboveRows: number | null;
  /** True if the batch creates the table. No application uses such a table yet. */
  isNew(table: string): boolean;
  /** @param table its name before the batch. Undefined if there are no statistics. */
  statistics(table: string): TableStatistics | undefined;
  /** Objects outside the schema that depend on the table or its columns. */
  dependents(table: string): readonly Dependent[];
  /**
   * Returns the parents of a table. Known for altered tables and for their ancestors and descendants, by their names
   * before the batch.
   */
  parents(child: string): readonly Inheritance[];
  /** Returns the children of a table. Known for the same tables as `parents`. */
  children(parent: string): readonly Inheritance[];
  /** Types and collations that are missing or must not be used. */
  types: TypeLookup;
  /** Roles of policies that do not exist on the server. */
  missingRoles: ReadonlySet<string>;
  /** Returns the triggers, policies, rules and row security that were deleted in the batch of a deletion. */
  deletedWith(position: number): readonly ObjectName[];
}

export type { Field, Relation };
