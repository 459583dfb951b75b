/** One line per request: what was asked, by whom, and how it went. Never a header's value, a query or a body. */
import type { Caller } from '../auth/caller.js';
import type { Logger } from '../postgres/logger.js';

export interface Handled {
  method: string;
  /** The route's template; names of collections stay out. */
  route: string;
  status: number;
  /** `performance.now()` when the request came in. */
  started: number;
  requestId: string;
  position: number | undefined;
  caller: Caller | null;
}

export type RequestLog = (handled: Handled) => void;

/** Milliseconds between two lines about overload: it is met by many requests at once. */
const OVERLOAD_EVERY = 10_000;

/** Logs that the service is overloaded, once in a while. */
export function createOverloadLog(logger: Logger, load: () => object): () => void {
  let told = -Infinity;
  return () => {
    if (performance.now() - told < OVERLOAD_EVERY) return;
    told = performance.now();
    logger.warn('the service is overloaded and refuses requests', { ...load() });
  };
}

/**
 * Changes and failures are logged as `info`. A read that went well is worth a line only for finding
 * trouble (`debug`): writing it costs as much as the read itself.
 */
export function createRequestLog(logger: Logger, logReads: boolean): RequestLog {
  return ({ method, route, status, started, requestId, position, caller }) => {
    const quiet = status < 400 && (method === 'GET' || method === 'HEAD' || method === 'OPTIONS');
    if (quiet && !logReads) return;
    const fields = {
      method,
      route,
      status,
      milliseconds: Math.round((performance.now() - started) * 10) / 10,
      request_id: requestId,
      ...(position !== undefined && { position }),
      ...(caller !== null && { actor: caller.id }),
    };
    if (quiet) logger.debug('request', fields);
    else logger.info('request', fields);
  };
}
