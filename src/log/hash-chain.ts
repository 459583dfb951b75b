/** The chain of hashes that makes a change of an accepted event visible. */
import { createHash, hash } from 'node:crypto';
import type { StoredEvent } from '../schema/model/events.js';
import { canonicalJson } from '../kernel/canonical.js';
import type { Queryable } from '../postgres/pool.js';
import { createCanonicalWriter } from '../kernel/canonical-writer.js';
import { type LogHead, emptyHead } from './head.js';
import { type Resumable, runToEnd } from '../kernel/resumable.js';
import { createTimeSlice } from '../kernel/event-loop.js';
import { type EventRecord, readRecordPages } from './read.js';

/** What the hash covers: the whole event but the hash itself. `data` may be given as canonical JSON already. */
type Hashed = Omit<EventRecord, 'hash'>;

/**
 * sha256, hex, over the previous hash and the event in canonical JSON, without `hash` and `previous_hash`. It can be
 * recomputed from what the table holds: jsonb keeps no order of members, and canonical JSON needs none.
 */
export function eventHash(event: Hashed | StoredEvent): string {
  return createHasher(canonicalJson)(event, [canonicalJson(event.data)]);
}

/** `eventHash` of many events, whose data is at hand in canonical JSON already, in pieces. */
export function createHasher(
  write: (value: unknown) => string,
): (event: Omit<Hashed, 'data'>, data: readonly string[]) => string {
  const hashInSteps = createSteppedHasher(write);
  return (event, data) => runToEnd(hashInSteps(event, data));
}

/** The same in steps, a piece in each. */
export function createSteppedHasher(write: (value: unknown) => string) {
  return function* (event: Omit<Hashed, 'data'>, data: readonly string[]): Resumable<string> {
    // The members in the order of canonical JSON.
    const before =
      `{"actor":${write(event.actor)},"batch":"${event.batch}","collection":${JSON.stringify(event.collection)},` +
      `"command":${JSON.stringify(event.command)},${optional('context', event.context, write)}"data":`;
    const after =
      `,"field":${JSON.stringify(event.field)},` +
      `"id":"${event.id}","ip":${JSON.stringify(event.ip)},"occurred_at":"${event.occurred_at}",` +
      `"position":${event.position},"reason":${JSON.stringify(event.reason)},` +
      `"request_id":${JSON.stringify(event.request_id)},${optional('subject', event.subject, write)}"type":${JSON.stringify(event.type)},` +
      `"user_agent":${JSON.stringify(event.user_agent)},"version":${event.version}}`;
    const [only] = data;
    if (data.length === 1) return hash('sha256', event.previous_hash + before + only + after);
    const digest = createHash('sha256').update(event.previous_hash + before);
    for (const piece of data) {
      digest.update(piece);
      yield;
    }
    return digest.update(after).digest('hex');
  };
}

/** A member that is hashed when it is there, and only then: the hashes of events without it are what they always were. */
function optional(name: string, value: unknown, write: (value: unknown) => string): string {
  return value == null ? '' : `"${name}":${write(value)},`;
}

export interface Verification {
  ok: boolean;
  /** Events that were found in order, the broken one not counted. */
  checked: number;
  /** The last event that was found in order. */
  head: LogHead;
  /** The first link that doesn't hold. */
  broken?: { position: number; reason: string };
}

export interface VerifyOptions {
  /** Told the number of events checked, after each page of the log. */
  onProgress?: (checked: number) => void;
}

/**
 * Recomputes the chain from its first event, in constant memory. The events are read as they are stored, not upcast.
 * A log cut off at its end is a valid chain: compare `head` with what the projections or a backup have seen.
 */
export async function verifyChain(db: Queryable, options: VerifyOptions = {}): Promise<Verification> {
  const chain = createChain();
  const slice = createTimeSlice();
  for await (const page of readRecordPages(db, { after: 0 })) {
    for (const event of page) {
      if (slice.isOver()) await slice.yield();
      const reason = chain.add(event);
      if (reason === null) continue;
      const head = chain.head();
      // What is missing is named, not what comes after it.
      const position = Math.min(event.position, head.position + 1);
      return { ok: false, checked: head.position, head, broken: { position, reason } };
    }
    options.onProgress?.(chain.head().position);
  }
  const head = chain.head();
  return { ok: true, checked: head.position, head };
}

/** Events checked one after another, wherever they come from. */
export interface Chain {
  /** Checks the next event. @returns why it does not follow, or null; after a fault nothing more can be added */
  add(event: EventRecord): string | null;
  /** The last event that was found in order. */
  head(): LogHead;
}

export function createChain(): Chain {
  let head = emptyHead();
  const write = createCanonicalWriter();
  const hashOf = createHasher(write);
  return {
    add: (event) => {
      const reason = fault(event, head, hashOf(event, [write(event.data)]));
      if (reason === null) head = { position: event.position, hash: event.hash, occurred_at: event.occurred_at };
      return reason;
    },
    head: () => head,
  };
}

function fault(event: EventRecord, previous: LogHead, computed: string): string | null {
  if (event.position !== previous.position + 1) {
    return `position ${previous.position + 1} is missing`;
  }
  if (event.previous_hash !== previous.hash)
    return `its previous_hash is not the hash of position ${previous.position}`;
  if (computed !== event.hash) return 'its hash does not fit what it says';
  return null;
}
