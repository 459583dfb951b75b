/** The events of the log: what each type carries. Old versions are upcast in `upcasting.ts`, never rewritten. */
import type { Operation } from 'fast-json-patch';
import type { Collection, Field, NewRelation } from './model.js';

/** Payload per event type, newest version. */
export interface EventData {
  /** A collection with all its fields. `concurrent_indexes`: its indexes are built after the commit. */
  'collection.created': { collection: Collection; fields: Field[]; concurrent_indexes?: boolean };
  /** A table that was there before, with all its columns. Nothing is done to it. */
  'collection.adopted': { collection: Collection; fields: Field[] };
  /** An RFC 6902 patch of the collection's normal form. `adopted`: what it adds to the table is there already. */
  'collection.updated': { patch: Operation[]; adopted?: boolean };
  'collection.deleted': Record<string, never>;
  'field.created': { field: Field; concurrent_indexes?: boolean };
  /** An RFC 6902 patch of the field's normal form. */
  'field.updated': { patch: Operation[]; concurrent_indexes?: boolean };
  'field.deleted': Record<string, never>;
  /** The relation's id is the position of this event. `adopted`: its foreign key is there already. */
  'relation.created': { relation: NewRelation; adopted?: boolean };
  /** An RFC 6902 patch of the relation without its id. */
  'relation.updated': { patch: Operation[] };
  'relation.deleted': Record<string, never>;
}

export type EventType = keyof EventData;

/** An event as decided: what changes, before the log has given it a place. */
export type NewEvent = {
  [T in EventType]: {
    type: T;
    /** Version of the payload's shape, from 1. */
    version: number;
    collection: string;
    /** The field, or the many field of a relation; null for collection events. */
    field: string | null;
    data: EventData[T];
  };
}[EventType];

/** Who and what caused a batch of events. */
export interface Cause {
  actor: { id: string; name: string };
  /** The command's name: `create-collection`. */
  command: string;
  reason: string | null;
  request_id: string | null;
  ip: string | null;
  user_agent: string | null;
}

/** An event in the log. */
export type StoredEvent = NewEvent &
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
