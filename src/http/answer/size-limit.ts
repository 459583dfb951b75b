/** What one of the schema endpoints answers, the next one takes: their limits follow from each other. */
import { runYielding } from '../../kernel/event-loop.js';
import { refused } from '../errors.js';
import { JSON_LIMITS } from '../body/json.js';
import { JsonFault } from '../body/json-fault.js';
import { scanJson } from '../body/json-scan.js';

/** Kept answers that were looked through. */
const looked = new WeakSet<Buffer>();

/** What a JSON document begins with; YAML doesn't. */
const BRACE = 0x7b;

/** `1,` */
const BYTES_PER_VALUE = 2;

/**
 * @param text a document that is to be answered, and sent back some time
 * @param limit bytes of a schema document that is taken as a body
 * @param advice what to do where it is too large, as a sentence
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
