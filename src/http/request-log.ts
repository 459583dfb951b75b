/**
 * Writes one log line per request, with route, caller and result. Values of headers, queries and bodies are never
 * logged.
 */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../features/accounts/caller.js';
import type { Logger } from '../postgres/logger.js';

export interface HandledRequest {
  method: string;
  /** The template of the route, so that the log contains no collection names. */
  route: string;
  status: number;
  /** `performance.now()` at the start of the request. */
  started: number;
  requestId: string;
  position: number | undefined;
  caller: Caller | null;
}

export type RequestLog = (handled: HandledRequest) => void;

/** Minimum number of milliseconds between two lines about overload, which affects many requests at once. */
const OVERLOAD_EVERY = 10_000;

/** Logs an overload, at most once in this time. */
export function createOverloadLog(logger: Logger, load: () => object): () => void {
  let reportedAt = -Infinity;
  return () => {
    if (performance.now() - reportedAt < OVERLOAD_EVERY) return;
    reportedAt = performance.now();
    logger.warn('the service is overloaded and rejects requests', { ...load() });
  };
}

export interface ProxyReport {
  /** True if TRUST_PROXY contains the address. */
  isTrusted: (address: string) => boolean;
  /** Called with the address of the first proxy that is not trusted. */
  onFound: (address: string) => void;
}

/**
 * Warns once if a proxy that is not trusted forwards addresses of clients. All clients then share the address of the
 * proxy, so ten failed logins of one client delay the logins of all. The warning is not repeated, because any client
 * can send the header.
 */
export function createProxyLog(logger: Logger, { isTrusted, onFound }: ProxyReport): (req: IncomingMessage) => void {
  let hasWarned = false;
  return ({ headers, socket }) => {
    if (hasWarned || (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined)) return;
    const peer = socket.remoteAddress;
    if (peer === undefined || isTrusted(peer)) return;
    hasWarned = true;
    onFound(peer);
    logger.warn(
      'a proxy forwards requests but is not trusted, so all its clients share one address and one limit of failed logins; set TRUST_PROXY',
      { peer },
    );
  };
}

/**
 * Logs changes and failures at `info`. Successful reads are logged only at `debug`, because writing a line costs as
 * much as the read itself.
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
