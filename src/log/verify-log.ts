/** Whether the log is what it was: its chain recomputed, and its end held against what has seen it. */
import type { Queryable } from '../postgres/pool.js';
import { type Verification, type VerifyOptions, verifyChain } from './hash-chain.js';
import type { LogHead } from './head.js';

/**
 * Recomputes the chain. A log that was cut off at its end, or written anew as a whole, is a valid chain; the projections
 * know how far it went, and `seen` is an end of it that this process remembers.
 */
export async function verifyLog(db: Queryable, seen: LogHead, options: VerifyOptions = {}): Promise<Verification> {
  // Before the chain: what is appended meanwhile is no concern of theirs.
  const { rows } = await db.query<{ position: number }>(
    'SELECT coalesce(max(position), 0) AS position FROM service_projections',
  );
  const projected = rows[0]?.position ?? 0;
  const chain = await verifyChain(db, options);
  if (!chain.ok) return chain;
  const end = chain.head.position;
  const known = Math.max(projected, seen.position);
  if (known > end) return broken(chain, end + 1, `position ${end + 1} is missing: the log went on to ${known}`);
  const found = await db.query<{ hash: string }>('SELECT hash FROM service_events WHERE position = $1', [
    seen.position,
  ]);
  if (seen.position === 0 || found.rows[0]?.hash === seen.hash) return chain;
  return broken(chain, seen.position, 'it is not the event that this service has seen: the log was written anew');
}

function broken(chain: Verification, position: number, reason: string): Verification {
  return { ...chain, ok: false, broken: { position, reason } };
}
