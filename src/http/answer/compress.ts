/** Encodes responses that are generated per request. */
import type { IncomingMessage } from 'node:http';
import type { Answer } from './answer.js';
import { encode } from './content-coding.js';
import { codingFor } from './representation.js';

/** Headers that describe the bytes. A representation sets its own. */
const OF_THE_BYTES = new Set(['Content-Length', 'Content-Encoding']);

/** Encodes the body of `answer` if the client accepts that and it is large enough. */
export function encoded(req: IncomingMessage, answer: Answer): Answer | Promise<Answer> {
  const accepted = req.headers['accept-encoding'];
  const { body, headers } = answer;
  if (accepted === undefined || body === null || headers.includes('ETag')) return answer;
  const coding = codingFor(accepted, body.length);
  if (coding === null) return answer;
  return encode(body, coding).then((bytes) => {
    const kept: string[] = [
      'Content-Encoding',
      coding,
      'Content-Length',
      String(bytes.length),
      'Vary',
      'Accept-Encoding',
    ];
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      if (!OF_THE_BYTES.has(name)) kept.push(name, headers[index + 1] as string);
    }
    return { ...answer, headers: kept, body: bytes };
  });
}
