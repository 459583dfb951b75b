/** Keeps the limits of the schema endpoints consistent: each response must be acceptable as a request. */
import { runYielding } from '../../kernel/event-loop.js';
import { refused } from '../errors.js';
import { JSON_LIMITS } from '../body/json.js';
import { JsonFault, scanJson } from '../body/json-scan.js';

/** Cached responses that were already checked. */
const looked = new WeakSet<Buffer>();

/** The first character of a JSON document, which no YAML document has. */
const BRACE = 0x7b;

/** `1,` */
const BYTES_PER_VALUE = 2;

/**
 * @param text a document that clients may send back
 * @param limit bytes that a schema document may have as a body
 * @param advice a sentence that says what to do if it is too large
 * @throws Refused CONTENT_TOO_LARGE
 */
export async function expectTakeable(text: string | Buffer, limit: number, advice: string): Promise<void> {
  const length = Buffer.byteLength(text);
  if (length > limit) throw tooLarge(`of ${length} bytes`, { limit, length }, advice);
  const bytes = Buffer.isBuffer(text) ? text : Buffer.from(text);
  const isJson = bytes[0] === BRACE;
  if (!isJson || length <= JSON_LIMITS.values * BYTES_PER_VALUE || looked.has(bytes)) return;
  try {
    await runYielding(scanJson(bytes, { limits: JSON_LIMITS, group: length }));
    looked.add(bytes);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    throw tooLarge(`(${error.message})`, { limited: error.kind }, advice);
  }
}

function tooLarge(what: string, details: Record<string, unknown>, advice: string) {
  const message = `The answer ${what} would be larger than what can be sent back (MAX_BODY). ${advice}`;
  return refused('CONTENT_TOO_LARGE', message, { details });
}
