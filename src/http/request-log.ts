/** Writes one log line per request: route, caller and result. Never header values, queries or bodies. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../features/accounts/caller.js';
import type { Logger } from '../postgres/logger.js';

export interface HandledRequest {
  method: string;
  /** The route template, which contains no collection names. */
  route: string;
  status: number;
  /** `performance.now()` at the start of the request. */
  started: number;
  requestId: string;
  position: number | undefined;
  caller: Caller | null;
}

export type RequestLog = (handled: HandledRequest) => void;

/** Milliseconds between two lines about overload, which affects many requests at once. */
const OVERLOAD_EVERY = 10_000;

/** Logs an overload, but not more often than that. */
export function createOverloadLog(logger: Logger, load: () => object): () => void {
  let reportedAt = -Infinity;
  return () => {
    if (performance.now() - reportedAt < OVERLOAD_EVERY) return;
    reportedAt = performance.now();
    logger.warn('the service is overloaded and rejects requests', { ...load() });
  };
}

export interface ProxyReport {
  /** True if TRUST_PROXY covers the address of the peer. */
  isTrusted: (address: string) => boolean;
  /** Receives the address of the first such proxy. */
  onFound: (address: string) => void;
}

/**
 * Warns once when a proxy that is not trusted names its clients: all of them then share its address, and ten failed
 * logins of one slow down the user for all. Only once, because any client can send the header.
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
