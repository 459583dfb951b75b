/** Writes a backup next to its target and moves it there when it is complete. Only the owner can read it. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable, pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { OperatorError } from '../../kernel/problem.js';

/** Replaces a file atomically, by writing a new file next to it and renaming the new one. */

/** The target of a file, with links resolved. */
interface FileTarget {
  target: string;
  /** The permissions of the existing file; null if there is none. */
  mode: number | null;
}

/** @returns null if the path is not a file but, for example, a device, a directory, or a link to itself */
export async function resolveTarget(file: string): Promise<FileTarget | null> {
  const stats = await stat(file).catch(() => null);
  if (stats === null) {
    const target = await endOf(file);
    return target === null ? null : { target, mode: null };
  }
  return stats.isFile() ? { target: await realpath(file), mode: stats.mode & 0o777 } : null;
}

/** Resolves a link whose target need not exist. Null for a cycle of links. */
async function endOf(file: string, links = 40): Promise<string | null> {
  const next = await readlink(file).catch(() => null);
  if (next === null) return file;
  return links === 0 ? null : endOf(resolve(dirname(file), next), links - 1);
}

/**
 * Replaces the file.
 * @param write creates the file next to the target and flushes it
 * @throws errors of `write` and of the rename. The new file is then removed, and an existing file stays
 */
export async function replaceFile<T>({ target }: FileTarget, write: (partial: string) => Promise<T>): Promise<T> {
  const partial = join(dirname(target), `.${basename(target)}.${randomBytes(4).toString('hex')}.partial`);
  try {
    const written = await write(partial);
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return written;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    // The message must name the target, because the user does not know the temporary name.
    if (error instanceof Error) error.message = error.message.replaceAll(partial, target);
    throw error;
  }
}

/**
 * Flushes the directory, because a crash of the machine may otherwise lose the new name. Not every system supports
 * this.
 */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/**
 * Writes a complete file or nothing.
 * @param check inspects the file before it is moved. If it throws, the file is removed
 * @returns the size in bytes
 * @throws OperatorError if the file cannot be written. An existing file stays in this case
 */
export async function writeFileWhole(
  file: string,
  bytes: AsyncIterable<Buffer>,
  check: (partial: string) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  const location = await resolveTarget(file);
  if (location === null) throw new OperatorError(`${file} cannot be written: it is not a file.`);
  // Only an error of the target is described here. The pipeline also destroys the target with an error of the source.
  let failure: unknown;
  let sourceFailure: unknown;
  const source = async function* (): AsyncIterable<Buffer> {
    try {
      yield* bytes;
    } catch (error) {
      // The pipeline also throws an error of the target here.
      if (failure === undefined) sourceFailure = error;
      throw error;
    }
  };
  try {
    return await replaceFile(location, async (partial) => {
      const written = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
      written.on('error', (error) => (failure = error));
      await pipeline(Readable.from(source()), createGzip({ level: constants.Z_BEST_SPEED + 2 }), written);
      await check(partial);
      return written.bytesWritten;
    });
  } catch (error) {
    if (failure !== error || error === sourceFailure) throw error;
    throw new OperatorError(`${file} cannot be written (${(failure as Error).message}).`, { cause: error });
  }
}

/**
 * Returns the decompressed bytes of a backup. Errors of the file occur while reading.
 * @param onRead receives the number of read bytes
 */
export function readBackupFile(file: string, onRead: (bytes: number) => void = () => undefined): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  const bytes = createGunzip();
  source.on('data', () => onRead(source.bytesRead));
  pipe(source, bytes, () => undefined);
  return bytes;
}
