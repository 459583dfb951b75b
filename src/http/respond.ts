/** The one place that writes answers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answer.js';
import { drain } from './body/raw.js';

/** Writes `answer`. Nothing happens when the client has gone. */
export function respond(req: IncomingMessage, res: ServerResponse, requestId: string, answer: Answer): void {
  const headers = [...answer.headers, 'X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff'];
  if (answer.position !== undefined) headers.push('X-Log-Position', String(answer.position));
  res.writeHead(answer.status, headers);
  if (answer.body === null) res.end();
  else res.end(answer.body);
  drain(req);
}
