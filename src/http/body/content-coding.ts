/** Content codings of request bodies (RFC 9110, 8.4). */
import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Refused } from '../errors.js';

/** The output size of a decoder in bytes. */
const CHUNK = { chunkSize: 64 * 1024 };

const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
]);

const TAKEN = ['gzip', 'deflate', 'br', 'identity'];

/** A decoder of the body, or null if it is not encoded. Throws `Refused` for unknown and multiple codings. */
export function decoderOf(req: IncomingMessage): (() => Transform) | null {
  const coding = req.headers['content-encoding']?.trim().toLowerCase() ?? '';
  const found = coding === 'identity' || coding === '' ? null : DECODERS.get(coding);
  if (found !== undefined) return found;
  const message = `The content coding ${JSON.stringify(coding)} is not supported: send one of ${TAKEN.join(', ')}.`;
  throw new Refused(
    [{ code: 'UNSUPPORTED_MEDIA_TYPE', message, details: { content_encoding: coding } }],
    ['Accept-Encoding', TAKEN.join(', ')],
  );
}
