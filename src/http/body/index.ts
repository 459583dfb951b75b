/** Reads request bodies: JSON on all routes, and YAML and uploads for whole schemas. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { extname } from 'node:path/posix';
import { Worker } from 'node:worker_threads';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { runYielding, createTimeSlice } from '../../kernel/event-loop.js';
import type { Resumable } from '../../kernel/resumable.js';
import { type Job, PATIENCE_MS, currentJob, scheduler } from '../../kernel/scheduler.js';
import { type Permit, type Semaphore, createSemaphore } from '../../kernel/semaphore.js';
import { refused, RejectedError } from '../errors.js';
import { YAML_LIMITS } from '../formats.js';
import { JSON_LIMITS, parseJson, skipSpace, BYTE } from './json.js';
import { decoderOf, ClientGone, hasBody, readRaw, type Room, createRoom, createGrowingShare } from './limited-bytes.js';
import { readYamlAsJson, type YamlRead } from './yaml-json.js';

/** Maximum sizes in bytes, after decoding. */
interface BodyLimits {
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

type Notation = 'json' | 'yaml';

const NOTATIONS: ReadonlyMap<string, Notation> = new Map([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['text/yaml', 'yaml'],
  ['application/x-yaml', 'yaml'],
  ['text/x-yaml', 'yaml'],
]);

/** The media types that clients send for files of unknown type. */
const UNTOLD = new Set(['', 'application/octet-stream', 'text/plain']);

const BY_EXTENSION: ReadonlyMap<string, Notation> = new Map([
  ['.json', 'json'],
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
]);

interface MediaType {
  /** The type in lower case, such as `application/json`. Empty without a Content-Type. */
  type: string;
  charset: string | null;
}

/** Parses a media type. Of several charsets, the first one counts. An invalid media type is returned unchanged. */
export function mediaType(header: string | undefined): MediaType {
  const [type = '', ...parameters] = (header ?? '').split(';');
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(text)?.[1]).find(Boolean);
  return { type: type.trim().toLowerCase(), charset: charset?.toLowerCase() ?? null };
}

/** Returns the notation of a media type. Undefined for other types. */
export function notationOf(type: string): Notation | undefined {
  return NOTATIONS.get(type);
}

/** Returns the notation of a file, determined by the media type, then the file name, and then the first character. */
export function notationOfFile(type: string, name: string, content: Uint8Array): Notation {
  const notation = NOTATIONS.get(type) ?? BY_EXTENSION.get(extname(name).toLowerCase());
  if (notation !== undefined) return notation;
  if (UNTOLD.has(type)) return content[skipSpace(content, startOf(content))] === BYTE.openObject ? 'json' : 'yaml';
  throw unsupported(type, 'an uploaded file must be JSON or YAML');
}

/** Returns the offset of the content after a byte-order mark. */
const startOf = ([first]: Uint8Array): number => (first === 0xef ? 3 : 0);

/** Accepts only UTF-8, and ASCII as a subset. */
export function checkCharset(charset: string | null): void {
  if (charset === null || ['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset)) return;
  throw refused('UNSUPPORTED_MEDIA_TYPE', `The charset ${JSON.stringify(charset)} is not supported. Use UTF-8.`, {
    details: { charset },
  });
}

/** @param instead the media type that is expected */
export function unsupported(type: string, instead: string): Error {
  const subject = type === '' ? 'A body without a Content-Type' : `The media type ${JSON.stringify(type)}`;
  return refused('UNSUPPORTED_MEDIA_TYPE', `${subject} is not supported: ${instead}.`, {
    details: { media_type: type },
  });
}

/* Reads multipart/form-data with exactly one file. */

interface UploadedFile {
  name: string;
  /** The media type in lower case. Empty if the part has none. */
  type: string;
  content: Buffer;
}

/** Reads the file. Rejects bodies without a file, with several files or other parts, and invalid multipart bodies. */
export async function readUpload(raw: Buffer, contentType: string): Promise<UploadedFile> {
  const { files, begun, fields } = await readParts(raw, contentType).catch((error: Error) => {
    throw refused('INVALID_PAYLOAD', `The body is not valid multipart/form-data: ${error.message}.`);
  });
  const [field] = fields;
  if (field !== undefined) {
    throw refused(
      'INVALID_PAYLOAD',
      `The form contains ${JSON.stringify(field)} in addition to a file. Send the file alone.`,
      {
        path: field,
      },
    );
  }
  if (begun > 1) throw refused('INVALID_PAYLOAD', 'The form contains more than one file. Send exactly one.');
  const [file] = files;
  if (file === undefined) throw refused('INVALID_PAYLOAD', 'The form contains no file. Send exactly one.');
  return file;
}

interface MultipartContent {
  files: UploadedFile[];
  begun: number;
  /** The names of parts that are not files. */
  fields: string[];
}

/** Only one part is accepted. A second part is also read, so that the error can contain its name. */
const LIMITS = {
  parts: 3,
  files: 2,
  fields: 2,
  fieldNameSize: 256,
  fieldSize: 1024,
  headerPairs: 20,
  headerSize: 8192,
};

/** Number of bytes that are parsed at once. They contain over a thousand parts in the worst case. */
const SLICE = 64 * 1024;

function readParts(raw: Buffer, contentType: string): Promise<MultipartContent> {
  return new Promise((resolve, reject) => {
    const parts: MultipartContent = { files: [], begun: 0, fields: [] };
    const parser = new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS });
    parser.on('file', (_part, stream, ...[filename, , mimeType]) => {
      const chunks: Buffer[] = [];
      parts.begun++;
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => {
        parts.files.push({ name: filename ?? '', type: mimeType.toLowerCase(), content: Buffer.concat(chunks) });
      });
    });
    parser.on('field', (name) => parts.fields.push(name));
    parser.on('error', (error) => reject(error instanceof Error ? error : new Error(String(error))));
    parser.on('finish', () => resolve(parts));
    const isRefused = () => parts.begun > 1 || parts.fields.length > 0;
    // After a rejection, the rest is not read, so the parser never finishes.
    feed(parser, raw, isRefused).then(() => {
      if (isRefused()) resolve(parts);
    }, reject);
  });
}

async function feed(parser: BusboyInstance, raw: Buffer, isRefused: () => boolean): Promise<void> {
  const slice = createTimeSlice();
  for (let at = 0; at < raw.length && !parser.destroyed; at += SLICE) {
    if (isRefused()) return;
    parser.write(raw.subarray(at, at + SLICE));
    if (slice.isOver()) await slice.yield();
  }
  parser.end();
}

/* Converts YAML bodies to JSON in a worker, because its parser cannot be interrupted. */

/** Limits of a document that is parsed without a worker, because starting one would take longer. */
const SMALL_YAML = { bytes: 16 * 1024, limits: { values: 10_000, characters: 1024 * 1024 } } as const;

/** Limits for a document in a worker: time in milliseconds, and heap in MiB. */
const BOUNDS = { time: 20_000, heap: 768 } as const;

interface YamlConversion {
  disconnected: AbortSignal;
  /** Resolves when a worker may start. */
  worker: () => Promise<Permit>;
}

/** Converts `bytes`, which must be UTF-8, to JSON. Stops when `gone` is aborted. Throws `RejectedError`. */
export async function yamlToJson(bytes: Buffer, converting: YamlConversion): Promise<Buffer> {
  const read =
    bytes.length <= SMALL_YAML.bytes
      ? readYamlAsJson(bytes, SMALL_YAML.limits)
      : await convertWithPermit(bytes, converting);
  if (read.kind === 'json') return Buffer.from(read.bytes.buffer, read.bytes.byteOffset, read.bytes.byteLength);
  if (read.kind === 'refused') throw new RejectedError(read.problems);
  if (read.kind === 'too large') {
    throw refused('CONTENT_TOO_LARGE', `The YAML document is too large: ${read.message}. ${INSTEAD}`);
  }
  throw refused('INVALID_PAYLOAD', `The body is not valid YAML: ${read.message}.`);
}

/** The message about the alternative to YAML. The service exports every snapshot as JSON too. */
const INSTEAD =
  'Export the snapshot as JSON (GET /schema/snapshot, or dps snapshot) and send that, or send it in parts with mode=merge.';

async function convertWithPermit(bytes: Buffer, { disconnected, worker }: YamlConversion): Promise<YamlRead> {
  const permit = await worker();
  try {
    return await inWorker(bytes, disconnected);
  } finally {
    permit.release();
  }
}

function inWorker(bytes: Buffer, disconnected: AbortSignal): Promise<YamlRead> {
  if (disconnected.aborted) return Promise.reject(new ClientGone('the client disconnected'));
  const worker = new Worker(new URL('./yaml-worker.js', import.meta.url), {
    workerData: { bytes, limits: YAML_LIMITS },
    resourceLimits: { maxOldGenerationSizeMb: BOUNDS.heap },
  });
  return new Promise<YamlRead>((resolve, reject) => {
    const onGone = (): void => reject(new ClientGone('the client disconnected'));
    const timer = setTimeout(() => reject(tooLarge(`within ${BOUNDS.time / 1000} seconds`)), BOUNDS.time);
    disconnected.addEventListener('abort', onGone);
    worker.once('message', resolve);
    worker.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge(`in ${BOUNDS.heap} MiB of memory`) : error);
    });
    worker.once('exit', (code) => {
      clearTimeout(timer);
      disconnected.removeEventListener('abort', onGone);
      reject(new Error(`the YAML worker exited with code ${code}`));
    });
  }).finally(() => void worker.terminate());
}

function tooLarge(reason: string): RejectedError {
  const message = `The YAML document cannot be parsed ${reason}. ${INSTEAD}`;
  return refused('CONTENT_TOO_LARGE', message, { details: { limit: YAML_LIMITS.values } });
}
