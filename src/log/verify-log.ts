/** Whether the log is what it was: its chain recomputed, and its end held against what has seen it. */
import type { Queryable } from '../postgres/pool.js';
import type { Divergence, LogPlace } from '../schema/model/events.js';
import { checkHead, isInLog, readAcknowledgements, toDivergence } from './divergence.js';
import { findDamagedDocument } from './documents.js';
import { findUnprotected } from './protection.js';
import { type Verification, type VerifyOptions, verifyChain } from './hash-chain.js';

export interface LogVerification extends Verification {
  /** What PostgreSQL would let happen to accepted events: a sentence each. `ok` is false where there is one. */
  unprotected: string[];
  /** Every time the log was found to be another one than was seen, in order: it says so for good. */
  divergences: AcknowledgedDivergence[];
}

export interface AcknowledgedDivergence extends Divergence {
  /** Position of the event that acknowledged it; null: not yet. */
  acknowledged: number | null;
}

/**
 * Recomputes the chain. A log that was cut off at its end, or rewritten as a whole, is a valid chain; the checkpoints
 * of the projections know how far it went, what was noticed is written down, and `seen` is an end of it that this process
 * remembers.
 */
export async function verifyLog(db: Queryable, seen: LogPlace, options: VerifyOptions = {}): Promise<LogVerification> {
  // Before the chain: what is appended meanwhile is no concern of theirs.
  const { forgotten, pending } = await checkHead(db);
  const chain = await verifyChain(db, options);
  const noted = (pending ?? []).map((each) => ({ ...toDivergence(each), acknowledged: null }));
  const unprotected = await findUnprotected(db);
  const verified = {
    ...chain,
    ok: chain.ok && unprotected.length === 0,
    unprotected,
    divergences: [...(await readAcknowledged(db)), ...noted],
  };
  if (!chain.ok) return verified;
  const damaged = await findDamagedDocument(db, chain.head.position);
  if (damaged !== null) return { ...verified, ok: false, broken: damaged };
  for (const place of [forgotten, seen, ...noted.map((each) => each.seen)]) {
    if (place === null || (await isInLog(db, { position: place.position, hash: place.hash ?? '' }))) continue;
    return { ...verified, ok: false, broken: gone(place, chain.head.position) };
  }
  return verified;
}

function gone({ position }: LogPlace, end: number): NonNullable<Verification['broken']> {
  if (position > end) {
    return { position: end + 1, reason: `position ${end + 1} is missing: the log went on to ${position}` };
  }
  return { position, reason: 'it is not the event that was seen: the log was rewritten' };
}

async function readAcknowledged(db: Queryable): Promise<AcknowledgedDivergence[]> {
  const found = await readAcknowledgements(db);
  return found.flatMap(({ position, divergences }) =>
    divergences.map((each) => ({ ...toDivergence(each), acknowledged: position })),
  );
}
