/** Verifies the log: recomputes its chain and compares its end with known positions. */
import type { Queryable } from '../postgres/pool.js';
import type { Divergence, LogPlace } from '../schema/model/events.js';
import { checkHead, isInLog, readAcknowledgements, toDivergence } from './divergence.js';
import { findDamagedDocument } from './documents.js';
import { findUnprotected } from './protection.js';
import { type Verification, type VerifyOptions, verifyChain } from './hash-chain.js';

export interface LogVerification extends Verification {
  /** Operations on accepted events that PostgreSQL would allow, one sentence each. `ok` is false if there is any. */
  unprotected: string[];
  /** All recorded divergences, in order. They stay in the log forever. */
  divergences: AcknowledgedDivergence[];
}

export interface AcknowledgedDivergence extends Divergence {
  /** Position of the event that acknowledged it. Null if not acknowledged. */
  acknowledged: number | null;
}

/**
 * Recomputes the chain. A truncated or completely rewritten log is still a valid chain. It is therefore compared with
 * the checkpoints of projections, recorded divergences and `seen`, an end that this process remembers.
 */
export async function verifyLog(db: Queryable, seen: LogPlace, options: VerifyOptions = {}): Promise<LogVerification> {
  // This runs before the chain is read, so that events appended meanwhile do not matter.
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
