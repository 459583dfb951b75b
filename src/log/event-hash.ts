/**
 * Defines what the hash of an event covers and how events are linked. It uses no Node.js modules, so that a browser can
 * verify a log with the same code.
 */
import { createCanonicalWriter } from '../kernel/canonical.js';
import type { Sha256 } from '../kernel/sha256.js';
import { type LogHead, emptyHead } from './head.js';
import type { EventRecord } from './read.js';

/** The hash covers the whole event except the hash itself. */
export type Hashed = Omit<EventRecord, 'hash'>;

/**
 * Returns the canonical JSON of an event without its hashes, split before and after its data. @param write returns
 * canonical JSON
 */
export function aroundData(
  event: Omit<Hashed, 'data'>,
  write: (value: unknown) => string,
): { before: string; after: string } {
  // The members are in the order of canonical JSON.
  return {
    before:
      `{"actor":${write(event.actor)},"batch":"${event.batch}","collection":${JSON.stringify(event.collection)},` +
      `"command":${JSON.stringify(event.command)},${optional('context', event.context, write)}"data":`,
    after:
      `,"field":${JSON.stringify(event.field)},` +
      `"id":"${event.id}","ip":${JSON.stringify(event.ip)},"occurred_at":"${event.occurred_at}",` +
      `"position":${event.position},"reason":${JSON.stringify(event.reason)},` +
      `"request_id":${JSON.stringify(event.request_id)},${optional('subject', event.subject, write)}"type":${JSON.stringify(event.type)},` +
      `"user_agent":${JSON.stringify(event.user_agent)},"version":${event.version}}`,
  };
}

/** An optional member is hashed only if it exists, so the hashes of older events stay valid. */
function optional(name: string, value: unknown, write: (value: unknown) => string): string {
  return value == null ? '' : `"${name}":${write(value)},`;
}

/** Verifies events one after another, from any source. */
export interface Chain {
  /**
   * Verifies the next event. @returns the reason why it does not follow, or null. After a fault, no more events can be
   * added.
   */
  add(event: EventRecord): string | null;
  /** The last event that was verified. */
  head(): LogHead;
}

/** Creates the function that recomputes the hash of an event. */
export function hasherWith(sha256: Sha256): (event: Hashed) => string {
  const write = createCanonicalWriter();
  return (event) => {
    const { before, after } = aroundData(event, write);
    return sha256(event.previous_hash + before + write(event.data) + after);
  };
}

/** The reason for an event whose hash does not match its content. */
export const OTHER_CONTENT = 'its hash does not match its content';

/** Starts before the first event. The events must start at position 1 and have no gaps. */
export function chainWith(sha256: Sha256): Chain {
  let head = emptyHead();
  const hashOf = hasherWith(sha256);
  return {
    add: (event) => {
      const reason = fault(event, head, hashOf(event));
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
  if (computed !== event.hash) return OTHER_CONTENT;
  return null;
}
