/** Delivers checkpoints to targets. Any process may repeat a delivery with the same bytes. */
import { randomBytes } from 'node:crypto';
import { type FileHandle, link, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileNameOf, parseCheckpoint } from './checkpoint.js';

export interface Delivery {
  origin: string;
  position: number;
  note: string;
}

export interface Target {
  /** The address without credentials. It identifies the target. */
  name: string;
  /**
   * Resolves when the checkpoint is stored durably.
   * @throws RefusedError if the target has a different one for this position. All other errors can be retried.
   */
  deliver(checkpoint: Delivery, stopping: AbortSignal): Promise<void>;
}

/** The target has different content for this position, which is never overwritten. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** @param to the setting CHECKPOINT_TO: a folder or an http(s) URL */
export const createTarget = (to: string): Target =>
  /^https?:/i.test(to) ? addressTarget(new URL(to)) : folderTarget(to);

/**
 * Accepts a stored checkpoint of the same position and hash, even if its time or key differs.
 * @throws RefusedError for any other content
 */
function refuseOther(there: Buffer, { origin, position, note }: Delivery, location: string): void {
  if (there.toString() === note) return;
  try {
    const [theirs, ours] = [parseCheckpoint(there), parseCheckpoint(Buffer.from(note))];
    if (theirs.origin === origin && theirs.position === position && theirs.hash === ours.hash) return;
  } catch {
    // The content is not a checkpoint at all.
  }
  throw new RefusedError(`${location} already exists with other content, and the service does not overwrite it`);
}

/** Creates a target that writes files to an existing folder. A missing folder suggests that a disk is not mounted. */
function folderTarget(path: string): Target {
  const folder = resolve(path);
  return {
    name: folder,
    async deliver(checkpoint) {
      const file = join(folder, fileNameOf(checkpoint));
      const part = join(folder, `.${randomBytes(6).toString('hex')}.part`);
      try {
        await withOpenFile(part, 'wx', async (handle) => {
          await handle.writeFile(checkpoint.note);
          await handle.sync();
        });
        if (!(await linkIntoPlace(part, file))) refuseOther(await contentOf(file), checkpoint, file);
      } finally {
        await unlink(part).catch(() => undefined);
      }
      // The directory entry needs an fsync too. Some systems cannot open directories; that error is ignored.
      await withOpenFile(folder, 'r', (handle) => handle.sync()).catch(() => undefined);
    },
  };
}

/** Reads only regular files, because reading a pipe could block forever. */
async function contentOf(file: string): Promise<Buffer> {
  return (await stat(file)).isFile() ? readFile(file) : Buffer.alloc(0);
}

async function withOpenFile(path: string, flags: string, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle = await open(path, flags, 0o644);
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}

/** Errors of file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']);

/**
 * Links the finished file to its name atomically. A rename would overwrite an existing file.
 * @returns false if a file with the name exists
 */
async function linkIntoPlace(part: string, file: string): Promise<boolean> {
  try {
    await link(part, file);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (!NO_LINKS.has(code)) throw error;
  }
  const there = await stat(file).then(
    () => true,
    () => false,
  );
  if (!there) await rename(part, file);
  return !there;
}

/** Timeout of a request in milliseconds. */
const LIMIT = 15_000;

/** Maximum number of bytes that are read from a response. A valid response is never larger. */
const MAX_ANSWER = 64 * 1024;

/**
 * Creates a target from a URL. If it ends with a slash it is a folder, and each file is sent to it with PUT. Any other
 * URL receives checkpoints by POST.
 */
function addressTarget(address: URL): Target {
  const { url, headers } = withoutCredentials(address);
  const isFolder = url.pathname.endsWith('/');
  return {
    name: `${url.origin}${url.pathname}`,
    async deliver(checkpoint, stopping) {
      const to = new URL(url);
      if (isFolder) to.pathname += fileNameOf(checkpoint);
      const ask = (method: string, more: RequestInit) =>
        request(to, {
          ...more,
          method,
          headers: { ...headers, ...(more.headers as Record<string, string>) },
          stopping,
        });
      const body = { body: checkpoint.note, headers: { 'content-type': 'text/plain; charset=utf-8' } };
      if (!isFolder) return expectDone(await ask('POST', body));
      const answer = await ask('PUT', { ...body, headers: { ...body.headers, 'if-none-match': '*' } });
      // Status 412 (Precondition Failed) means that the file already exists.
      if (answer.status !== 412) return expectDone(answer);
      const there = await ask('GET', {});
      expectDone(there);
      refuseOther(there.content, checkpoint, `${to.origin}${to.pathname}`);
    },
  };
}

function withoutCredentials(address: URL): { url: URL; headers: Record<string, string> } {
  const url = new URL(address);
  const { username, password } = url;
  url.username = url.password = '';
  if (username === '' && password === '') return { url, headers: {} };
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  return { url, headers: { authorization: `Basic ${basic}` } };
}

interface HttpResponse {
  status: number;
  content: Buffer;
}

type RequestOptions = RequestInit & { stopping: AbortSignal };

async function request(url: URL, { stopping, ...init }: RequestOptions): Promise<HttpResponse> {
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(LIMIT)]);
  const answer = await fetch(url, { ...init, redirect: 'manual', signal }).catch((error: Error) => {
    // Only the cause is used. The error itself contains the URL with its credentials.
    throw new Error(`no response: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  return { status: answer.status, content: await startOf(answer) };
}

/**
 * Reads the whole response, so that the connection can be reused, but keeps only as many bytes as a checkpoint can
 * have.
 */
async function startOf({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk as Uint8Array);
    length += (chunk as Uint8Array).length;
    if (length > MAX_ANSWER) break;
  }
  return Buffer.concat(chunks);
}

function expectDone({ status }: HttpResponse): void {
  if (status >= 200 && status <= 299) return;
  if (status >= 300 && status <= 399) throw new Error(`response ${status}: redirects are not followed`);
  throw new Error(`response ${status}`);
}
