/** Verifies an exported log in a worker with the service's code and a bundled hash function. */
import { sha256 as digest } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { z } from 'zod';
import { checkExportedLog, readLines } from '../../../log/exported-log.js';
import type { EventRecord } from '../../../log/read.js';

/* The messages between the page and this worker. */

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

// The CSP forbids the code that zod would compile.
z.config({ jitless: true });

const sha256 = (text: string): string => bytesToHex(digest(utf8ToBytes(text)));

/** Milliseconds between progress messages. */
const TOLD = 100;

const post = (message: WorkerResponse): void => postMessage(message);

let take: (chunk: Uint8Array | null) => void = () => undefined;

/** Requests the bytes from the page chunk by chunk. */
async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const chunk = await new Promise<Uint8Array | null>((resolve) => {
      take = resolve;
      post({ kind: 'more' });
    });
    if (chunk === null) return;
    yield chunk;
  }
}

async function check(positions: readonly number[]): Promise<void> {
  const view = createResultView(positions);
  let reportedAt = performance.now();
  const onEvent = (event: EventRecord): void => {
    view.add(event);
    if (performance.now() - reportedAt < TOLD) return;
    reportedAt = performance.now();
    post({ kind: 'progress', checked: event.position });
  };
  const log = await checkExportedLog(readLines(chunks()), { sha256, planOf: null, onEvent });
  post({
    kind: 'done',
    ok: log.ok,
    head: log.head,
    erased: log.erased,
    broken: log.broken ?? null,
    disallowed: log.disallowed,
    places: view.places(),
  });
}

onmessage = ({ data }: MessageEvent<WorkerRequest>) => {
  if (data.kind === 'chunk') take(data.bytes);
  else check(data.wanted).catch((error: unknown) => post({ kind: 'failed', message: String(error) }));
};

/* Collects the facts of a log that checkpoints need. */

/**
 * The origin as docs/checkpoints.md defines it: named after the log's first event, or the event that acknowledged a
 * divergence.
 */
const originOf = (hash: string): string => `data-platform-service/${hash}`;

/**
 * Must receive every event in order, starting with the first.
 * @param checkpointPositions the positions of checkpoints. Those after the end of the log have no result
 */
function createResultView(checkpointPositions: readonly number[]): {
  add(event: EventRecord): void;
  places(): CheckpointEvent[];
} {
  const expected = new Set(checkpointPositions);
  const places: CheckpointEvent[] = [];
  let origin = '';
  return {
    add({ position, type, hash, subject }) {
      if (position === 1 || (type === 'log.acknowledged' && subject?.kind === 'log')) origin = originOf(hash);
      if (expected.has(position)) places.push({ position, hash, origin });
    },
    places: () => places,
  };
}
