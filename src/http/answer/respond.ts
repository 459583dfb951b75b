/** The only module that writes responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.js';
import { drain } from '../body/limited-bytes.js';
import { closeIfSlow } from './stream.js';

/** Writes `answer`. Does nothing if the client has disconnected, and closes the connection if it reads too slowly. */
export function respond(req: IncomingMessage, res: ServerResponse, requestId: string, answer: Answer): void {
  const headers = [...answer.headers, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  if (answer.position !== undefined) headers.push('X-Log-Position', String(answer.position));
  res.writeHead(answer.status, withVary(headers, res.getHeader('Vary')));
  if (answer.stream !== undefined && req.method !== 'HEAD') return stream(res, answer.stream);
  if (answer.body === null) res.end();
  else {
    res.end(answer.body);
    closeIfSlow(res, answer.body.length);
  }
  drain(req);
}

/** Keeps the Vary header of cross-origin handling, which `writeHead` would replace. */
function withVary(headers: string[], said: ReturnType<ServerResponse['getHeader']>): string[] {
  if (said === undefined) return headers;
  const at = headers.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === 'vary');
  if (at === -1) return headers;
  return headers.with(at + 1, `${headers[at + 1]}, ${String(said)}`);
}

/** An incomplete body must not end normally, because the client would take it as complete. */
function stream(res: ServerResponse, write: NonNullable<Answer['stream']>): void {
  res.flushHeaders();
  write(res).then(
    () => res.end(),
    () => res.destroy(),
  );
}
