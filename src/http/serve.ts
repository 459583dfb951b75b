/* Serves a request: authentication, handler, response, log line. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { type Caller, allows } from '../features/accounts/caller.js';
import type { Identify } from '../features/accounts/identify.js';
import { NotInTimeError, limitTime } from '../kernel/time.js';
import { AbandonedError, runAsChange, runAsRead, scheduler } from '../kernel/scheduler.js';
import { environmentProblem, readOnly, unavailableProblem } from '../postgres/errors.js';
import type { FreshState } from '../reads/freshness.js';
import { type Answer, failureAnswer } from './answer/answer.js';
import type { Bodies } from './body/index.js';
import type { HttpDeps } from './deps.js';
import { encodeAnswer, requireAcceptable } from './answer/representation.js';
import { onClose, respond } from './answer/stream.js';
import { readParams, requireInLog } from './request/query.js';
import { RejectedError, refused } from './errors.js';
import { atLeastOf, bearerToken, requestIdOf } from './request/headers.js';
import { CHALLENGE, requireScope } from './request/scope.js';
import type { HandledRequest, RequestLog } from './request-log.js';
import type { Quotas } from './quotas.js';
import type { Route } from './route.js';
import { ProblemError } from '../kernel/problem.js';

/* Authenticates and authorizes the caller. */

/**
 * Returns the caller of the bearer token.
 * @throws RejectedError UNAUTHENTICATED, or FORBIDDEN if the role is too low or the scope of the token does not cover
 * the request
 */
export async function authorize(
  req: Pick<Request, 'headers' | 'ip' | 'socket'>,
  { access, action, collections }: Pick<Route, 'access' | 'action' | 'collections'>,
  identify: (token: string) => Promise<Caller | null>,
): Promise<Caller> {
  const token = bearerToken(req);
  if (token === null)
    throw unauthenticated('Authentication is required. Send the header Authorization: Bearer with a token.');
  if (token === undefined) throw unauthenticated('Authorization must be Bearer and a token.', 'invalid_request');
  const caller = await identify(token);
  if (caller === null) throw unauthenticated('The token is unknown, expired or revoked.', 'invalid_token');
  if (!allows(caller.role, access)) {
    throw refused('FORBIDDEN', `This request requires the role ${access}, and your role is ${caller.role}.`);
  }
  requireScope(req, caller, { action, collections });
  return caller;
}

/** @param error the error code of RFC 6750 */
export function unauthenticated(message: string, error?: string): RejectedError {
  const challenge = error === undefined ? CHALLENGE : `${CHALLENGE}, error="${error}"`;
  return new RejectedError([{ code: 'UNAUTHENTICATED', message }], ['WWW-Authenticate', challenge]);
}

type Handler = (req: Request, res: Response) => Promise<void>;

export interface ServeContext {
  deps: HttpDeps;
  log: RequestLog;
  bodies: Bodies;
  quotas: Quotas;
  onOverload: () => void;
}

/** Milliseconds within which the database must respond. */
const ANSWER_LIMIT = 2_000;

function awaitOrNull<T>(answer: Promise<T>): Promise<T | null> {
  return limitTime(answer, ANSWER_LIMIT).catch(() => null);
}

/** Milliseconds between two attempts while the database is unavailable. */
const PAUSE = 300;

const NO_ANSWER = 'The database does not respond. Nothing was changed. Try again later.';

/**
 * Runs `work`. While the database is unavailable, retries for `patience` milliseconds, because the database may be
 * restarting or failing over.
 */
async function waitWhileUnavailable<T>(patience: number, work: () => Promise<T>): Promise<T> {
  const end = performance.now() + patience;
  for (;;) {
    try {
      if (patience === 0) return await work();
      return await limitTime(work(), Math.max(1, end - performance.now()));
    } catch (error) {
      if (error instanceof NotInTimeError) throw new ProblemError(unavailableProblem(NO_ANSWER), error);
      const problem = error instanceof ProblemError ? error.problem : environmentProblem(error);
      if (problem?.code !== 'UNAVAILABLE' || performance.now() + PAUSE >= end) throw error;
      await sleep(PAUSE * (0.5 + Math.random() / 2));
    }
  }
}

/**
 * Returns the last known user of a token while users cannot be looked up. A token without one may be valid, so 401
 * would be wrong.
 */
function identifyFromCache(identify: Identify, token: string): Promise<Caller> {
  const caller = identify.lastKnown(token);
  if (caller !== null) return Promise.resolve(caller);
  throw new ProblemError(
    unavailableProblem('The database is unavailable, and this process has not seen the token before. Try again later.'),
  );
}

/** The facts about a request that are known when its response is written. */
interface ResponseContext {
  fresh: FreshState | null;
  caller: Caller | null;
}

/**
 * Authenticates the caller and waits until the database can serve the route.
 * @param context receives the facts step by step, so that an error response has them too
 */
async function admit(
  req: Request,
  route: Route,
  { deps, facts }: { deps: HttpDeps; facts: ResponseContext },
): Promise<void> {
  const { access, needsPrimary } = route;
  if (access === 'anyone' && !needsPrimary) return;
  const check = deps.freshness.check();
  facts.fresh = await (route.whileDatabaseIsAway ? awaitOrNull(check) : check);
  if (access !== 'anyone') {
    facts.caller = await identify(req, route, { deps, facts }).catch((refusal: unknown) => {
      if (refusal instanceof RejectedError && isStillToCome(req, route, facts.fresh)) return null;
      throw refusal;
    });
  }
  if (needsPrimary && facts.fresh?.standby === true) throw new ProblemError(readOnly(deps.config.primaryUrl));
}

/** True if the caller's token or role, or the awaited position, may not have arrived on this standby yet. */
function isStillToCome(req: Request, { needsPrimary }: Route, fresh: FreshState | null): boolean {
  if (needsPrimary || fresh?.standby !== true || typeof bearerToken(req) !== 'string') return false;
  return fresh.head < (atLeastOf(req)?.position ?? 0);
}

function identify(
  req: Request,
  route: Route,
  { deps, facts }: { deps: HttpDeps; facts: ResponseContext },
): Promise<Caller> {
  const { auth } = deps;
  const { fresh } = facts;
  return authorize(req, route, (token) =>
    fresh ? auth.identify(token, fresh.authEpoch) : identifyFromCache(auth.identify, token),
  );
}

/** Waits if the request names a position that has not arrived yet. */
async function waitForPosition(
  req: Request,
  route: Route,
  { deps, facts }: { deps: HttpDeps; facts: ResponseContext },
): Promise<void> {
  if (route.access === 'anyone' || facts.fresh === null) return;
  const required = atLeastOf(req);
  if (required === undefined) return;
  if (facts.fresh.head < required.position) {
    facts.fresh = await deps.positions.reach(required.position, {
      isKnown: facts.caller !== null,
      abandoned: () => req.socket.destroyed,
    });
    facts.caller = await identify(req, route, { deps, facts });
  }
  await requireInLog(required, deps.history);
}

/** The name under which requests without a token are limited by address. */
const NOBODY = 'nobody';

interface ServedRequest {
  requestId: string;
  facts: ResponseContext;
}

/** Returns the express handler of a route. The handler never rejects. */
export function serve(route: Route, { deps, log, bodies, quotas, onOverload }: ServeContext): Handler {
  const { path } = route;
  const { logger, config } = deps;
  // A change waits for an unavailable database as long as for a lock. A read does not wait, because any client can
  // repeat it.
  const patience = route.method === 'get' || route.whileDatabaseIsAway ? 0 : config.lockTimeout;

  const answerTo = async (req: Request, res: Response, { requestId, facts }: ServedRequest): Promise<Answer> => {
    const started = performance.now();
    await waitWhileUnavailable(patience, () => admit(req, route, { deps, facts }));
    if (facts.caller !== null) quotas.enter(facts.caller, res);
    await waitForPosition(req, route, { deps, facts });
    const waited = performance.now() - started;
    requireAcceptable(req.headers);
    const params = readParams(req.params as Record<string, string>);
    const exchange = { req, requestId, params, head: facts.fresh?.head ?? 0, waited };
    const caller = facts.caller?.id ?? `${NOBODY} ${req.ip}`;
    const answering = async (): Promise<Answer> => {
      const answer = await route.answer(exchange, facts.caller, bodies);
      const { body } = answer;
      if (body !== null && typeof body === 'object') onClose(res, scheduler.hold(caller, body));
      if (answer.stream !== undefined && facts.caller !== null) quotas.stream(facts.caller, res);
      return encodeAnswer(req, answer);
    };
    // A change is completed even if its client has disconnected. Its response is stored.
    if (route.needsPrimary) return runAsChange(caller, answering);
    return runAsRead(caller, () => res.destroyed || req.socket.destroyed, answering);
  };

  const handle = async (req: Request, res: Response): Promise<HandledRequest | null> => {
    const started = performance.now();
    const requestId = requestIdOf(req);
    const context: ResponseContext = { fresh: null, caller: null };
    let answer: Answer;
    try {
      answer = await answerTo(req, res, { requestId, facts: context });
    } catch (error) {
      if (error instanceof AbandonedError && (res.destroyed || req.socket.destroyed)) {
        logger.info('client disconnected', { method: req.method, route: path, request_id: requestId });
        return null;
      }
      answer = failureAnswer(error, requestId, { logger, primaryUrl: config.primaryUrl, onOverload });
    }
    respond(req, res, requestId, withLag(answer, context.fresh));
    const { status, position } = answer;
    return { method: req.method, route: path, status, started, requestId, position, caller: context.caller };
  };

  return async (req, res) => {
    const handled = await deps.traces.request(req, path, () => handle(req, res));
    if (handled !== null) log(handled);
  };
}

/** Adds the possible age of the response in seconds if a standby serves it. */
function withLag(answer: Answer, fresh: FreshState | null): Answer {
  if (fresh?.standby !== true) return answer;
  return { ...answer, headers: [...answer.headers, 'X-Log-Lag', String(Math.ceil(fresh.lag * 1000) / 1000)] };
}
