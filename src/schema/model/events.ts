/**
 * The events of the log: what each type carries. Old versions are upcast in `upcasting.ts`, never rewritten. Whether the
 * schema's fold passes over a type is declared with its payloads in `event-schemas.ts`.
 */
import type { Operation } from 'fast-json-patch';
import type { Collection, Field, NewRelation } from './model.js';
import type { Json } from '../../kernel/json.js';
import type { Identity } from './state.js';
import type { Policy } from './policy.js';
import type { AccountEventData } from './account-events.js';
import type { ChangeEventData } from './change-events.js';
import type { Divergence } from './divergence.js';

export type * from './change-events.js';
export type { Divergence, LogPlace } from './divergence.js';

/** Payload per type of event that changes the schema, newest version. `adopted`: the database was so before, and nothing is done to it. */
export interface SchemaEventData {
  /**
   * A collection with all its fields. `concurrent_indexes`: its indexes are built after the commit. `restored`: its table
   * comes back from the trash, where there is one; in a log that is replayed it is made, and empty.
   */
  'collection.created': {
    collection: Collection;
    fields: Field[];
    concurrent_indexes?: boolean;
    restored?: RestoredCollection;
  };
  /** A table that was there before, with all its columns. Nothing is done to it. */
  'collection.adopted': { collection: Collection; fields: Field[] };
  /** An RFC 6902 patch of the collection's normal form. */
  'collection.updated': { patch: Operation[]; adopted?: boolean };
  /** Kept in the trash if it says until when; else its table was dropped at once. */
  'collection.deleted': KeptTable & { adopted?: boolean };
  /** The event's collection is the name that it had. */
  'collection.renamed': Renamed;
  'field.created': { field: Field; concurrent_indexes?: boolean; adopted?: boolean; restored?: RestoredField };
  /** An RFC 6902 patch of the field's normal form. */
  'field.updated': { patch: Operation[]; concurrent_indexes?: boolean; adopted?: boolean };
  /** Its values are kept in the trash if it says until when; else they were dropped with the column. */
  'field.deleted': Kept & { adopted?: boolean };
  /** The event's field is the name that it had. */
  'field.renamed': Renamed;
  /** The relation's id is the position of this event. */
  'relation.created': { relation: NewRelation; adopted?: boolean };
  /** An RFC 6902 patch of the relation without its id. */
  'relation.updated': { patch: Operation[]; adopted?: boolean };
  'relation.deleted': { adopted?: boolean };
}

/** What a deletion left in the trash, in a place that is named after the position of its event. */
export interface Kept {
  /** ISO 8601, by the database's clock. From then on it may be purged. */
  kept_until?: string;
}

/** What a table had that was never part of the schema, and had to leave behind: none of it comes back by itself. */
export interface KeptTable extends Kept {
  /** Publications that it was in, by name. */
  publications?: string[];
  /** Foreign keys to other tables, made by hand. `definition`: by pg_get_constraintdef. */
  foreign_keys?: { name: string; definition: string }[];
}

/** What comes back from the trash is what it was: it keeps its identity. */
export interface RestoredField {
  /** Of the event that deleted it, or the collection that it went with. */
  position: number;
  identity: Identity;
  /** The trash had nothing of it, because the database was made from its log: it was made, and empty. */
  empty?: boolean;
}

/** What an event takes out of the trash; undefined: nothing. */
export const takenFromTrash = <R extends RestoredField>({ restored }: { restored?: R }): R | undefined =>
  restored?.empty === true ? undefined : restored;

export interface RestoredCollection extends RestoredField {
  /** What it was called when it was deleted, and is called in the trash. */
  name: string;
  /** The identities of the event's fields, in their order. */
  fields: Identity[];
}

/**
 * A new name. The fold puts it wherever a member of a document is exactly the old one; what texts say of it the event
 * says, so that a fold never reads SQL.
 */
export interface Renamed {
  to: string;
  /** The other collections that change with it, by name. */
  touches?: string[];
  /** What changes in documents beside their names: texts that mention the old one, and names made from it. */
  patches?: DocumentPatch[];
  adopted?: boolean;
}

/** An RFC 6902 patch of a collection, of its `field`, or of the relation that its field `relation` holds; by their new names. */
export interface DocumentPatch {
  collection: string;
  field?: string;
  relation?: string;
  patch: Operation[];
}

/** Payload per type of event that the schema's fold passes over, newest version. */
export interface OtherEventData extends ChangeEventData, AccountEventData {
  /**
   * The log was found to be another one than was seen before; that was acknowledged, and it goes on from here.
   * `previous_origin`: as checkpoints named the log until then; from this event on they name it after this event.
   */
  'log.acknowledged': { divergences: Divergence[]; previous_origin?: string };
  /**
   * What the deletion at `position` left in the trash is gone for good. The event's collection and field are the names
   * that it had. `expired`: its time was over; else somebody asked.
   */
  'trash.purged': { position: number; expired?: boolean };
  /** What may be done without asking, whole: from the next batch on. */
  'policy.updated': { policy: Policy };
}

export interface EventData extends SchemaEventData, OtherEventData {}

export type SchemaEventType = keyof SchemaEventData;
export type EventType = keyof EventData;

/** What an event is about, other than a collection: `{ kind: 'log', id: '42' }`. */
export interface EventSubject {
  kind: string;
  id: string;
}

/** Of events that take something out of the trash: the position of its deletion. */
export const trashSubject = (position: number): EventSubject => ({ kind: 'trash', id: String(position) });

/** An event as decided: what changes in the schema, before the log has given it a place. */
export type NewEvent = {
  [T in SchemaEventType]: {
    type: T;
    /** Version of the payload's shape, from 1. */
    version: number;
    collection: string;
    /** The field, or the many field of a relation; null for collection events. */
    field: string | null;
    data: SchemaEventData[T];
    /** What else it is about. */
    subject?: EventSubject | undefined;
  };
}[SchemaEventType];

/** An event that the schema's fold passes over. It may still be about a collection. */
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

/** Whatever the log takes. */
export type LogEvent = NewEvent | OtherEvent;

/** Who and what caused a batch of events. */
export interface Cause {
  actor: { id: string; name: string };
  /** The command's name: `create-collection`. */
  command: string;
  reason: string | null;
  request_id: string | null;
  ip: string | null;
  user_agent: string | null;
  /** What else is known of it: `traceparent`, the trace that the request was part of (W3C Trace Context). */
  context?: Context | undefined;
}

export type Context = Readonly<Record<string, Json>>;

/** An event in the log. */
export type StoredEvent = LogEvent &
  Cause & {
    /** 1, 2, 3 …, without gaps. */
    position: number;
    /** uuid */
    id: string;
    /** uuid of the accepted command whose events these are. */
    batch: string;
    /** ISO 8601, UTC, milliseconds; never before that of an earlier position. */
    occurred_at: string;
    /** sha256, hex; 64 zeros for the first event. */
    previous_hash: string;
    /** sha256 of the event in canonical form with previous_hash, hex. */
    hash: string;
  };

/** Of version 1, as all that are decided now. @param field null: it is about the collection */
export function newEvent<T extends EventType>(
  type: T,
  collection: string,
  field: string | null,
  data: EventData[T],
): NewEvent {
  return { type, version: 1, collection, field, data } as NewEvent;
}

/** Of a collection or of a field; relations have no names of their own. */
export const isRename = <E extends { type: string }>(
  event: E,
): event is E & { type: 'collection.renamed' | 'field.renamed' } =>
  event.type === 'collection.renamed' || event.type === 'field.renamed';

/** Of a collection or of a field: what may be kept in the trash. */
export const isDeletion = <E extends { type: string }>(
  event: E,
): event is E & { type: 'collection.deleted' | 'field.deleted' } =>
  event.type === 'collection.deleted' || event.type === 'field.deleted';

/** The database was so before the event said it: nothing is done to it. Not of `collection.adopted`, which never does anything. */
export const isAdopted = ({ data }: Pick<LogEvent, 'data'>): boolean => 'adopted' in data && data.adopted === true;
