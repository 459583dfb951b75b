import { z } from 'zod';
import { TIME_RANGE } from '../../kernel/time.js';
import type { History } from '../../reads/history/index.js';
import { readMoment } from '../../reads/history/time-travel.js';
import { refused } from '../errors.js';
import { count } from './query.js';

/** A position of the log; 0 is before the first event. */
export const position = count.describe('A position of the log');

/** A cursor: a position, optionally with the hash of its event. */
export interface Cursor {
  position: number;
  /** The hash of the event, or a prefix of the hash. */
  hash?: string;
}

const CURSOR = /^(\d{1,15})(?:-([0-9a-f]{8,64}))?$/;

/** Parses `42` or `42-3f9a…`. With the hash, the service can detect that the client has read another log. */
export const cursor = z.string().transform((text, context): Cursor => {
  const [, position, hash] = CURSOR.exec(text) ?? [];
  if (position !== undefined) return { position: Number(position), ...(hash !== undefined && { hash }) };
  context.addIssue('must be a position of the log (42), optionally with the hash of its event (42-3f9a…).');
  return z.NEVER;
});

/** @throws RejectedError 409 DIVERGED if the log has no event at the position, or a different one */
export async function requireInLog({ position, hash }: Cursor, history: Pick<History, 'holds'>): Promise<void> {
  if (hash === undefined || (await history.holds({ position, hash }))) return;
  throw refused(
    'DIVERGED',
    `Event ${position} with this hash does not exist: the log is not the one that you read before. Read it again.`,
    { details: { position, hash } },
  );
}

/** A position, a time, or now. */
export const moment = z
  .string()
  .transform((text, context) => {
    const read = readMoment(text);
    if (read !== null) return read;
    context.addIssue(
      'must be a position, an ISO 8601 time with its time zone (2026-11-21T08:05:03Z), a day, or now; a time ' +
        `${TIME_RANGE}.`,
    );
    return z.NEVER;
  })
  .describe('A position of the log, an ISO 8601 time with its time zone, a day, or `now`');

const MAX_PAGE = 1_000;

const PAGE_SIZE = { error: `must be an integer from 1 to ${MAX_PAGE}.` };

export const pageSize = z
  .string()
  .regex(/^\d{1,4}$/, PAGE_SIZE)
  .transform(Number)
  .pipe(z.int().min(1, PAGE_SIZE).max(MAX_PAGE, PAGE_SIZE))
  .default(100)
  .describe('Maximum number of items');
