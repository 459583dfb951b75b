/** Converts any thrown value to a response. */
import { logUnreadable } from '../../pipeline/diverged.js';
import { OverloadedError } from '../../kernel/scheduler.js';
import { environmentProblem, overloaded } from '../../postgres/errors.js';
import type { Logger } from '../../postgres/logger.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import { type Answer, refusal } from './answer.js';
import { Refused } from '../errors.js';
import { ProblemError } from '../../kernel/problem.js';

export interface FailureContext {
  logger: Logger;
  primaryUrl: string | null;
  /** Called for each request that is rejected because the service is overloaded. */
  onOverload: () => void;
}

/**
 * Rejections keep their status, database problems become 503, and all other errors 500 with details only in the log.
 */
export function failureAnswer(
  error: unknown,
  requestId: string,
  { logger, primaryUrl, onOverload }: FailureContext,
): Answer {
  if (error instanceof Refused) return refusal(error.problems, error.headers);
  if (error instanceof ProblemError) return refusal([error.problem]);
  if (error instanceof OverloadedError) {
    onOverload();
    return refusal([overloaded('The service has more requests than it can answer in time')]);
  }
  if (error instanceof URIError) {
    return refusal([{ code: 'INVALID_QUERY', message: 'The path holds a malformed percent-encoding.' }]);
  }
  if (error instanceof UnreadableEventError) return refusal([logUnreadable(error)]);
  const environment = environmentProblem(error, primaryUrl);
  if (environment !== undefined) {
    if (environment.code === 'OVERLOADED') onOverload();
    else logger.warn('request met a database that is away', { request_id: requestId, error });
    return refusal([environment]);
  }
  logger.error('request failed', { request_id: requestId, error });
  const message = 'Something went wrong inside the service. Its log tells more under this request id.';
  return refusal([{ code: 'INTERNAL', message, details: { request_id: requestId } }]);
}
