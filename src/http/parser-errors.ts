/** Handles errors before a request can be routed, in the same format as all others. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Answer, refusal } from './answer/answer.js';
import type { EdgeProblem } from './errors.js';
import { respond } from './answer/respond.js';
import { requestIdOf } from './request/request-headers.js';

/** Milliseconds that a client has to read the response to an unreadable request. */
const LINGER = 2_000;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Responds to requests that Node's parser rejects, and that Node would answer without a body. */
export function answerParserErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // A response that has begun cannot be followed by another one.
    const { _httpMessage: begun } = socket as { _httpMessage?: ServerResponse };
    if (error.code === 'ECONNRESET' || !socket.writable || begun?.headersSent === true) socket.destroy();
    else writeRefusal(socket, { problem: problemOf(error), isHead: isHead(error) });
  });
  server.on('connect', (_req: IncomingMessage, socket: Duplex) => {
    const message = 'CONNECT is not possible here: this is no proxy.';
    writeRefusal(socket, { problem: { code: 'METHOD_NOT_ALLOWED', message }, headers: ['Allow', METHODS] });
  });
  server.on('checkExpectation', (req: IncomingMessage, res: ServerResponse) => {
    const message = `The expectation ${JSON.stringify(req.headers.expect)} can't be met: 100-continue can.`;
    respond(req, res, requestIdOf(req), closing([{ code: 'EXPECTATION_FAILED', message }]));
  });
}

/** The Host header, which HTTP/1.1 requires. Null if it is present. */
export function missingHost(req: IncomingMessage): Answer | null {
  if (req.headers.host !== undefined || req.httpVersion !== '1.1') return null;
  return closing([{ code: 'INVALID_REQUEST', message: 'A request of HTTP/1.1 needs a Host header.' }]);
}

const closing = (problems: readonly EdgeProblem[]): Answer => refusal(problems, ['Connection', 'close']);

function problemOf({ code = '' }: NodeJS.ErrnoException): EdgeProblem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The request line and headers are too large: together they take at most 16 KiB.';
    return { code: 'HEADERS_TOO_LARGE', message };
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return { code: 'CONTENT_TOO_LARGE', message: 'The extensions of a chunk are too large.' };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { code: 'REQUEST_TIMEOUT', message: 'The request did not come in time.' };
  }
  return { code: 'INVALID_REQUEST', message: 'This is not a request of HTTP/1.1.' };
}

/** A response to HEAD must have no body: clients would read it as the next response. */
const isHead = ({ rawPacket }: { rawPacket?: Buffer }): boolean => rawPacket?.toString('latin1', 0, 5) === 'HEAD ';

interface Refusal {
  problem: EdgeProblem;
  headers?: readonly string[];
  isHead?: boolean;
}

/** Writes the whole response to a connection without a response object and closes it. */
function writeRefusal(socket: Duplex, { problem, headers = [], isHead: withoutBody = false }: Refusal): void {
  const answer = refusal([problem]);
  const lines = [...answer.headers, ...headers, 'X-Request-Id', randomUUID(), 'Connection', 'close'];
  const head = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`];
  for (let index = 0; index < lines.length; index += 2) head.push(`${lines[index]}: ${lines[index + 1]}`);
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${withoutBody ? '' : String(answer.body)}`);
  // Closing the connection with unread data would reset it, and the response would be lost.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => clearTimeout(timer));
}
