/** Messages between the page and its worker. */

export type WorkerRequest =
  /** `wanted`: the positions of checkpoints. */
  | { kind: 'check'; wanted: number[] }
  /** Null at the end. */
  | { kind: 'chunk'; bytes: Uint8Array | null };

/** An event at the position of a checkpoint. */
export interface CheckpointEvent {
  position: number;
  hash: string;
  /** The origin of the log. */
  origin: string;
}

export interface Result {
  ok: boolean;
  head: { position: number; hash: string; occurred_at: string | null };
  /** Number of events whose personal data was erased. */
  erased: number;
  /** The first invalid event. */
  broken: { position: number; reason: string } | null;
  disallowed: { position: number; reason: string }[];
  places: CheckpointEvent[];
}

export type WorkerResponse =
  | { kind: 'more' }
  | { kind: 'progress'; checked: number }
  | ({ kind: 'done' } & Result)
  | { kind: 'failed'; message: string };
