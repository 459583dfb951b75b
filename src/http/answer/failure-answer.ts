/** From whatever was thrown to an answer. */
import { logUnreadable } from '../../pipeline/diverged.js';
import { environmentProblem } from '../../postgres/errors.js';
import type { Logger } from '../../postgres/logger.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import { type Answer, refusal } from './answer.js';
import { Refused } from '../errors.js';
import { ProblemError } from '../../kernel/problem.js';

/** Refusals as they are, trouble of the database as 503, anything else as 500 with its details in the log alone. */
export function failureAnswer(
  error: unknown,
  requestId: string,
  { logger, primaryUrl }: { logger: Logger; primaryUrl: string | null },
): Answer {
  if (error instanceof Refused) return refusal(error.problems, error.headers);
  if (error instanceof ProblemError) return refusal([error.problem]);
  if (error instanceof URIError) {
    return refusal([{ code: 'INVALID_QUERY', message: 'The path holds a malformed percent-encoding.' }]);
  }
  if (error instanceof UnreadableEventError) return refusal([logUnreadable(error)]);
  const environment = environmentProblem(error, primaryUrl);
  if (environment !== undefined) {
    logger.warn('request met a database that is away', { request_id: requestId, error });
    return refusal([environment]);
  }
  logger.error('request failed', { request_id: requestId, error });
  const message = 'Something went wrong inside the service. Its log tells more under this request id.';
  return refusal([{ code: 'INTERNAL', message, details: { request_id: requestId } }]);
}
