/** Converts YAML bodies to JSON in a worker, because its parser cannot be interrupted. */
import { Worker } from 'node:worker_threads';
import type { Permit } from '../../kernel/semaphore.js';
import { refused, RejectedError } from '../errors.js';
import { YAML_LIMITS } from '../formats.js';
import { ClientGone } from './limited-bytes.js';
import { readYamlAsJson, type YamlRead } from './yaml-json.js';

/** Limits of a document that is parsed without a worker, because starting one would take longer. */
const SMALL = { bytes: 16 * 1024, limits: { values: 10_000, characters: 1024 * 1024 } } as const;

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
    bytes.length <= SMALL.bytes ? readYamlAsJson(bytes, SMALL.limits) : await convertWithPermit(bytes, converting);
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
