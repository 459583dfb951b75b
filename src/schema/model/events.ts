/*
 * The events of the log and their payloads. `upcasting.ts` upcasts old versions, which are never rewritten.
 * `event-schemas.ts` declares which types the schema's fold ignores.
 */
import type { Operation } from 'fast-json-patch';
import type { Backfill } from './backfill.js';
import type { Collection, Field, NewRelation } from './model.js';
import type { ObjectKind, ObjectName } from './objects.js';
import type { SchemaObject } from './object-document.js';
import type { Json } from '../../kernel/json.js';
import type { Identity } from './state.js';
import type { Policy } from './policy.js';
import type { ServiceEventData } from './service-events.js';
import type { ProposingCredential, TrustRule, UsedCredential } from './token-scope.js';
import type { Warning } from '../../kernel/problem.js';

/** A position in the log with the hash of its event. The hash is null if only the position was known. */
export interface LogPosition {
  position: number;
  hash: string | null;
}

/** Describes a log that is shorter than the log seen before, or differs from it. */
export interface Divergence {
  /** The newest position that was seen before and that the log no longer contains. */
  seen: LogPosition;
  /** The end of the current log. */
  found: LogPosition;
  /**
   * Position of the newest event that is known to be in both logs. No event up to this position is lost. The log may
   * have continued since then, so the position can be before `found`. Null if no common event is known.
   */
  fork?: number | null;
  /** ISO 8601. */
  noticed_at: string;
}

/* Payloads of events about change requests. The subject is the request: `{ kind: 'change', id: uuid }`. */

interface ChangeEventData {
  'change.opened': ChangeOpened;
  /** Changes the title, the reason or the requested change. */
  'change.updated': ChangeUpdated;
  /** `comment` is the hash of the document with the text, here and below. */
  'change.commented': { comment: string };
  /** Approves exactly this plan. `complete`: the number of approvals that the policy requires is reached. */
  'change.approved': { plan: string; complete: boolean; comment?: string } & ApprovedView;
  'change.rejected': { comment?: string };
  /** Schedules the change for this time (ISO 8601, UTC) by the database's clock. The actor of this event applies it. */
  'change.scheduled': { at: string };
  /**
   * From now on, only this request may change the tables of `collections`, until the request ends. `apply`: the actor
   * of this event wants the request applied once it is prepared.
   */
  'change.preparing': { collections: string[]; steps: ChangeStep[]; warnings?: Warning[]; apply?: boolean };
  'change.prepared': { steps: { key: string; milliseconds: number }[] };
  /**
   * The last event of the batch that changes the schema. `findings` contains the locations, by code, of findings that
   * the policy required to be approved. Absent if there are none. `purge` and `acknowledge` are the parts of a reviewed
   * plan that the other events of the batch do not show.
   */
  'change.applied': {
    findings?: ApprovedView['findings'];
    purge?: boolean;
    acknowledge?: { code: string; place: string }[];
  };
  /** The document contains the reasons. `code`: the code of the first problem. */
  'change.failed': { code: string; document: string };
  'change.withdrawn': Record<string, never>;
}

/** The view of the plan that the approver had, and how the approver was signed in. */
export interface ApprovedView extends UsedCredential {
  /** True if the request was to be prepared online when it was approved. */
  online: boolean;
  /** Locations of the findings by code: `{ "LOSES_DATA": ["articles.body"] }`. */
  findings: Record<string, string[]>;
  /** Locations of deleted objects that the trash would keep. */
  kept: string[];
}

/** The requested change. */
interface ChangeOpened {
  /** The name of the operation: `update-fields`. */
  operation: string;
  /** Hex sha256 of the document with the requested change, which is stored outside the log. */
  document: string;
  /** True if slow work is prepared first. Without a proposal the change is then applied without review. */
  online: boolean;
  /** Names of the collections that the request changed when it was opened. */
  collections: string[];
  /** Present if the request needs a review. */
  proposal?: ChangeProposal;
  /** The change request that it reverts. */
  reverts?: string;
  /** Absent in events of earlier releases, and if the request needs no review. */
  proposed_with?: ProposingCredential;
}

interface ChangeProposal {
  title: string;
  /** The hash of the proposed plan. */
  plan: string;
  /** Position of the schema for which the plan was decided. */
  base: number;
}

/** Absent members are unchanged. */
export interface ChangeUpdated extends Partial<ChangeProposal> {
  reason?: string | null;
  document?: string;
  online?: boolean;
  collections?: string[];
  /** Absent in events of earlier releases, and if only the text changes. */
  proposed_with?: ProposingCredential;
}

/** A unit of work that runs outside the transaction, before the change is applied. */
export interface ChangeStep {
  key: string;
  kind: string;
  collection: string;
  field: string | null;
  summary: string;
}

/**
 * Payloads of events that change the schema, newest version. `adopted`: the event only records what the database
 * already contained, and runs no statements.
 */
export interface SchemaEventData {
  /**
   * A collection with all its fields. `concurrent_indexes`: its indexes are built after the commit. `restored`: its
   * table comes from the trash. A replay of the log into another database creates it empty.
   */
  'collection.created': {
    collection: Collection;
    fields: Field[];
    concurrent_indexes?: boolean;
    restored?: RestoredCollection;
  };
  /** An existing table with all its columns. The event does not change the table. */
  'collection.adopted': { collection: Collection; fields: Field[] };
  /** An RFC 6902 patch of the collection's normal form. */
  'collection.updated': { patch: Operation[]; adopted?: boolean };
  /** The trash keeps the table until `kept_until`. Without that member it was dropped immediately. */
  'collection.deleted': KeptTable & { adopted?: boolean };
  /** The `collection` of the event is the former name. */
  'collection.renamed': RenameData;
  /** `backfill`: the value that rows get if the field is null. The state does not depend on it. */
  'field.created': { field: Field; restored?: RestoredField } & ColumnOptions;
  /** An RFC 6902 patch of the field's normal form. */
  'field.updated': { patch: Operation[] } & ColumnOptions;
  /** The trash keeps the values until `kept_until`. Without that member they were dropped with the column. */
  'field.deleted': KeptData & { adopted?: boolean };
  /** The `field` of the event is the former name. */
  'field.renamed': RenamedField;
  /** The relation's id is the position of this event. */
  'relation.created': { relation: NewRelation; adopted?: boolean };
  /** An RFC 6902 patch of the relation without its id. */
  'relation.updated': { patch: Operation[]; adopted?: boolean };
  'relation.deleted': { adopted?: boolean };
}

type ColumnOptions = { concurrent_indexes?: boolean; adopted?: boolean; backfill?: Backfill };

/** Payloads of events about objects other than tables, newest version. The subject is the object: `{ kind: 'view', id }`. */
export interface ObjectEventData {
  'object.created': { object: SchemaObject; adopted?: boolean };
  /**
   * An RFC 6902 patch of the object. `caused_by`: PostgreSQL itself changed the definition while it carried out the
   * event at this position, for example a rename.
   */
  'object.updated': { patch: Operation[]; caused_by?: number; adopted?: boolean };
  /** The subject has the former id. The patch replaces the name in the definition. */
  'object.renamed': { to: string; patch: Operation[] };
  'object.deleted': { adopted?: boolean };
}

/** The data of an event that moves an object to the trash. */
interface KeptData {
  /** ISO 8601, by the database's clock. The trash may be purged from this time on. */
  kept_until?: string;
}

/** The greatest number of shared trash schemas. */
export const MOST_SHARED = 32;

/**
 * Describes objects of a table that are not part of the schema and cannot follow the table into the trash. A restore
 * does not recreate them.
 */
export interface KeptTable extends KeptData {
  /** The number of the shared trash schema. Absent for a separate schema, named after the event's position. */
  kept_in?: number;
  /** Names of the publications that contained the table. */
  publications?: string[];
  /** Manually created foreign keys to other tables. `definition` is from pg_get_constraintdef. */
  foreign_keys?: { name: string; definition: string }[];
}

/** Describes what an event restores from the trash. A restored object keeps its identity. */
export interface RestoredField {
  /** Position of the event that deleted the object or its collection. */
  position: number;
  identity: Identity;
  /** True if the object was created empty, because the database was created from its log and the trash had no data. */
  empty?: boolean;
}

/** Returns what an event restores from the trash, or undefined. */
export const readRestored = <R extends RestoredField>({ restored }: { restored?: R }): R | undefined =>
  restored?.empty === true ? undefined : restored;

export interface RestoredCollection extends RestoredField {
  /** The name that the collection had when it was deleted. Its table has this name in the trash. */
  name: string;
  /** The number of the shared trash schema, as in the event of the deletion. */
  kept_in?: number;
  /** The identities of the event's fields, in their order. */
  fields: Identity[];
}

/**
 * Describes a rename. The fold replaces each member of a document that equals the old name. The event contains patches
 * for texts, so that the fold never parses SQL.
 */
interface RenameData {
  to: string;
  /** Names of other collections that the rename changes. */
  touches?: string[];
  /** Further changes: SQL and templates that mention the old name, and names derived from it. */
  patches?: DocumentPatch[];
  adopted?: boolean;
}

/** `inherited`: PostgreSQL renames the column with its parent's. The event renames only constraints and indexes. */
interface RenamedField extends RenameData {
  inherited?: boolean;
}

/** An RFC 6902 patch of a collection, its `field`, or the relation of its field `relation`. All names are new ones. */
export interface DocumentPatch {
  collection: string;
  field?: string;
  relation?: string;
  patch: Operation[];
}

/** Payloads of events that the schema's fold ignores, newest version. */
export interface OtherEventData extends ChangeEventData, ServiceEventData {
  /**
   * Acknowledges that the log is not the one that was seen before, so that it can continue. `previous_origin` is the
   * origin of earlier checkpoints. Later checkpoints use this event as origin.
   */
  'log.acknowledged': { divergences: Divergence[]; previous_origin?: string };
  /**
   * Names the events whose personal data was erased, as ordered ranges that include both ends. The subject of this
   * event is the actor of all of them.
   */
  'log.erased': { positions: [from: number, to: number][] };
  /**
   * Purges what the deletion at `position` left in the trash. The collection and field of the event are the names at
   * the time of the deletion. `expired` is true if the retention period was over. Otherwise a user requested the purge.
   */
  'trash.purged': { position: number; expired?: boolean; kept_in?: number };
  /** The complete policy, which applies from the next batch on. */
  'policy.updated': { policy: Policy };
  /** Contains all trust rules, in the order in which they are tried. */
  'trust.updated': { rules: TrustRule[] };
}

interface EventData extends SchemaEventData, ObjectEventData, OtherEventData {}

export type SchemaEventType = keyof SchemaEventData;
export type ObjectEventType = keyof ObjectEventData;
export type EventType = keyof EventData;

/** The subject of an event other than a collection: `{ kind: 'log', id: '42' }`. */
export interface EventSubject {
  kind: string;
  id: string;
}

export const LOG_ERASED = 'log.erased';

/** The kind of the subject of an erasure. */
export const ERASURE = 'erasure';

/** The subject of an erasure: the id of the actor whose events were erased. */
export const erasureSubject = (actor: string): EventSubject => ({ kind: ERASURE, id: actor });

/** The subject of events that remove something from the trash: the position of its deletion. */
export const trashSubject = (position: number): EventSubject => ({ kind: 'trash', id: String(position) });

/** A schema event before it has a position in the log. */
export type NewEvent = {
  [T in SchemaEventType]: {
    type: T;
    /** Version of the payload, from 1. */
    version: number;
    collection: string;
    /** The field, or the many field of a relation. Null for collection events. */
    field: string | null;
    data: SchemaEventData[T];
    /** A further subject. */
    subject?: EventSubject | undefined;
  };
}[SchemaEventType];

/** An event about an object other than a table, which changes no collection. */
export type ObjectEvent = {
  [T in ObjectEventType]: {
    type: T;
    version: number;
    collection: null;
    field: null;
    data: ObjectEventData[T];
    subject: { kind: ObjectKind; id: string };
  };
}[ObjectEventType];

/** An event that changes the schema. */
export type SchemaEvent = NewEvent | ObjectEvent;

/** An event that the schema's fold ignores. It may still concern a collection. */
export type OtherEvent = {
  [T in keyof OtherEventData]: {
    type: T;
    version: number;
    collection: string | null;
    field: string | null;
    data: OtherEventData[T];
    subject?: EventSubject | undefined;
  };
}[keyof OtherEventData];

export type LogEvent = SchemaEvent | OtherEvent;

/** The actor of an event. `id` is the id of an account, or `dps` or `service`. */
export interface Actor {
  id: string;
  /** Null if it was erased. */
  name: string | null;
}

/** Returns the name of an actor for display. */
export const actorName = ({ id, name }: Actor): string => name ?? `erased user ${id.slice(0, 8)}`;

/** The cause of a batch of events. */
export interface Cause {
  actor: Actor;
  /** The name of the command: `create-collection`. */
  command: string;
  reason: string | null;
  request_id: string | null;
  ip: string | null;
  user_agent: string | null;
  /** Further context. `traceparent` is the trace of the request (W3C Trace Context). */
  context?: Context | undefined;
}

export type Context = Readonly<Record<string, Json>>;

export type StoredEvent = LogEvent &
  Cause & {
    /** 1, 2, 3 …, without gaps. */
    position: number;
    /** uuid */
    id: string;
    /** uuid of the accepted command that appended the event. */
    batch: string;
    /** ISO 8601, UTC, milliseconds. Never before the time of an earlier position. */
    occurred_at: string;
    /** Hex. Null if the personal data of the event was erased. */
    salt: string | null;
    /** sha256 of the salt and the personal data, hex. */
    commitment: string;
    /** sha256, hex. 64 zeros for the first event. */
    previous_hash: string;
    /** Hex sha256 of the event in canonical form, including previous_hash. */
    hash: string;
  };

/** Creates an event of version 1. @param field null for a collection event */
export const newEvent = <T extends EventType>(
  type: T,
  collection: string,
  field: string | null,
  data: EventData[T],
): NewEvent => ({ type, version: 1, collection, field, data }) as NewEvent;

/** True if PostgreSQL itself made the change while it carried out another event of the batch. */
export const isConsequence = (event: Pick<LogEvent, 'type' | 'data'>): boolean =>
  event.type === 'object.updated' && 'caused_by' in event.data;

/** Creates an event of version 1. */
export const newObjectEvent = <T extends ObjectEventType>(
  type: T,
  { kind, id }: ObjectName,
  data: ObjectEventData[T],
): ObjectEvent =>
  ({ type, version: 1, collection: null, field: null, data, subject: { kind, id } }) as unknown as ObjectEvent;

/** True for renames of collections and fields. Relations have no names of their own. */
export const isRename = <E extends { type: string }>(
  event: E,
): event is E & { type: 'collection.renamed' | 'field.renamed' } =>
  event.type === 'collection.renamed' || event.type === 'field.renamed';

/** True for a patch of a collection or a field that leaves the table unchanged. */
export const isMetaOnly = (patch: readonly { path: string }[]): boolean =>
  patch.every(({ path }) => path.startsWith('/meta/'));

/** True for deletions of collections and fields, whose data the trash may keep. */
export const isDeletion = <E extends { type: string }>(
  event: E,
): event is E & { type: 'collection.deleted' | 'field.deleted' } =>
  event.type === 'collection.deleted' || event.type === 'field.deleted';

/** True if the database already had the change. Not set for `collection.adopted`, because it changes nothing. */
export const isAdopted = ({ data }: Pick<LogEvent, 'data'>): boolean => 'adopted' in data && data.adopted === true;
