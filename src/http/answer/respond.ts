/** The one place that writes answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.js';
import { drain } from '../body/limited-bytes.js';
import { closeIfSlow } from './stream.js';

/** Writes `answer`. Nothing happens when the client has gone; one that takes the answer too slowly is cut off. */
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

/** What makes an answer differ for pages of other origins was said before; `writeHead` would replace it. */
function withVary(headers: string[], said: ReturnType<ServerResponse['getHeader']>): string[] {
  if (said === undefined) return headers;
  const at = headers.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === 'vary');
  if (at === -1) return headers;
  return headers.with(at + 1, `${headers[at + 1]}, ${String(said)}`);
}

/** A body that can't be finished is cut off: an end in good order would pass for the whole of it. */
function stream(res: ServerResponse, write: NonNullable<Answer['stream']>): void {
  res.flushHeaders();
  write(res).then(
    () => res.end(),
    () => res.destroy(),
  );
}
