export interface LogHead {
  /** 0 in an empty log. */
  position: number;
  /** 64 zeros in an empty log. */
  hash: string;
  /** ISO 8601. Null in an empty log. */
  occurred_at: string | null;
}

export const GENESIS_HASH = '0'.repeat(64);

export function emptyHead(): LogHead {
  return { position: 0, hash: GENESIS_HASH, occurred_at: null };
}
