import {
  type RequestListener,
  type Server,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { requestIdOf } from './request/headers.js';
import { respond } from './answer/stream.js';
import { OperatorError } from '../kernel/problem.js';
import { type Answer, refusalAnswer } from './answer/answer.js';
import type { EdgeProblem } from './errors.js';

/**
 * The path of the liveness check. The process responds, even while it waits for something else. Supervisors must
 * restart the process only if this check fails, because a restart cannot fix an unavailable database or a failed
 * projection.
 */
export const LIVE_PATH = '/server/live';

export const LIVE = { status: 'ok' } as const;

/* Handles errors before a request can be routed, in the same format as all others. */

/** Milliseconds within which a client must read the response to an unreadable request. */
const LINGER = 2_000;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Responds to requests that Node's parser rejects. Node itself would respond without a body. */
export function answerParserErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // If a response has begun, no other response can follow.
    const { _httpMessage: begun } = socket as { _httpMessage?: ServerResponse };
    if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent === true) socket.destroy();
    else writeRefusal(socket, { problem: problemOf(error), isHead: isHead(error) });
  });
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
    const message = 'Method CONNECT is not allowed: the service is not a proxy.';
    writeRefusal(socket, { problem: { code: 'METHOD_NOT_ALLOWED', message }, headers: ['Allow', METHODS] });
  });
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    const message = `The expectation ${JSON.stringify(req.headers.expect)} is not supported. Use 100-continue.`;
    respond(req, res, requestIdOf(req), closing([{ code: 'EXPECTATION_FAILED', message }]));
  });
}

/** Returns an error if the Host header is missing, which HTTP/1.1 requires. Null if it is present. */
export function missingHost(req: IncomingMessage): Answer | null {
  if (req.headers.host !== undefined || req.httpVersion !== '1.1') return null;
  return closing([{ code: 'INVALID_REQUEST', message: 'An HTTP/1.1 request must have a Host header.' }]);
}

const closing = (problems: readonly EdgeProblem[]): Answer => refusalAnswer(problems, ['Connection', 'close']);

function problemOf({ code = '' }: NodeJS.ErrnoException): EdgeProblem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The request line and headers are too large. Their limit is 16 KiB.';
    return { code: 'HEADERS_TOO_LARGE', message };
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return { code: 'CONTENT_TOO_LARGE', message: 'The chunk extensions are too large.' };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'REQUEST_TIMEOUT', message: 'The request did not arrive in time.' };
  }
  return { code: 'INVALID_REQUEST', message: 'This is not a valid HTTP/1.1 request.' };
}

/** True for HEAD. A response to HEAD must have no body, because clients would read the body as the next response. */
const isHead = ({ rawPacket }: { rawPacket?: Buffer }): boolean => rawPacket?.toString('latin1', 0, 5) === 'HEAD ';

interface Refusal {
  problem: EdgeProblem;
  headers?: readonly string[];
  isHead?: boolean;
}

/** Writes the whole response to a connection without a response object and closes it. */
function writeRefusal(socket: Duplex, { problem, headers = [], isHead: withoutBody = false }: Refusal): void {
  const answer = refusalAnswer([problem]);
  const lines = [...answer.headers, ...headers, 'X-Request-Id', randomUUID(), 'Connection', 'close'];
  const head = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`];
  for (let index = 0; index < lines.length; index += 2) head.push(`${lines[index]}: ${lines[index + 1]}`);
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${withoutBody ? '' : String(answer.body)}`);
  // If the connection was closed with unread data, it would be reset, and the response would be lost.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => clearTimeout(timer));
}

export interface ListeningServer {
  /** The address for clients on this machine: `http://127.0.0.1:8055`. */
  url: string;
  /** Passes requests to `handler` from now on. Until then, they get 503. */
  serve(handler: RequestListener): void;
  /** Sets the message of these 503 responses. */
  say(sentence: string): void;
  /**
   * Stops accepting connections, waits up to `grace` milliseconds for running requests, and then closes all
   * connections.
   */
  close(grace: number): Promise<void>;
}

const POLL_MS = 25;

/**
 * Milliseconds for which an idle connection stays open. Proxies and load balancers usually use 60 s. This value is
 * greater, so that they never send a request into a connection that is being closed.
 */
const KEEP_ALIVE = 75_000;

/**
 * Binds the address before other work starts, so that an address in use is reported immediately.
 * @throws OperatorError if the address is not available
 */
export async function listen(host: string, port: number): Promise<ListeningServer> {
  let closing = false;
  let handler = notReady('The service is starting.');
  // Without this option, Node itself would respond to a missing Host header without a body.
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    if (closing) response.setHeader('Connection', 'close');
    const refused = missingHost(request);
    if (refused === null) handler(request, response);
    else respond(request, response, requestIdOf(request), refused);
  });
  server.keepAliveTimeout = KEEP_ALIVE;
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  answerParserErrors(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
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
      await closeGracefully(server, connections, grace);
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
 * Closes all connections. Node does not close a connection that becomes idle after `close`, or on which nothing was
 * ever sent. Clients open such connections in advance. Both kinds would keep the process alive for seconds.
 */
async function closeGracefully(server: Server, connections: ReadonlySet<Socket>, grace: number): Promise<void> {
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
    // These connections are destroyed after a pause, so that a request which has just arrived is still read.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
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

function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  if (error.code === 'EADDRINUSE') {
    return new OperatorError(
      `PORT ${port} is already in use on ${host}. Stop the program that uses it, or set another PORT (0 chooses a free one).`,
      { cause: error },
    );
  }
  if (error.code === 'EACCES') {
    return new OperatorError(`This user is not allowed to use PORT ${port}. Set a port above 1023.`, { cause: error });
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN') {
    return new OperatorError(
      `HOST ${host} is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all interfaces.`,
      {
        cause: error,
      },
    );
  }
  return error;
}
