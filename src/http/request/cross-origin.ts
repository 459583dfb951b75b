/** CORS headers: which origins may call the API, and which headers they may send and read. */
import cors from 'cors';
import type { RequestHandler } from 'express';

/** Our response headers, beyond those that every script may read. */
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

/** Answers preflights and sets the headers for `origins`. Other origins get no CORS headers. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    credentials: true,
    maxAge: MAX_AGE,
  });
}
