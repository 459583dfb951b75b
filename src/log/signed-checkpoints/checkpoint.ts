/*
 * A checkpoint states that the log had this hash at this position and time. The text follows
 * https://c2sp.org/tlog-checkpoint (origin, size, hash, extension lines) with one difference: the third line is the
 * hash of the last event, the head of a hash chain, not the root of a Merkle tree.
 */
import { type KeyObject, createHash, createPublicKey, sign as signBytes, verify as verifyBytes } from 'node:crypto';
import { isPosition } from '../../kernel/text.js';

/*
 * Signed notes: text with Ed25519 signatures in the format of Go's checksum database (golang.org/x/mod/sumdb/note),
 * specified in https://c2sp.org/signed-note. Other programs for this format read them too.
 */

/** A public key and the name under which it signs. */
export interface NoteKey {
  name: string;
  /** The first four bytes of the hash of name and key, in hex. It helps to find the key and proves nothing. */
  id: string;
  /** 32 bytes, encoded as in RFC 8032. */
  publicKey: Buffer;
}

interface NoteSignature {
  name: string;
  /** The id of the key, in hex. */
  id: string;
  signature: Buffer;
}

interface Note {
  /** The signed text, including its last line feed. */
  text: string;
  signatures: NoteSignature[];
}

/** The text is not a signed note. The message is the end of a sentence, for example "has carriage returns". */
export class NoteError extends Error {
  override readonly name = 'NoteError';
}

/** The signature type. It is part of the id and of the encoding of a key. */
const ED25519 = 0x01;

/**
 * https://c2sp.org/signed-note forbids Unicode spaces and plus signs. Control characters are excluded because names are
 * displayed.
 */
const NAME = /^[^\p{White_Space}\p{C}+]+$/u;

/** Maximum size of a note. A checkpoint with the signatures of its witnesses is far smaller. */
const MAX_BYTES = 64 * 1024;
const MAX_SIGNATURES = 100;

/** Computes the id that signatures name, 8 hex digits. @param publicKey its 32 bytes */
export function noteKey(name: string, publicKey: Buffer): NoteKey {
  const hashed = createHash('sha256').update(`${name}\n`).update(Buffer.of(ED25519)).update(publicKey).digest('hex');
  return { name, id: hashed.slice(0, 8), publicKey };
}

export function rawPublicKey(key: KeyObject): Buffer {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url');
}

/** Encodes a public key for note.NewVerifier: `name+1a2b3c4d+AbCd…`. */
export function encodeNoteKey({ name, id, publicKey }: NoteKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.of(ED25519), publicKey]).toString('base64')}`;
}

/** @throws NoteError */
export function parseNoteKey(text: string): NoteKey {
  const [name = '', id = '', ...rest] = text.split('+');
  const encoded = decodeBase64(rest.join('+'));
  if (!NAME.test(name) || encoded === null) throw new NoteError('does not have the form name+id+key');
  if (encoded.length !== 33 || encoded[0] !== ED25519) throw new NoteError('is not an Ed25519 key');
  const key = noteKey(name, encoded.subarray(1));
  if (key.id !== id) throw new NoteError('has an id that does not match its name and key: one of them was changed');
  return key;
}

/**
 * Finds public keys in a file that contains other text as well. The length of names is limited, because unlimited
 * backtracking is very slow.
 */
const KEYS = /[^\p{White_Space}\p{C}+"',]{1,255}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}(?![A-Za-z0-9+/=])/gu;

/** Returns all public keys in a string, which may be JSON. @throws NoteError if a key is damaged or there is none */
export function parseNoteKeys(text: string): NoteKey[] {
  const keyTexts = text.match(KEYS) ?? [];
  if (keyTexts.length === 0) throw new NoteError('contains no public key of the form name+id+key');
  return keyTexts.map(parseNoteKey);
}

/** @param text ends with a line feed @param key the private key that belongs to `by` */
export function signNote(text: string, by: NoteKey, key: KeyObject): string {
  const signature = Buffer.concat([Buffer.from(by.id, 'hex'), signBytes(null, Buffer.from(text), key)]);
  return `${text}\n— ${by.name} ${signature.toString('base64')}\n`;
}

/** Parses a note without verifying signatures. @throws NoteError */
export function parseNote(bytes: Buffer): Note {
  const noteText = textOf(bytes);
  if (!noteText.endsWith('\n')) throw new NoteError('is truncated: its last line does not end with a line feed');
  const end = noteText.lastIndexOf('\n\n');
  if (end < 1) throw new NoteError('is truncated or not a signed note: no empty line precedes its signatures');
  const lines = noteText.slice(end + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) throw new NoteError(`has more than ${MAX_SIGNATURES} signatures`);
  return { text: noteText.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function textOf(bytes: Buffer): string {
  if (bytes.length > MAX_BYTES) throw new NoteError('is too large for a signed note');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new NoteError('is not UTF-8');
  }
  if (text.includes('\r')) throw new NoteError('has carriage returns: its line ends were converted');
  // eslint-disable-next-line no-control-regex
  if (/[\0-\x09\x0B-\x1F]/.test(text)) throw new NoteError('has control characters');
  return text;
}

function parseSignature(line: string): NoteSignature {
  const [, name = '', base64 = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  const bytes = decodeBase64(base64);
  if (!NAME.test(name) || bytes === null || bytes.length < 5) {
    throw new NoteError('has an invalid line among its signatures: it was truncated or changed');
  }
  return { name, id: bytes.toString('hex', 0, 4), signature: bytes.subarray(4) };
}

/** Returns null if the text is not in the canonical form. */
function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : null;
}

/**
 * Returns the key among `keys` that signed the note. Signatures of other keys are ignored, as the format requires.
 * @throws NoteError if no key signed it, or if a signature of one of the keys is invalid
 */
export function verifyNote(note: Note, keys: readonly NoteKey[]): NoteKey {
  let signer: NoteKey | undefined;
  for (const { name, id, signature } of note.signatures) {
    const matching = keys.filter((key) => key.name === name && key.id === id);
    if (matching.length === 0) continue;
    const by = matching.find(({ publicKey }) => isSignedBy(note.text, signature, publicKey));
    if (by === undefined) throw new NoteError(`was changed: the signature of ${name}+${id} does not match this text`);
    signer ??= by;
  }
  if (signer !== undefined) return signer;
  const named = note.signatures.map(({ name, id }) => `${name}+${id}`).join(', ');
  throw new NoteError(`is signed by ${named}, and by none of the given keys`);
}

function isSignedBy(text: string, signature: Buffer, publicKey: Buffer): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verifyBytes(null, Buffer.from(text), key, signature);
}

export interface Checkpoint {
  /** Identifies the log, see `originOf`. */
  origin: string;
  /** Position of the last event that the checkpoint covers. */
  position: number;
  /** Hash of that event, in hex. */
  hash: string;
  /**
   * Time of the signature according to the signer's clock, never earlier than the event. ISO 8601, UTC, milliseconds.
   */
  time: string;
}

/**
 * The name of all keys of the service. It need not be unique, because the origin identifies the log. A key is kept when
 * the log forks.
 */
export const KEY_NAME = 'data-platform-service';

/**
 * Identifies a log by the event that began it. This is the first event, or the newest `log.acknowledged` after a
 * divergence. An export therefore suffices to compute the origin. A log that was rewritten from its beginning gets
 * another origin. A restored log keeps its origin.
 * @param hash of that event, in hex
 */
export const originOf = (hash: string): string => `${KEY_NAME}/${hash}`;

/** Returns the text to sign: four lines, each ending with a line feed. */
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
  return { origin, position: Number(position), hash: digest.toString('hex'), time: readTime(more), note };
}

function readTime(lines: readonly string[]): string {
  const time = lines.map((line) => TIME.exec(line)?.[1]).find((text) => text !== undefined);
  expectLine(time !== undefined && !Number.isNaN(Date.parse(time)), 'it has no time');
  return time;
}

function expectLine(holds: boolean, what: string): asserts holds {
  if (!holds) throw new NoteError(`is not a checkpoint: ${what}`);
}

/**
 * Returns the file name of a checkpoint. Sorted by name, the checkpoints of a log are adjacent and in order. The name
 * contains only origin and position, so there is one file per position.
 */
export function fileNameOf({ origin, position }: Pick<Checkpoint, 'origin' | 'position'>): string {
  const log = origin.slice(origin.lastIndexOf('/') + 1, origin.lastIndexOf('/') + 17);
  return `${log}-${String(position).padStart(12, '0')}${FILE_END}`;
}

export const FILE_END = '.checkpoint';
