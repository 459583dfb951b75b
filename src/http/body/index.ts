/** Reads request bodies: JSON on all routes, and YAML and uploads for whole schemas. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { runYielding } from '../../kernel/event-loop.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Job, PATIENCE_MS, currentJob, scheduler } from '../../kernel/scheduler.js';
import { type Permit, type Semaphore, createSemaphore } from '../../kernel/semaphore.js';
import { refused } from '../errors.js';
import { decoderOf, ClientGone, hasBody, readRaw, type Room, createRoom, createGrowingShare } from './limited-bytes.js';
import { JSON_LIMITS, parseJson, skipSpace } from './json.js';
import { checkCharset, mediaType, type Notation, notationOf, notationOfFile, unsupported } from './media-type.js';
import { readUpload } from './multipart.js';
import { yamlToJson } from './yaml.js';

/** Maximum sizes in bytes, after decoding. */
export interface BodyLimits {
  schema: number;
  other: number;
}

/** A parsed body that is safe to traverse. */
export interface ReadBody {
  value: unknown;
  /** Must be called when the value is no longer needed. Repeated calls have no effect. */
  release(): void;
}

export interface Bodies {
  /** Parses JSON. Throws `RejectedError`. */
  json(req: IncomingMessage): Promise<ReadBody>;
  /**
   * Parses the fields of a form (`application/x-www-form-urlencoded`). Of equal names, the last one counts. Throws
   * `RejectedError`.
   */
  form(req: IncomingMessage): Promise<ReadBody>;
  /**
   * Parses a schema document: JSON, YAML, or a form with one such file, alone or in `{ "data": … }`. Throws
   * `RejectedError`.
   */
  document(req: IncomingMessage): Promise<ReadBody>;
}

/** Number of bodies of the maximum size that may be in memory at once. */
const LARGE = { all: 2, perCaller: 1 } as const;
const SMALL = { all: 64, perCaller: 8 } as const;

/** Number of large bodies that are processed at once. Processing needs several times their memory. */
const BUILT_AT_ONCE = 4;

const createRoomFor = (longest: number, { all, perCaller }: typeof LARGE | typeof SMALL): Room =>
  createRoom({ bytes: longest * all, bytesPerCaller: longest * perCaller, patienceMs: PATIENCE_MS });

/** Reads the JSON of a document without parsing all of it. Undefined if this is not possible. */
type Recognize = (json: Buffer) => Resumable<unknown>;

/** Reads bodies of at most `limits` bytes. While there is no room for a body, its client is paused. */
export function createBodies(limits: BodyLimits, recognize?: Recognize): Bodies {
  const longest = limits.other;
  const small = createRoomFor(longest, SMALL);
  const large = createRoomFor(Math.max(limits.schema, longest), LARGE);
  // A value takes about a hundred bytes of memory for three bytes of body.
  const values = createSemaphore(JSON_LIMITS.values, JSON_LIMITS.values / 2);
  // Each worker may use a whole CPU core and hundreds of MiB.
  const workers = createSemaphore(1);
  const readWithinBudget = (req: IncomingMessage, limit: number, parseBody: ParseBody): Promise<ReadBody> =>
    runWhileConnected(req, async (disconnected) => {
      const job = currentJob();
      const share = createGrowingShare(job, { small, large, longest });
      let built: Permit | undefined;
      const release = (): void => {
        share.release();
        built?.release();
      };
      const room: WaitForValues = async (count, bytes) => {
        if (bytes <= longest) return;
        const units = Math.max(count, JSON_LIMITS.values / BUILT_AT_ONCE);
        built = await acquireFor(job, values, { units, disconnected });
      };
      const worker = (): Promise<Permit> => acquireFor(job, workers, { units: 1, disconnected });
      try {
        const raw = await readRaw(req, { limit, share, disconnected });
        return {
          value: await parseBody(raw, { disconnected, room: (count) => room(count, raw.length), worker }),
          release,
        };
      } catch (error) {
        release();
        throw error;
      }
    });
  return {
    async json(req) {
      const { type, charset } = checkedType(req);
      if (notationOf(type) !== 'json') throw unsupported(type, 'send application/json');
      checkCharset(charset);
      return readWithinBudget(req, limits.other, (raw, parsing) => parse('json', raw, parsing));
    },
    async form(req) {
      const { type, charset } = checkedType(req);
      if (type !== FORM) throw unsupported(type, `send ${FORM}`);
      checkCharset(charset);
      return readWithinBudget(req, limits.other, (raw) =>
        Promise.resolve(Object.fromEntries(new URLSearchParams(raw.toString('utf8')))),
      );
    },
    async document(req) {
      return readWithinBudget(req, limits.schema, documentParser(req, recognize));
    },
  };
}

const FORM = 'application/x-www-form-urlencoded';

/** Waits for the semaphore as long as the request may still wait. @throws OverloadedError, ClientGone */
async function acquireFor(job: Job, semaphore: Semaphore, { units, disconnected }: Units): Promise<Permit> {
  const refusal = (): Error => (disconnected.aborted ? new ClientGone('the client disconnected') : scheduler.refuse());
  const timeout = Math.max(0, PATIENCE_MS - job.waitedMs);
  const permit = await semaphore.acquire({ units, caller: job.caller, disconnected, timeout, refusal });
  job.waitedMs += permit.waited;
  return permit;
}

interface Units {
  units: number;
  disconnected: AbortSignal;
}

/** Resolves when there is room for this number of values and bytes. */
type WaitForValues = (values: number, bytes: number) => Promise<void>;

type ParseBody = (raw: Buffer, parsing: ParseOptions) => Promise<unknown>;

/** Runs `work` with a signal that is aborted when the connection closes. */
async function runWhileConnected<T>(
  { socket }: IncomingMessage,
  work: (disconnected: AbortSignal) => Promise<T>,
): Promise<T> {
  const disconnected = new AbortController();
  const onClose = (): void => disconnected.abort();
  socket.once('close', onClose);
  try {
    return await work(disconnected.signal);
  } finally {
    socket.off('close', onClose);
  }
}

/** Checks the headers before the body is read. */
function documentParser(req: IncomingMessage, recognize?: Recognize): ParseBody {
  const { type, charset } = checkedType(req);
  const notation = notationOf(type);
  if (type !== 'multipart/form-data' && notation === undefined) {
    throw unsupported(
      type,
      'send application/json, application/yaml, or multipart/form-data with one JSON or YAML file',
    );
  }
  checkCharset(charset);
  return async (raw, parsing) => {
    if (notation !== undefined) return withoutWrapper(await parse(notation, raw, { ...parsing, recognize }));
    const { type: fileType, name, content } = await readUpload(raw, req.headers['content-type'] ?? '');
    return withoutWrapper(await parse(notationOfFile(fileType, name, content), content, { ...parsing, recognize }));
  };
}

/** Checks the headers. Throws `RejectedError` for errors that are already known from them. */
function checkedType(req: IncomingMessage) {
  if (!hasBody(req)) throw refused('INVALID_PAYLOAD', 'A request body is required.');
  decoderOf(req);
  return mediaType(req.headers['content-type']);
}

interface ParseOptions {
  disconnected: AbortSignal;
  room: (values: number) => Promise<void>;
  worker: () => Promise<Permit>;
  recognize?: Recognize | undefined;
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

async function parse(notation: Notation, raw: Buffer, parsing: ParseOptions): Promise<unknown> {
  const { disconnected, room, worker, recognize } = parsing;
  const bytes = raw.subarray(0, 3).equals(BYTE_ORDER_MARK) ? raw.subarray(3) : raw;
  if (skipSpace(bytes, 0) === bytes.length) throw refused('INVALID_PAYLOAD', 'The body is empty.');
  if (!isUtf8(bytes)) throw refused('INVALID_PAYLOAD', 'The body is not valid UTF-8.');
  const recognized = notation === 'json' && recognize !== undefined ? await runYielding(recognize(bytes)) : undefined;
  if (recognized !== undefined) return recognized;
  const json = notation === 'json' ? bytes : await yamlToJson(bytes, { disconnected, worker });
  return parseJson(json, JSON_LIMITS, room);
}

function withoutWrapper(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const [member, ...others] = Object.keys(value);
  return others.length === 0 && member === 'data' ? (value as { data: unknown }).data : value;
}
