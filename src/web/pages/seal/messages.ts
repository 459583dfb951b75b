/** What the page and its worker tell each other. */

export type ToSeal =
  /** `wanted`: positions that checkpoints speak of. */
  | { kind: 'check'; wanted: number[] }
  /** Null: that was all. */
  | { kind: 'chunk'; bytes: Uint8Array | null };

/** An event of the log that a checkpoint speaks of. */
export interface Place {
  position: number;
  hash: string;
  /** Which log it is of. */
  origin: string;
}

export interface Result {
  ok: boolean;
  head: { position: number; hash: string; occurred_at: string | null };
  /** The first event that isn't what it was. */
  broken: { position: number; reason: string } | null;
  places: Place[];
}

export type FromSeal =
  | { kind: 'more' }
  | { kind: 'progress'; checked: number }
  | ({ kind: 'done' } & Result)
  | { kind: 'failed'; message: string };
