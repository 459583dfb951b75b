/** The chain of hashes that makes a change of an accepted event visible. */
import { createHash } from 'node:crypto';
import { sha256 } from '../kernel/sha256.js';
import type { Queryable } from '../postgres/pool.js';
import { type Chain, type Hashed, aroundData, chainWith } from './event-hash.js';
import type { LogHead } from './head.js';
import type { Resumable } from '../kernel/resumable.js';
import { createTimeSlice } from '../kernel/event-loop.js';
import { readRecordPages } from './read.js';

/**
 * sha256, hex, over the previous hash and the event in canonical JSON, without `hash` and `previous_hash`. It can be
 * recomputed from what the table holds: jsonb keeps no order of members, and canonical JSON needs none. The data is at hand
 * in canonical JSON: a piece in each step.
 */
export function createSteppedHasher(write: (value: unknown) => string) {
  return function* (event: Omit<Hashed, 'data'>, data: readonly string[]): Resumable<string> {
    const { before, after } = aroundData(event, write);
    const [only] = data;
    if (data.length === 1) return sha256(event.previous_hash + before + only + after);
    const digest = createHash('sha256').update(event.previous_hash + before);
    for (const piece of data) {
      digest.update(piece);
      yield;
    }
    return digest.update(after).digest('hex');
  };
}

/** Of events from wherever they come. */
export const createChain = (): Chain => chainWith(sha256);

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
