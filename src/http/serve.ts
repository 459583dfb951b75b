/** One request from end to end: who, then what, then the answer and its line in the log. */
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import type { Answer } from './answer.js';
import { authenticate } from './authenticate.js';
import { ClientGone } from './body/raw.js';
import type { HttpDeps } from './deps.js';
import { failureAnswer } from './failure.js';
import { requestIdOf } from './request-headers.js';
import type { RequestLog } from './request-log.js';
import { respond } from './respond.js';
import type { Route } from './route.js';

export type Handler = (req: Request, res: Response) => Promise<void>;

export interface Serving {
  deps: HttpDeps;
  log: RequestLog;
}

/** The express handler of a route. It never rejects. */
export function serve(route: Route, { deps, log }: Serving): Handler {
  const { access, path } = route;
  const { config, freshness, auth, logger } = deps;

  return async (req, res) => {
    const started = performance.now();
    const requestId = requestIdOf(req);
    let caller: Caller | null = null;
    let answer: Answer;
    try {
      let head = 0;
      if (access !== 'anyone') {
        const fresh = await freshness.check();
        head = fresh.head;
        caller = await authenticate(req, access, { identify: auth.identify, epoch: fresh.authEpoch });
      }
      const exchange = { req, requestId, params: req.params as Record<string, string>, head };
      answer = await route.answer(exchange, caller, config.maxBody);
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
