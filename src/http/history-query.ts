/** Query parameters of /history. */
import { z } from 'zod';
import { TIME_RANGE } from '../kernel/time.js';
import { readMoment } from '../reads/history/moment.js';
import { count } from './query.js';

/** A position of the log; 0: before the first event. */
export const position = count;

/** A position, a time, or now. */
export const moment = z.string().transform((text, context) => {
  const read = readMoment(text);
  if (read !== null) return read;
  context.addIssue(
    'must be a position, an ISO 8601 time with its zone (2026-11-21T08:05:03Z), a day, or now; a time ' +
      `${TIME_RANGE}.`,
  );
  return z.NEVER;
});

const MAX_PAGE = 1_000;

export const pageSize = z
  .string()
  .regex(/^\d{1,4}$/, { error: `must be an integer from 1 to ${MAX_PAGE}.` })
  .transform(Number)
  .refine((value) => value >= 1 && value <= MAX_PAGE, { error: `must be an integer from 1 to ${MAX_PAGE}.` })
  .default(100);
