/**
 * What a checkpoint says: the log had this hash at this position, at this time. The text has the lines of
 * https://c2sp.org/tlog-checkpoint (origin, size, hash, then lines of one's own), but for one thing: the third line is
 * the hash of the last event, the head of a hash chain, and not the root of a Merkle tree.
 */
import { isPosition } from '../../kernel/position.js';
import { type Note, NoteError, decodeBase64, parseNote } from './note.js';

export interface Checkpoint {
  /** Which log: `originOf`. */
  origin: string;
  /** Of the last event that it speaks for. */
  position: number;
  /** Of that event, hex. */
  hash: string;
  /** When it was signed, by the clock of who signed it; never before the event. ISO 8601, UTC, milliseconds. */
  time: string;
}

/** The name of every key of ours: a checkpoint says which log it is of by its origin, and a key outlives a fork. */
export const KEY_NAME = 'data-platform-service';

/**
 * Which log it is: named after the event that began it, the first one, or the newest `log.acknowledged`, with which a
 * log that had become another one went on. So the origin follows from the log alone: an export is enough to know it, a
 * log that is rewritten from its beginning can't keep it, and one that is restored does.
 * @param hash of that event, hex
 */
export const originOf = (hash: string): string => `${KEY_NAME}/${hash}`;

/** The text that is signed: four lines, each with its newline. */
export function checkpointText({ origin, position, hash, time }: Checkpoint): string {
  return `${origin}\n${position}\n${Buffer.from(hash, 'hex').toString('base64')}\ntime ${time}\n`;
}

/** It is shown: nothing that a terminal obeys. */
const ORIGIN = /^[^\p{White_Space}\p{C}+]+$/u;
const TIME = /^time (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)$/;

export interface ReadCheckpoint extends Checkpoint {
  note: Note;
}

/** Reads a checkpoint; no signature is verified. @throws NoteError */
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

/** As a file: sorted by name, those of a log stand together and in order. What it says is not part of the name: one place, one file. */
export function fileNameOf({ origin, position }: Pick<Checkpoint, 'origin' | 'position'>): string {
  const log = origin.slice(origin.lastIndexOf('/') + 1, origin.lastIndexOf('/') + 17);
  return `${log}-${String(position).padStart(12, '0')}${FILE_END}`;
}

export const FILE_END = '.checkpoint';
