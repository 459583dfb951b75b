/* Reads request headers, and writes the CORS headers of responses. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isUtf8 } from 'node:buffer';
import cors from 'cors';
import type { RequestHandler, Request } from 'express';
import type { Acknowledgement } from '../../schema/policy.js';
import { refused } from '../errors.js';
import { type Cursor, cursor } from './query.js';
import { INVALID_LOCATION, canonicalLocation } from '../../schema/model/location.js';

/* Read the request headers that the service uses. Malformed headers are rejected and never ignored. */

const SANE_REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/;
const ENTITY_TAG = /^(?:W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;
const AT_LEAST = 'x-log-position-at-least';
const MAX_REASON = 1000;
const MAX_USER_AGENT = 512;

/** Returns the client's X-Request-Id if it is safe for logs and headers, and otherwise a new UUID. */
export function requestIdOf(req: IncomingMessage): string {
  const id = req.headers['x-request-id'];
  return typeof id === 'string' && SANE_REQUEST_ID.test(id) ? id : randomUUID();
}

/** Returns the bearer token. Null without an Authorization header. Undefined if the header is not a bearer token. */
export function bearerToken(req: Pick<IncomingMessage, 'headers'>): string | null | undefined {
  const header = req.headers.authorization;
  if (header === undefined) return null;
  return /^bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
}

/** Reads X-Reason, the reason for a change. It is stored with the events of the change. */
export function reasonOf(req: IncomingMessage): string | null {
  const text = headerText(req, 'x-reason');
  if (text === undefined) return null;
  if (Array.from(text).length > MAX_REASON) {
    throw refused('INVALID_PAYLOAD', `X-Reason must have at most ${MAX_REASON} characters.`, { path: 'X-Reason' });
  }
  return text === '' ? null : text;
}

/** Reads X-Log-Position-At-Least, the minimum position of the response. It can contain the hash of the event. */
export function atLeastOf(req: IncomingMessage): Cursor | undefined {
  const position = req.headers[AT_LEAST];
  if (position === undefined) return undefined;
  const read = cursor.safeParse(position);
  if (read.success) return read.data;
  throw refused('INVALID_PAYLOAD', `X-Log-Position-At-Least ${read.error.issues[0]?.message}`, {
    path: 'X-Log-Position-At-Least',
  });
}

/**
 * Returns the Idempotency-Key. Null if absent.
 * @throws RejectedError INVALID_PAYLOAD
 */
export function idempotencyKeyOf(req: IncomingMessage): string | null {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw refused('INVALID_PAYLOAD', 'Idempotency-Key must be 1 to 255 printable ASCII characters.', {
    path: 'Idempotency-Key',
  });
}

/**
 * Reads the required schema hash from If-Match. Undefined if absent or `*`, because a schema always exists. A weak tag
 * never matches (RFC 9110, 13.1.1).
 */
export function ifMatchOf(req: IncomingMessage): string | undefined {
  const header = req.headers['if-match']?.trim();
  if (header === undefined || header === '*') return undefined;
  const tag = ENTITY_TAG.exec(header)?.[1];
  if (tag === undefined) {
    throw refused('INVALID_PAYLOAD', 'If-Match must be one entity tag in double quotes, or *.', { path: 'If-Match' });
  }
  return header.startsWith('W/') ? `W/${tag}` : tag;
}

/** Reads X-Acknowledge, acknowledged findings such as `LOSES_DATA:articles.title`, separated by commas. */
export function acknowledgeOf(req: IncomingMessage): Acknowledgement[] | undefined {
  const text = headerText(req, 'x-acknowledge');
  if (text === undefined || text.trim() === '') return undefined;
  return text.split(',').map((part) => {
    const [, code, place = ''] = /^\s*([A-Z_]+):(.*?)\s*$/s.exec(part) ?? [];
    const location = canonicalLocation(place);
    if (code !== undefined && location !== undefined) return { code, place: location };
    const message = `X-Acknowledge must be a comma-separated list of CODE:place; ${INVALID_LOCATION}.`;
    throw refused('INVALID_PAYLOAD', message, { path: 'X-Acknowledge' });
  });
}

/** Returns the User-Agent, truncated to `MAX_USER_AGENT` code points. Null if empty or absent. It is never rejected. */
export function userAgentOf(req: IncomingMessage): string | null {
  const text = headerText(req, 'user-agent') ?? '';
  // The text is truncated by code points, because PostgreSQL rejects half a surrogate pair.
  return Array.from(text).slice(0, MAX_USER_AGENT).join('') || null;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?=$|-)/;

/**
 * Returns the trace of the request (W3C Trace Context), as far as this version of the standard defines it. The standard
 * requires services to ignore invalid values.
 */
export function traceparentOf(req: IncomingMessage): string | undefined {
  const traceparent = String(req.headers['traceparent']);
  const [valid, version] = TRACEPARENT.exec(traceparent) ?? [];
  // Only later versions may have further parts.
  return version === '00' && valid !== traceparent ? undefined : valid;
}

/**
 * Returns the client address. It comes from the proxies in TRUST_PROXY, or otherwise from the socket. The IPv6 prefix
 * of IPv4 addresses and a port that some proxies add are removed. Invalid addresses are ignored.
 */
export function addressOf(req: Pick<Request, 'ip' | 'socket'>): string | null {
  const address = stripBrackets(req.ip);
  return address !== null && isIP(address) !== 0 ? address : stripBrackets(req.socket.remoteAddress);
}

function stripBrackets(address: string | undefined): string | null {
  return (
    address
      ?.replace(/^\[(.*)\](?::\d+)?$/, '$1')
      .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1')
      .replace(/^::ffff:/i, '') ?? null
  );
}

/** Reads a header as UTF-8, which nearly all clients send. Node decodes headers as latin1. */
function headerText(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  if (value === undefined) return undefined;
  const bytes = Buffer.from(String(value), 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1');
}

/* Write CORS headers. They name the origins that may call the API, and which headers they may send and read. */

/** The response headers of the service that scripts may read, in addition to those that every script may read. */
const EXPOSED = [
  'ETag',
  'Location',
  'Retry-After',
  'X-Batch-Id',
  'X-Log-Lag',
  'X-Log-Position',
  'X-Request-Id',
  'X-Warnings',
];

/** Seconds that a browser may cache a preflight response. */
const MAX_AGE = 600;

/** Responds to preflight requests, and sets the headers for `origins`. Other origins get no CORS headers. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    credentials: true,
    maxAge: MAX_AGE,
  });
}
