import { type RequestListener, type Server, createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { LIVE, LIVE_PATH } from './liveness.js';
import { answerParserErrors, missingHost } from './parser-errors.js';
import { requestIdOf } from './request/request-headers.js';
import { respond } from './answer/respond.js';
import { OperatorError } from '../kernel/operator-error.js';

export interface ListeningServer {
  /** For clients on this machine: `http://127.0.0.1:8055`. */
  url: string;
  /** Requests are passed to `handler` from now on, and get 503 before. */
  serve(handler: RequestListener): void;
  /** Sets the message for requests until then. */
  say(sentence: string): void;
  /** Stops accepting connections, waits up to `grace` milliseconds for running requests, then closes them. */
  close(grace: number): Promise<void>;
}

const POLL_MS = 25;

/**
 * Milliseconds that an idle connection is kept open. Longer than proxies and load balancers keep theirs (mostly 60
 * s), so that they never send a request into a closing connection.
 */
const KEEP_ALIVE = 75_000;

/**
 * Binds the address first, so that an address in use is reported before other work starts.
 * @throws OperatorError if it is not available
 */
export async function listen(host: string, port: number): Promise<ListeningServer> {
  let closing = false;
  let handler = notReady('The service is starting.');
  // Node would respond to a missing Host itself, without a body.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (closing) response.setHeader('Connection', 'close');
    const refused = missingHost(request);
    if (refused === null) handler(request, response);
    else respond(request, response, requestIdOf(request), refused);
  });
  server.keepAliveTimeout = KEEP_ALIVE;
  answerParserErrors(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusal(error, host, port)));
    server.listen(port, host, resolve);
  });
  return {
    url: urlOf(server, host),
    serve(ready) {
      handler = ready;
    },
    say(sentence) {
      handler = notReady(sentence);
    },
    async close(grace) {
      closing = true;
      await closeGracefully(server, grace);
    },
  };
}

function notReady(message: string): RequestListener {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  const body = JSON.stringify({ errors: [{ message, extensions: { code: 'UNAVAILABLE' } }] });
  return (request, response) => {
    response.setHeader('X-Request-Id', requestIdOf(request));
    if (request.url === LIVE_PATH) response.writeHead(200, type).end(JSON.stringify(LIVE));
    else response.writeHead(503, { ...type, 'Retry-After': '1' }).end(body);
  };
}

/**
 * Node does not close a connection that becomes idle after `close`, which would keep the process alive for seconds.
 */
async function closeGracefully(server: Server, grace: number): Promise<void> {
  let open = true;
  const closed = new Promise<void>((resolve) => {
    server.close(() => {
      open = false;
      resolve();
    });
  });
  const limit = Date.now() + grace;
  while (open && Date.now() < limit) {
    server.closeIdleConnections();
    await Promise.race([closed, sleep(POLL_MS)]);
  }
  server.closeAllConnections();
  await closed;
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

function refusal(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new OperatorError(
      `PORT ${port} is taken on ${host}: stop what listens there, or name another PORT (0: any that is free).`,
      { cause: error },
    );
  }
  if (error.code === 'EACCES') {
    return new OperatorError(`PORT ${port} needs rights that this user lacks: name one above 1023.`, { cause: error });
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') {
    return new OperatorError(`HOST ${host} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all.`, {
      cause: error,
    });
  }
  return error;
}
