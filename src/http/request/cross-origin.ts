/** What browsers are told about pages of other origins: who may ask, and which headers they may send and see. */
import cors from 'cors';
import type { RequestHandler } from 'express';

/** Of ours, beyond those that every script may see. */
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

/** Seconds that a browser may keep the answer to its question. */
const MAX_AGE = 600;

/** Answers preflights and marks answers for pages of `origins`; all other pages are told nothing. */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  return cors({
    origin: [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED,
    credentials: true,
    maxAge: MAX_AGE,
  });
}
