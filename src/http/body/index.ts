/** Request bodies: JSON everywhere, YAML and uploads where a whole schema is sent. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { type Permit, type Semaphore, createSemaphore } from '../../kernel/semaphore.js';
import { refused } from '../errors.js';
import { decoderOf } from './content-coding.js';
import { JSON_LIMITS, parseJson } from './json.js';
import { skipSpace } from './json-bytes.js';
import { checkCharset, mediaType, type Notation, notationOf, notationOfFile, unsupported } from './media-type.js';
import { readUpload } from './multipart.js';
import { expectedLength, hasBody, readRaw } from './limited-bytes.js';
import { yamlToJson } from './yaml.js';

/** Bytes of a body, decoded. */
export interface BodyLimits {
  /** Of schema documents. */
  schema: number;
  /** Of everything else. */
  other: number;
}

/** A body as a value that is safe to walk. */
export interface ReadBody {
  value: unknown;
  /** To be called when the value isn't needed any longer. Idempotent. */
  release(): void;
}

export interface Bodies {
  /** JSON. Throws `Refused`. */
  json(req: IncomingMessage): Promise<ReadBody>;
  /**
   * A schema document: JSON, YAML, or a form with one file of either. Stands in `{ "data": … }` or alone. Throws
   * `Refused`.
   */
  document(req: IncomingMessage): Promise<ReadBody>;
}

/** Of large bodies, what two of the largest take is held at once. */
const LARGEST_AT_ONCE = 2;

/** Milliseconds that a large body waits for room. */
const WAIT = 10_000;

const roomFor = (budget: Semaphore, units: number, gone: AbortSignal): Promise<Permit> =>
  budget.acquire({ units, gone, timeout: WAIT, refusal: tooManyLargeBodies });

const tooManyLargeBodies = () =>
  refused('UNAVAILABLE', 'Too many large bodies are under way: send it again in a moment.');

/** Bodies of at most `limits` bytes. Those that are larger than `limits.other` wait until their sum has room for them. */
export function createBodies(limits: BodyLimits): Bodies {
  const bytes = createSemaphore(LARGEST_AT_ONCE * Math.max(limits.schema, limits.other));
  // A value takes a hundred bytes of memory, and three of a body.
  const values = createSemaphore(JSON_LIMITS.values);
  return {
    async json(req) {
      const { type, charset } = checkedType(req);
      if (notationOf(type) !== 'json') throw unsupported(type, 'send application/json');
      checkCharset(charset);
      const raw = await readRaw(req, limits.other);
      return whileThere(req, async (gone) => ({
        value: await parse('json', raw, { gone, claims: NO_CLAIMS }),
        release: () => undefined,
      }));
    },
    async document(req) {
      const read = documentReader(req, limits.schema);
      const length = expectedLength(req, limits.schema);
      return whileThere(req, async (gone) =>
        length <= limits.other
          ? unbudgeted(read, gone)
          : budgeted(await roomFor(bytes, length, gone), {
              take: (count) => roomFor(values, count, gone),
              read: (claims) => read(gone, claims),
            }),
      );
    },
  };
}

/** What a body turns out to hold, told as soon as that is known. */
interface Claims {
  bytes(count: number): void;
  /** Resolves when there is room for them. */
  values(count: number): Promise<void>;
}

const NO_CLAIMS: Claims = { bytes: () => undefined, values: async () => undefined };

type Read = (gone: AbortSignal, claims: Claims) => Promise<unknown>;

async function unbudgeted(read: Read, gone: AbortSignal): Promise<ReadBody> {
  return { value: await read(gone, NO_CLAIMS), release: () => undefined };
}

interface Budgeted {
  /** A share of all values that are built. */
  take(values: number): Promise<Permit>;
  read(claims: Claims): Promise<unknown>;
}

async function budgeted(share: Permit, { take, read }: Budgeted): Promise<ReadBody> {
  let built: Permit | null = null;
  const release = (): void => {
    share.release();
    built?.release();
  };
  const claims: Claims = {
    bytes: (count) => share.shrink(count),
    values: async (count) => {
      built = await take(count);
    },
  };
  try {
    return { value: await read(claims), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Runs `work` with a signal that is aborted when the connection of the request is closed. */
async function whileThere<T>({ socket }: IncomingMessage, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController();
  const onClose = (): void => gone.abort();
  socket.once('close', onClose);
  try {
    return await work(gone.signal);
  } finally {
    socket.off('close', onClose);
  }
}

/** Checks what the headers say, before anything of the body is read. */
function documentReader(req: IncomingMessage, limit: number): Read {
  const { type, charset } = checkedType(req);
  const notation = notationOf(type);
  if (type !== 'multipart/form-data' && notation === undefined) {
    throw unsupported(type, 'send application/json, application/yaml, or multipart/form-data with one file of either');
  }
  checkCharset(charset);
  return async (gone, claims) => {
    const raw = await readRaw(req, limit);
    claims.bytes(raw.length);
    if (notation !== undefined) return withoutWrapper(await parse(notation, raw, { gone, claims }));
    const { type: fileType, name, content } = await readUpload(raw, req.headers['content-type'] ?? '');
    return withoutWrapper(await parse(notationOfFile(fileType, name, content), content, { gone, claims }));
  };
}

/** Throws `Refused` for what is known to be wrong from the headers. */
function checkedType(req: IncomingMessage) {
  if (!hasBody(req)) throw refused('INVALID_PAYLOAD', 'A body is needed.');
  decoderOf(req);
  return mediaType(req.headers['content-type']);
}

interface Parsing {
  gone: AbortSignal;
  claims: Claims;
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

async function parse(notation: Notation, raw: Buffer, { gone, claims }: Parsing): Promise<unknown> {
  const bytes = raw.subarray(0, 3).equals(BYTE_ORDER_MARK) ? raw.subarray(3) : raw;
  if (skipSpace(bytes, 0) === bytes.length) throw refused('INVALID_PAYLOAD', 'The body is empty.');
  if (!isUtf8(bytes)) throw refused('INVALID_PAYLOAD', 'The body is not valid UTF-8.');
  const json = notation === 'json' ? bytes : await yamlToJson(bytes, gone);
  return parseJson(json, JSON_LIMITS, (values) => claims.values(values));
}

function withoutWrapper(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const [member, ...others] = Object.keys(value);
  return others.length === 0 && member === 'data' ? (value as { data: unknown }).data : value;
}
