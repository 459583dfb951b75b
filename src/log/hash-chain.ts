/** The hash chain makes changes of accepted events detectable. */
import { createHash } from 'node:crypto';
import { sha256 } from '../kernel/sha256.js';
import type { Queryable } from '../postgres/pool.js';
import { type Chain, type Hashed, aroundData, chainWith } from './event-hash.js';
import type { LogHead } from './head.js';
import type { Resumable } from '../kernel/resumable.js';
import { createTimeSlice } from '../kernel/event-loop.js';
import { type Disallowed, createPolicyReplay } from '../schema/change-requests/replay-policy.js';
import { readRecordPages } from './read.js';

/**
 * Returns the sha256 (hex) over the previous hash and the event in canonical JSON, without `hash` and `previous_hash`.
 * It can be recomputed from the table, because canonical JSON does not depend on the member order that jsonb loses.
 * Each step hashes one piece of the data.
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

export const createChain = (): Chain => chainWith(sha256);

export interface Verification {
  ok: boolean;
  /** Verified events, without the broken one. */
  checked: number;
  /** The last verified event. */
  head: LogHead;
  /** The first event that breaks the chain. */
  broken?: { position: number; reason: string };
  /** Changes that the policy and the approvals at their position did not allow. At most 100. */
  disallowed: Disallowed[];
}

export interface VerifyOptions {
  /** Called with the number of verified events after each page. */
  onProgress?: (checked: number) => void;
}

/**
 * Recomputes the chain from the first event, and whether the policy allowed each change. Memory grows only with open
 * change requests and accounts. Events are read as stored, not upcast. A truncated log
 * is still a valid chain, so compare `head` with the positions of projections or backups.
 */
export async function verifyChain(db: Queryable, options: VerifyOptions = {}): Promise<Verification> {
  const chain = createChain();
  const policy = createPolicyReplay();
  const slice = createTimeSlice();
  for await (const page of readRecordPages(db, { after: 0 })) {
    for (const event of page) {
      if (slice.isOver()) await slice.yield();
      const reason = chain.add(event);
      if (reason === null) {
        policy.add(event);
        continue;
      }
      const head = chain.head();
      // Reports the missing event rather than its successor.
      const position = Math.min(event.position, head.position + 1);
      return { ok: false, checked: head.position, head, broken: { position, reason }, disallowed: policy.end() };
    }
    options.onProgress?.(chain.head().position);
  }
  const head = chain.head();
  const disallowed = policy.end();
  return { ok: disallowed.length === 0, checked: head.position, head, disallowed };
}
