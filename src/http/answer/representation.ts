/* A cacheable body: bytes with a strong validator, and 304 for conditional requests. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, gzip } from 'node:zlib';
import { createAttachment } from '../../kernel/attachment.js';
import { SharedBytes, toBuffer } from '../../kernel/bytes.js';
import type { Rendered } from '../../reads/rendered-cache.js';
import type { Answer } from './answer.js';
import { refused } from '../errors.js';

/* Negotiates content codings from `Accept-Encoding` (RFC 9110, 12.5.3). */

/** The supported codings in order of preference. */
const CODINGS = ['br', 'gzip'] as const;
export type Coding = (typeof CODINGS)[number];

/** Minimum size in bytes of a body that is compressed. A smaller body fits into one packet anyway. */
const WORTH_CODING = 1_400;

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** At its default quality, brotli takes far longer than the transfer time that it saves. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 5 };

/** Encodes `body` outside the event loop. */
export function encode(content: Buffer | SharedBytes | string, coding: Coding): Promise<Buffer | SharedBytes> {
  if (content instanceof SharedBytes && coding === 'gzip') return zipParts(content);
  const body = content instanceof SharedBytes ? toBuffer(content) : content;
  return coding === 'gzip' ? zip(body, { level: 6 }) : brotli(body, { params: QUALITY });
}

/* Create gzip (RFC 1952) of bytes that several bodies share. Each part is compressed once, and every body can use
   the result. */

const deflatePart = promisify(deflateRaw);

/** Options that end a part at a byte boundary without ending the stream, so that the next part can follow. */
const PART = { level: 6, finishFlush: constants.Z_SYNC_FLUSH };

/** The header contains no time and no file name. The operating system is 255, unknown. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Returns an empty last block, followed by the checksum and the number of bytes. */
const gzipTrailer = (checksum: number, length: number): Buffer => {
  const trailer = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  trailer.writeUInt32LE(checksum, 2);
  trailer.writeUInt32LE(length % 2 ** 32, 6);
  return trailer;
};

/** A compressed part, with the values from which the checksum of a stream is computed. */
interface ZippedPart {
  piece: Buffer;
  checksum: number;
  /** x to the power of the number of bits in the part. */
  shift: number;
}

const zippedParts = createAttachment<Buffer, ZippedPart>();

async function zipParts({ parts, length }: SharedBytes): Promise<SharedBytes> {
  const pieces: Buffer[] = [GZIP_HEADER];
  let checksum = 0;
  for (const part of parts) {
    const zipped = zippedParts.get(part) ?? (await zipPart(part));
    pieces.push(zipped.piece);
    checksum = multiply(zipped.shift, checksum) ^ zipped.checksum;
  }
  return new SharedBytes([...pieces, gzipTrailer(checksum >>> 0, length)]);
}

async function zipPart(part: Buffer): Promise<ZippedPart> {
  const zipped = { piece: await deflatePart(part, PART), checksum: crc32(part), shift: powerOfX(part.length * 8) };
  zippedParts.set(part, zipped);
  return zipped;
}

/* Compute the CRC-32 of joined parts from those of the parts, as `crc32_combine` of zlib does. Checksums are
   polynomials over GF(2) modulo POLYNOMIAL, with the bits reversed. */

const POLYNOMIAL = 0xed_b8_83_20;
const ONE = 0x80_00_00_00;

function multiply(a: number, b: number): number {
  let sum = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) sum ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return sum;
}

function powerOfX(exponent: number): number {
  let power = ONE;
  let square = ONE >>> 1;
  for (let left = exponent; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) power = multiply(square, power);
    square = multiply(square, square);
  }
  return power;
}

/** The codings that the client accepts. */
interface AcceptedCodings {
  /** True if unencoded bodies are acceptable and at least as preferred as any coding. */
  identity: boolean;
  /** The preferred coding. Null if the client accepts none of the supported codings, or prefers unencoded bodies. */
  coding: Coding | null;
}

const acceptedByHeader = new Map<string, AcceptedCodings>();
const KNOWN_AT_MOST = 200;

/** Parses Accept-Encoding. Clients send few different values, so each is parsed once and cached. */
export function readAcceptEncoding(header: string): AcceptedCodings {
  const cached = acceptedByHeader.get(header);
  if (cached !== undefined) return cached;
  if (acceptedByHeader.size >= KNOWN_AT_MOST) acceptedByHeader.clear();
  const accepted = read(header);
  acceptedByHeader.set(header, accepted);
  return accepted;
}

function read(header: string): AcceptedCodings {
  const weights = weightsOf(header);
  const weightOf = (coding: string): number | undefined =>
    weights.get(coding) ?? (coding === 'gzip' ? weights.get('x-gzip') : undefined) ?? weights.get('*');
  const identity = weightOf('identity');
  // If the header does not name identity, the client accepts it but prefers every coding that is named.
  const atLeast = weights.has('identity') ? (identity ?? 0) : 0;
  let coding: Coding | null = null;
  let best = 0;
  for (const each of CODINGS) {
    const weight = weightOf(each) ?? 0;
    if (weight <= best || weight < atLeast) continue;
    coding = each;
    best = weight;
  }
  return { identity: identity !== 0, coding };
}

/** Parses `gzip;q=0.5, *;q=0`. An invalid weight counts as 0. */
function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2);
    const read = weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0;
    if (coding !== '') weights.set(coding, read);
  }
  return weights;
}

interface Representation extends Rendered {
  type: string;
  /** The schema position that the content reflects. Absent if it reflects none. */
  position?: number;
}

/** The part of a request that determines how a representation is sent. */
type RequestHeaders = Pick<IncomingMessage, 'headers'>;

/**
 * Headers of cacheable responses. With `no-cache`, clients may store a response but must revalidate it before each use.
 */
const KEEPING = ['Cache-Control', 'no-cache', 'Vary', 'Authorization, Accept-Encoding'] as const;

/**
 * Returns 200 with the bytes in the accepted coding, or 304 if If-None-Match contains the tag for any coding. A client
 * that has one coding has the complete content.
 */
export function representationAnswer(
  representation: Representation,
  { headers: requestHeaders }: RequestHeaders,
  headers: readonly string[] = [],
): Answer | Promise<Answer> {
  const { body, etag, type, position } = representation;
  const at = position === undefined ? {} : { position };
  const coding = codingFor(requestHeaders['accept-encoding'], body.length);
  const tag = tagOf(etag, coding);
  const had =
    requestHeaders['if-none-match'] === undefined ? null : tagThatMatches(requestHeaders['if-none-match'], etag, tag);
  if (had !== null) return { status: 304, headers: ['ETag', had, ...KEEPING], body: null, ...at };

  const answer = (bytes: Buffer | SharedBytes): Answer => {
    const content = ['Content-Type', type, 'Content-Length', String(bytes.length)];
    if (coding !== null) content.push('Content-Encoding', coding);
    return { status: 200, headers: [...content, 'ETag', tag, ...KEEPING, ...headers], body: bytes, ...at };
  };
  return coding === null ? answer(body) : representation.encoded(coding, encode).then(answer);
}

/** Throws `RejectedError` if the client accepts no available coding. Must be called before the request has effects. */
export function requireAcceptable({ 'accept-encoding': acceptEncoding }: IncomingHttpHeaders): void {
  if (acceptEncoding === undefined) return;
  const accepted = readAcceptEncoding(String(acceptEncoding));
  if (accepted.coding !== null || accepted.identity) return;
  const message = `Accept-Encoding excludes every supported encoding. Accept identity or one of ${CODINGS.join(', ')}.`;
  throw refused('NOT_ACCEPTABLE', message, { path: 'Accept-Encoding' });
}

/** Returns the coding for a body of this length. Null for no coding. */
export function codingFor(acceptEncoding: string | string[] | undefined, length: number): Coding | null {
  if (acceptEncoding === undefined) return null;
  const accepted = readAcceptEncoding(String(acceptEncoding));
  return accepted.identity && length < WORTH_CODING ? null : accepted.coding;
}

/** Returns the tag for a coding. Different bytes need different strong tags. */
const tagOf = (etag: string, coding: Coding | null): string =>
  coding === null ? etag : `${etag.slice(0, -1)}-${coding}"`;

/**
 * Returns the matching tag, or null. Tags are compared weakly (RFC 9110, 13.1.2), because a proxy that changes the
 * coding marks the tag as weak. `preferred` is only the first choice, because a cache expects the tag that it sent.
 */
function tagThatMatches(ifNoneMatch: string, etag: string, preferred: string): string | null {
  if (ifNoneMatch === preferred || ifNoneMatch.trim() === '*') return preferred;
  const candidates = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''));
  const tags = [preferred, etag, ...CODINGS.map((coding) => tagOf(etag, coding))];
  return tags.find((tag) => candidates.includes(tag)) ?? null;
}

/* Encode responses that are generated for each request. */

/** Headers that describe the bytes. A representation has already set them. */
const OF_THE_BYTES = new Set(['Content-Length', 'Content-Encoding']);

/** Encodes the body of `answer` if the client accepts that and it is large enough. */
export function encodeAnswer(req: IncomingMessage, answer: Answer): Answer | Promise<Answer> {
  const accepted = req.headers['accept-encoding'];
  const { body, headers } = answer;
  if (accepted === undefined || body === null || headers.includes('ETag')) return answer;
  const coding = codingFor(accepted, body.length);
  if (coding === null) return answer;
  return encode(body, coding).then((bytes) => {
    const kept: string[] = [
      'Content-Encoding',
      coding,
      'Content-Length',
      String(bytes.length),
      'Vary',
      'Accept-Encoding',
    ];
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      if (!OF_THE_BYTES.has(name)) kept.push(name, headers[index + 1] as string);
    }
    return { ...answer, headers: kept, body: bytes };
  });
}
