/** Compares checkpoints with a log: either an export, which is read line by line, or the log of a database. */
import { own } from '../../postgres/own-tables.js';
import type { Queryable } from '../../postgres/pool.js';
import { type AcknowledgedLog, parseDivergences, readAcknowledgements } from '../divergence.js';
import type { LogHead } from '../head.js';
import type { EventRecord } from '../read.js';
import {
  type Checkpoint,
  type ReadCheckpoint,
  originOf,
  NoteError,
  type NoteKey,
  encodeNoteKey,
  verifyNote,
} from './checkpoint.js';
import { originAt } from './sign.js';

/** A checkpoint with the result of its comparison. */
export interface CheckedCheckpoint extends Checkpoint {
  /** The file that contains the checkpoint. */
  file: string;
  ok: boolean;
  /** The public key that signed the checkpoint. Null if the caller passed no keys. */
  signed_by: string | null;
  /** The reason why the checkpoint does not match. */
  reason?: string;
}

/** The log to compare checkpoints with. */
export interface LogView {
  /** The last verified event. */
  head: Pick<LogHead, 'position'>;
  /** The first event that failed verification. */
  broken?: { position: number; reason: string };
  /** Returns the hash of the event at a position up to the head. */
  hashAt(position: number): Promise<string | null>;
  originAt(position: number): Promise<string | null>;
  /** Returns the acknowledged divergences that the log records. */
  acknowledged(): Promise<AcknowledgedLog[]>;
}

export interface CheckpointFile {
  file: string;
  checkpoint: ReadCheckpoint;
}

/** @param keys trusted keys. Without keys, signatures are not verified. */
export async function compareCheckpoint(
  files: readonly CheckpointFile[],
  log: LogView,
  keys: readonly NoteKey[],
): Promise<CheckedCheckpoint[]> {
  const held: CheckedCheckpoint[] = [];
  for (const { file, checkpoint } of files) {
    const { origin, position, hash, time } = checkpoint;
    const signature = keys.length === 0 ? { signed_by: null } : signatureOf(checkpoint, keys);
    const reason = 'reason' in signature ? signature.reason : await differenceTo(log, checkpoint);
    const { signed_by = null } = signature;
    held.push({
      file,
      origin,
      position,
      hash,
      time,
      ok: reason === undefined,
      signed_by,
      ...(reason !== undefined && { reason }),
    });
  }
  return held;
}

function signatureOf({ note }: ReadCheckpoint, keys: readonly NoteKey[]): { signed_by?: string; reason?: string } {
  try {
    return { signed_by: encodeNoteKey(verifyNote(note, keys)) };
  } catch (error) {
    if (!(error instanceof NoteError)) throw error;
    return { reason: `it ${error.message}` };
  }
}

async function differenceTo(log: LogView, { origin, position, hash }: Checkpoint): Promise<string | undefined> {
  const { head, broken } = log;
  if (position > head.position) {
    if (broken !== undefined)
      return `the log is not valid up to that position: it is broken at position ${broken.position}`;
    return (
      `the log ends at position ${head.position}: later events were deleted, or the log was read before the ` +
      `checkpoint was signed${await describeAcknowledgement(log, position)}`
    );
  }
  const beginning = await log.originAt(position);
  const there = await log.hashAt(position);
  if (there === hash && beginning === origin) return undefined;
  const why = await describeAcknowledgement(log, position);
  if (there === hash) return `it names a different log (${origin}) than the log with this hash (${beginning})`;
  if (beginning !== origin) {
    return `the log is a different one (${beginning}): it was rewritten from its beginning, or it is not the signed log (${origin})${why}`;
  }
  return `position ${position} has the hash ${there}: the log was rewritten there or before${why}`;
}

/** Explains whether an acknowledged divergence accounts for the missing signed position. */
async function describeAcknowledgement(log: LogView, position: number): Promise<string> {
  const all = await log.acknowledged();
  const named = all.find(({ divergences }) =>
    divergences.some(({ seen, found }) => found.position < position && position <= seen.position),
  );
  return named === undefined
    ? ''
    : `. Event ${named.position} acknowledges a fork of the log: check it (log.acknowledged)`;
}

/** Collects the hashes at the positions of the checkpoints from the events of an export, in order. */
export function createExportView(files: readonly CheckpointFile[]): {
  add: (event: EventRecord) => void;
  view: (log: Pick<LogView, 'head' | 'broken'>) => LogView;
} {
  const wanted = new Set(files.map(({ checkpoint }) => checkpoint.position));
  const hashes = new Map<number, { hash: string; origin: string | null }>();
  const acknowledged: AcknowledgedLog[] = [];
  let origin: string | null = null;
  return {
    add: (event) => {
      const { position, type, hash, subject } = event;
      if (position === 1) origin = originOf(hash);
      if (type === 'log.acknowledged' && subject?.kind === 'log') {
        origin = originOf(hash);
        acknowledged.push({ position, divergences: parseDivergences(event.data) });
      }
      if (wanted.has(position)) hashes.set(position, { hash, origin });
    },
    view: (log) => ({
      ...log,
      hashAt: (position) => Promise.resolve(hashes.get(position)?.hash ?? null),
      originAt: (position) => Promise.resolve(hashes.get(position)?.origin ?? null),
      acknowledged: () => Promise.resolve(acknowledged),
    }),
  };
}

/** Creates the view of a database whose chain was recomputed. */
export function databaseView(db: Queryable, log: Pick<LogView, 'head' | 'broken'>): LogView {
  return {
    ...log,
    originAt: (position) => originAt(db, position),
    hashAt: async (position) => {
      const { rows } = await db.query<{ hash: string }>(`SELECT hash FROM ${own.events} WHERE position = $1`, [
        position,
      ]);
      return rows[0]?.hash ?? null;
    },
    acknowledged: () => readAcknowledgements(db),
  };
}
