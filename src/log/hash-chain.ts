/** The hash chain makes changes of accepted events detectable. */
import { createHash } from 'node:crypto';
import { sha256 } from '../kernel/sha256.js';
import type { Queryable } from '../postgres/pool.js';
import { type Chain, type Hashed, serializeAroundData, createHashChain } from './event-hash.js';
import type { LogHead } from './head.js';
import type { Resumable } from '../kernel/resumable.js';
import { createTimeSlice, runYielding } from '../kernel/event-loop.js';
import { createPlanReplay } from '../schema/change-requests/replay-plans.js';
import { type DisallowedChange, createPolicyReplay } from '../schema/change-requests/replay-policy.js';
import { type EventRecord, readRecordPages } from './read.js';

/**
 * Returns the SHA-256 (hex) over the previous hash and the event in canonical JSON, see `serializeAroundData`.
 * jsonb does not preserve the order of members, and canonical JSON does not depend on it. So the hash can be recomputed
 * from the table. Each step hashes one piece of the data.
 */
export function createSteppedHasher(write: (value: unknown) => string) {
  return function* (event: Omit<Hashed, 'data'>, data: readonly string[]): Resumable<string> {
    const { before, after } = serializeAroundData(event, write);
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

export const createChain = (): Chain => createHashChain(sha256);

export interface Verification {
  ok: boolean;
  /** Number of verified events, without the broken one. */
  checked: number;
  /** The last verified event. */
  head: LogHead;
  /** Number of verified events whose personal data was erased. */
  erased: number;
  /** The first event that breaks the chain, or whose personal data is missing without an event that names it. */
  broken?: { position: number; reason: string };
  /** Listed in the order of the log. At most 100 are returned. */
  disallowed: DisallowedChange[];
}

export interface VerifyOptions {
  /** Called with the number of verified events after each page. */
  onProgress?: (checked: number) => void;
}

/**
 * Recomputes the chain from the first event, and checks whether the policy allowed each change. Memory grows only with
 * the schema, open change requests and accounts. A truncated log is still a valid chain. Callers must compare `head`
 * with the positions of projections or backups.
 */
export async function verifyChain(db: Queryable, options: VerifyOptions = {}): Promise<Verification> {
  const chain = createChain();
  const policy = createPolicyReplay(createPlanReplay());
  const slice = createTimeSlice();

  function* add(page: readonly EventRecord[]): Resumable<Verification['broken']> {
    for (const event of page) {
      yield;
      const reason = chain.add(event);
      // If an event is missing, the result names its position, not that of its successor.
      if (reason !== null) return { position: Math.min(event.position, chain.head().position + 1), reason };
      yield* policy.add(event);
    }
    return undefined;
  }

  let broken: Verification['broken'];
  for await (const page of readRecordPages(db, { after: 0 })) {
    broken = await runYielding(add(page), slice);
    if (broken !== undefined) break;
    options.onProgress?.(chain.head().position);
  }
  broken ??= chain.end() ?? undefined;
  const head = chain.head();
  const disallowed = await runYielding(policy.end(), slice);
  const ok = broken === undefined && disallowed.length === 0;
  return { ok, checked: head.position, erased: chain.erased(), head, ...(broken && { broken }), disallowed };
}
