/** What the hash of an event covers, and how events hang together: pure, so that a browser checks a log by the same code. */
import { createCanonicalWriter } from '../kernel/canonical-writer.js';
import type { Sha256 } from '../kernel/sha256.js';
import { type LogHead, emptyHead } from './head.js';
import type { EventRecord } from './read.js';

/** What the hash covers: the whole event but the hash itself. */
export type Hashed = Omit<EventRecord, 'hash'>;

/** An event in canonical JSON, without its hashes, around its data. @param write gives canonical JSON */
export function aroundData(
  event: Omit<Hashed, 'data'>,
  write: (value: unknown) => string,
): { before: string; after: string } {
  // The members in the order of canonical JSON.
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

/** A member that is hashed when it is there, and only then: the hashes of events without it are what they always were. */
function optional(name: string, value: unknown, write: (value: unknown) => string): string {
  return value == null ? '' : `"${name}":${write(value)},`;
}

/** Events checked one after another, wherever they come from. */
export interface Chain {
  /** Checks the next event. @returns why it does not follow, or null; after a fault nothing more can be added */
  add(event: EventRecord): string | null;
  /** The last event that was found in order. */
  head(): LogHead;
}

/** Begins before the first event: events come from position 1 on, without a gap. */
export function chainWith(sha256: Sha256): Chain {
  let head = emptyHead();
  const write = createCanonicalWriter();
  const hashOf = (event: EventRecord): string => {
    const { before, after } = aroundData(event, write);
    return sha256(event.previous_hash + before + write(event.data) + after);
  };
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
  if (computed !== event.hash) return 'its hash does not fit what it says';
  return null;
}
