/** One request from end to end: who, then what, then the answer and its line in the log. */
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import type { Identify } from '../auth/identify.js';
import { inTime } from '../kernel/in-time.js';
import { unavailable } from '../postgres/errors.js';
import type { Answer } from './answer.js';
import { authorize } from './authorize.js';
import type { Bodies } from './body/index.js';
import { ClientGone } from './body/limited-bytes.js';
import type { HttpDeps } from './deps.js';
import { encoded } from './encoded.js';
import { failureAnswer } from './failure.js';
import { readParams } from './query.js';
import { requireAcceptable } from './representation.js';
import { requestIdOf } from './request-headers.js';
import type { RequestLog } from './request-log.js';
import { respond } from './respond.js';
import type { Route } from './route.js';
import { ProblemError } from '../kernel/problem.js';

export type Handler = (req: Request, res: Response) => Promise<void>;

export interface Serving {
  deps: HttpDeps;
  log: RequestLog;
  bodies: Bodies;
}

/** Milliseconds that the database gets to show that it is there. */
const ANSWER_LIMIT = 2_000;

function orNull<T>(answer: Promise<T>): Promise<T | null> {
  return inTime(answer, ANSWER_LIMIT).catch(() => null);
}

/** No user can be looked up now: an unknown token may be right, so this is no 401. */
function knownBefore(identify: Identify, token: string): Promise<Caller> {
  const caller = identify.lastKnown(token);
  if (caller !== null) return Promise.resolve(caller);
  throw new ProblemError(unavailable('The database can not be read, and this process does not know the token.'));
}

/** The express handler of a route. It never rejects. */
export function serve(route: Route, { deps, log, bodies }: Serving): Handler {
  const { access, path } = route;
  const { freshness, auth, logger } = deps;

  return async (req, res) => {
    const started = performance.now();
    const requestId = requestIdOf(req);
    let caller: Caller | null = null;
    let answer: Answer;
    try {
      let head = 0;
      let waited = 0;
      if (access !== 'anyone') {
        const fresh = await (route.whileDatabaseIsAway ? orNull(freshness.check()) : freshness.check());
        head = fresh?.head ?? 0;
        caller = await authorize(req, access, (token) =>
          fresh ? auth.identify(token, fresh.authEpoch) : knownBefore(auth.identify, token),
        );
        waited = performance.now() - started;
      }
      requireAcceptable(req.headers);
      const exchange = { req, requestId, params: readParams(req.params as Record<string, string>), head, waited };
      answer = await encoded(req, await route.answer(exchange, caller, bodies));
    } catch (error) {
      if (error instanceof ClientGone) {
        logger.info('client hung up', { method: req.method, route: path, request_id: requestId });
        return;
      }
      answer = failureAnswer(error, requestId, logger);
    }
    respond(req, res, requestId, answer);
    log({
      method: req.method,
      route: path,
      status: answer.status,
      started,
      requestId,
      position: answer.position,
      caller,
    });
  };
}
