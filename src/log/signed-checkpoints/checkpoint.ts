/**
 * A checkpoint states that the log had this hash at this position and time. The text follows
 * https://c2sp.org/tlog-checkpoint (origin, size, hash, extension lines) with one difference. The third line is the
 * hash of the last event, the head of a hash chain, not the root of a Merkle tree.
 */
import { isPosition } from '../../kernel/position.js';
import { type Note, NoteError, decodeBase64, parseNote } from './note.js';

export interface Checkpoint {
  /** Identifies the log, see `originOf`. */
  origin: string;
  /** Position of the last event that it covers. */
  position: number;
  /** Hash of that event, hex. */
  hash: string;
  /** Time of the signature by the signer's clock, never before the event. ISO 8601, UTC, milliseconds. */
  time: string;
}

/** The name of all keys of the service. The origin identifies the log, and a key survives a fork of the log. */
export const KEY_NAME = 'data-platform-service';

/**
 * Identifies a log by the event that began it: the first one, or the newest `log.acknowledged` after a divergence. An
 * export therefore suffices to compute the origin. A log rewritten from its beginning gets another origin, and a
 * restored one keeps it.
 * @param hash of that event, hex
 */
export const originOf = (hash: string): string => `${KEY_NAME}/${hash}`;

/** Returns the signed text: four lines, each with its newline. */
export function checkpointText({ origin, position, hash, time }: Checkpoint): string {
  return `${origin}\n${position}\n${Buffer.from(hash, 'hex').toString('base64')}\ntime ${time}\n`;
}

/** The origin is displayed, so it must not contain control characters. */
const ORIGIN = /^[^\p{White_Space}\p{C}+]+$/u;
const TIME = /^time (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)$/;

export interface ReadCheckpoint extends Checkpoint {
  note: Note;
}

/** Parses a checkpoint without verifying signatures. @throws NoteError */
export function parseCheckpoint(bytes: Buffer): ReadCheckpoint {
  const note = parseNote(bytes);
  const [origin = '', position = '', hash = '', ...more] = note.text.slice(0, -1).split('\n');
  expectLine(ORIGIN.test(origin), 'its first line is not the origin of a log');
  expectLine(isPosition(position), 'its second line is not a position');
  const digest = decodeBase64(hash);
  expectLine(digest?.length === 32, 'its third line is not a hash');
  expectLine(!more.includes(''), 'it has an empty line');
  return { origin, position: Number(position), hash: digest.toString('hex'), time: timeIn(more), note };
}

function timeIn(lines: readonly string[]): string {
  const time = lines.map((line) => TIME.exec(line)?.[1]).find((found) => found !== undefined);
  expectLine(time !== undefined && !Number.isNaN(Date.parse(time)), 'it has no time');
  return time;
}

function expectLine(holds: boolean, what: string): asserts holds {
  if (!holds) throw new NoteError(`is no checkpoint: ${what}`);
}

/**
 * Returns the file name. Sorted by name, the checkpoints of a log are together and in order. Only origin and position are
 * part of the name, so each position has one file.
 */
export function fileNameOf({ origin, position }: Pick<Checkpoint, 'origin' | 'position'>): string {
  const log = origin.slice(origin.lastIndexOf('/') + 1, origin.lastIndexOf('/') + 17);
  return `${log}-${String(position).padStart(12, '0')}${FILE_END}`;
}

export const FILE_END = '.checkpoint';
