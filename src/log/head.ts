/** The end of the log. */

export interface LogHead {
  /** Position of the last event; 0 in an empty log. */
  position: number;
  /** Its hash; 64 zeros in an empty log. */
  hash: string;
  /** ISO 8601; null in an empty log. */
  occurred_at: string | null;
}

export const GENESIS_HASH = '0'.repeat(64);

/** Of a log without events: position 0, and the hash that the first event follows. */
export function emptyHead(): LogHead {
  return { position: 0, hash: GENESIS_HASH, occurred_at: null };
}
