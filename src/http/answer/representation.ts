/** A cacheable body: bytes with a strong validator, and 304 for conditional requests. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Rendered } from '../../reads/rendered-cache.js';
import type { Answer } from './answer.js';
import { type Coding, CODINGS, encode, readAcceptEncoding, WORTH_CODING } from './content-coding.js';
import { refused } from '../errors.js';

export interface Representation extends Rendered {
  type: string;
  /** The schema position that it reflects; absent if it reflects none. */
  position?: number;
}

/** The part of a request that determines how a representation is sent. */
export type Asked = Pick<IncomingMessage, 'headers'>;

/** `no-cache`: the client may store it but must revalidate before each use. */
const KEEPING = ['Cache-Control', 'no-cache', 'Vary', 'Authorization, Accept-Encoding'] as const;

/**
 * 200 with the bytes in the accepted coding, or 304 if If-None-Match contains the tag of any coding. A client with
 * one coding has the complete content.
 */
export function representationAnswer(
  found: Representation,
  { headers: asked }: Asked,
  headers: readonly string[] = [],
): Answer | Promise<Answer> {
  const { body, etag, type, position } = found;
  const at = position === undefined ? {} : { position };
  const coding = codingFor(asked['accept-encoding'], body.length);
  const tag = tagOf(etag, coding);
  const had = asked['if-none-match'] === undefined ? null : tagThatMatches(asked['if-none-match'], etag, tag);
  if (had !== null) return { status: 304, headers: ['ETag', had, ...KEEPING], body: null, ...at };

  const answer = (bytes: Buffer): Answer => {
    const content = ['Content-Type', type, 'Content-Length', String(bytes.length)];
    if (coding !== null) content.push('Content-Encoding', coding);
    return { status: 200, headers: [...content, 'ETag', tag, ...KEEPING, ...headers], body: bytes, ...at };
  };
  return coding === null ? answer(body) : found.encoded(coding, encode).then(answer);
}

/** Throws `Refused` if the client accepts no available coding. Call it before the request has effects. */
export function requireAcceptable({ 'accept-encoding': acceptEncoding }: IncomingHttpHeaders): void {
  if (acceptEncoding === undefined) return;
  const accepted = readAcceptEncoding(String(acceptEncoding));
  if (accepted.coding !== null || accepted.identity) return;
  const message = `Answers are sent as they are, or in one of ${CODINGS.join(', ')}: Accept-Encoding takes none.`;
  throw refused('NOT_ACCEPTABLE', message, { path: 'Accept-Encoding' });
}

/** The coding for a body of this length; null for none. */
export function codingFor(acceptEncoding: string | string[] | undefined, length: number): Coding | null {
  if (acceptEncoding === undefined) return null;
  const accepted = readAcceptEncoding(String(acceptEncoding));
  return accepted.identity && length < WORTH_CODING ? null : accepted.coding;
}

/** Different bytes need a different strong tag. */
const tagOf = (etag: string, coding: Coding | null): string =>
  coding === null ? etag : `${etag.slice(0, -1)}-${coding}"`;

/**
 * The matching tag, or null. Compared weakly (RFC 9110, 13.1.2), because proxies that recode a body mark its tag as
 * weak. A cache expects its own tag, so `preferred` is only the first choice.
 */
function tagThatMatches(ifNoneMatch: string, etag: string, preferred: string): string | null {
  if (ifNoneMatch === preferred || ifNoneMatch.trim() === '*') return preferred;
  const given = ifNoneMatch.split(',').map((candidate) => candidate.trim().replace(/^W\//, ''));
  const tags = [preferred, etag, ...CODINGS.map((coding) => tagOf(etag, coding))];
  return tags.find((tag) => given.includes(tag)) ?? null;
}
