/** What is wrong before there is a request to route: refused in the same form as everything else. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Answer, refusal } from './answer/answer.js';
import type { EdgeProblem } from './errors.js';
import { respond } from './answer/respond.js';
import { requestIdOf } from './request/request-headers.js';

/** Milliseconds in which a client whose request can't be read takes the answer. */
const LINGER = 2_000;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';

/** Answers what Node's parser refuses, and what Node would answer without a body. */
export function answerParserErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException & { rawPacket?: Buffer }, socket) => {
    // An answer that has begun can't be followed by another one.
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

/** What HTTP/1.1 asks of every request. Null: it is there. */
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

/** An answer to HEAD has no body: what follows its head would be taken for the next answer. */
const isHead = ({ rawPacket }: { rawPacket?: Buffer }): boolean => rawPacket?.toString('latin1', 0, 5) === 'HEAD ';

interface Refusal {
  problem: EdgeProblem;
  headers?: readonly string[];
  isHead?: boolean;
}

/** Writes the whole answer to a connection that has no response to write it with, and closes it. */
function writeRefusal(socket: Duplex, { problem, headers = [], isHead: withoutBody = false }: Refusal): void {
  const answer = refusal([problem]);
  const lines = [...answer.headers, ...headers, 'X-Request-Id', randomUUID(), 'Connection', 'close'];
  const head = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`];
  for (let index = 0; index < lines.length; index += 2) head.push(`${lines[index]}: ${lines[index + 1]}`);
  socket.on('error', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${withoutBody ? '' : String(answer.body)}`);
  // Closing it while there is something unread would reset it, and the answer would be lost.
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER).unref();
  socket.once('close', () => clearTimeout(timer));
}
