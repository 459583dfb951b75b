/**
 * Signed notes: text with Ed25519 signatures, in the format of Go's checksum database (golang.org/x/mod/sumdb/note),
 * specified in https://c2sp.org/signed-note. Any program that reads those reads ours.
 */
import { type KeyObject, createHash, createPublicKey, sign as signBytes, verify as verifyBytes } from 'node:crypto';

/** A public key and the name it signs under. */
export interface NoteKey {
  name: string;
  /** The first four bytes of the hash of name and key, hex: it helps to find a key, and proves nothing. */
  id: string;
  /** 32 bytes, as RFC 8032 encodes them. */
  publicKey: Buffer;
}

export interface NoteSignature {
  name: string;
  /** Of the key, hex. */
  id: string;
  signature: Buffer;
}

export interface Note {
  /** What is signed, its last line feed included. */
  text: string;
  signatures: NoteSignature[];
}

/** What is not a signed note, said so that a sentence can go on with it: "has carriage returns". */
export class NoteError extends Error {
  override readonly name = 'NoteError';
}

/** The type of a signature in a key's id and encoding. */
const ED25519 = 0x01;

/** https://c2sp.org/signed-note: no spaces of Unicode, no plus. Nor what a terminal obeys: names are shown. */
const NAME = /^[^\p{White_Space}\p{C}+]+$/u;

/** Far more than a checkpoint with its witnesses' signatures has. */
const MAX_BYTES = 64 * 1024;
const MAX_SIGNATURES = 100;

/** With the id that signatures name it by: 8 hex digits. @param publicKey the 32 bytes of it */
export function noteKey(name: string, publicKey: Buffer): NoteKey {
  const hashed = createHash('sha256').update(`${name}\n`).update(Buffer.of(ED25519)).update(publicKey).digest('hex');
  return { name, id: hashed.slice(0, 8), publicKey };
}

/** The 32 bytes of the public half of a key. */
export function rawPublicKey(key: KeyObject): Buffer {
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url');
}

/** A public key as note.NewVerifier takes it: `name+1a2b3c4d+AbCd…`. */
export function encodeNoteKey({ name, id, publicKey }: NoteKey): string {
  return `${name}+${id}+${Buffer.concat([Buffer.of(ED25519), publicKey]).toString('base64')}`;
}

/** @throws NoteError */
export function parseNoteKey(text: string): NoteKey {
  const [name = '', id = '', ...rest] = text.split('+');
  const encoded = decodeBase64(rest.join('+'));
  if (!NAME.test(name) || encoded === null) throw new NoteError('is not of the form name+id+key');
  if (encoded.length !== 33 || encoded[0] !== ED25519) throw new NoteError('is not an Ed25519 key');
  const key = noteKey(name, encoded.subarray(1));
  if (key.id !== id) throw new NoteError('has an id that is not of its name and its key: one of them was changed');
  return key;
}

/** What a public key looks like in a file that holds more than one, or more than that. Unlimited, a name takes ages to miss. */
const KEYS = /[^\p{White_Space}\p{C}+"',]{1,255}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}(?![A-Za-z0-9+/=])/gu;

/** All public keys in a text: one a line, or in JSON. @throws NoteError where one is damaged, or there is none */
export function parseNoteKeys(text: string): NoteKey[] {
  const found = text.match(KEYS) ?? [];
  if (found.length === 0) throw new NoteError('holds no public key of the form name+id+key');
  return found.map(parseNoteKey);
}

/** @param text ends with a line feed @param key the private half of `by` */
export function signNote(text: string, by: NoteKey, key: KeyObject): string {
  const signature = Buffer.concat([Buffer.from(by.id, 'hex'), signBytes(null, Buffer.from(text), key)]);
  return `${text}\n— ${by.name} ${signature.toString('base64')}\n`;
}

/** Takes a note apart; no signature is verified. @throws NoteError */
export function parseNote(bytes: Buffer): Note {
  const whole = textOf(bytes);
  if (!whole.endsWith('\n')) throw new NoteError('is cut off: its last line has no end');
  const end = whole.lastIndexOf('\n\n');
  if (end < 1) throw new NoteError('is cut off, or no signed note: no empty line comes before its signatures');
  const lines = whole.slice(end + 2, -1).split('\n');
  if (lines.length > MAX_SIGNATURES) throw new NoteError(`has more than ${MAX_SIGNATURES} signatures`);
  return { text: whole.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function textOf(bytes: Buffer): string {
  if (bytes.length > MAX_BYTES) throw new NoteError('is too large for a signed note');
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new NoteError('is not UTF-8');
  }
  if (text.includes('\r')) throw new NoteError('has carriage returns: its line ends were changed on the way');
  // eslint-disable-next-line no-control-regex
  if (/[\0-\x09\x0B-\x1F]/.test(text)) throw new NoteError('has control characters');
  return text;
}

function parseSignature(line: string): NoteSignature {
  const [, name = '', base64 = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  const bytes = decodeBase64(base64);
  if (!NAME.test(name) || bytes === null || bytes.length < 5) {
    throw new NoteError('has a line among its signatures that is none: it was cut off or changed');
  }
  return { name, id: bytes.toString('hex', 0, 4), signature: bytes.subarray(4) };
}

/** Null for what another spelling would say as well. */
export function decodeBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : null;
}

/**
 * The key among `keys` that has signed the note. Signatures of other keys are passed over, as the format asks for.
 * @throws NoteError where none has, or the signature of one is wrong
 */
export function verifyNote(note: Note, keys: readonly NoteKey[]): NoteKey {
  let signer: NoteKey | undefined;
  for (const { name, id, signature } of note.signatures) {
    const known = keys.filter((key) => key.name === name && key.id === id);
    if (known.length === 0) continue;
    const by = known.find(({ publicKey }) => isSignedBy(note.text, signature, publicKey));
    if (by === undefined) throw new NoteError(`was changed: the signature of ${name}+${id} is not of this text`);
    signer ??= by;
  }
  if (signer !== undefined) return signer;
  const named = note.signatures.map(({ name, id }) => `${name}+${id}`).join(', ');
  throw new NoteError(`is not signed by a key that was given, but by ${named}`);
}

function isSignedBy(text: string, signature: Buffer, publicKey: Buffer): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  return verifyBytes(null, Buffer.from(text), key, signature);
}
