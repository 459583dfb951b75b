export interface LogHead {
  /** 0 if the log is empty. */
  position: number;
  /** 64 zeros if the log is empty. */
  hash: string;
  /** ISO 8601. Null if the log is empty. */
  occurred_at: string | null;
}

export const GENESIS_HASH = '0'.repeat(64);

export function emptyHead(): LogHead {
  return { position: 0, hash: GENESIS_HASH, occurred_at: null };
}
