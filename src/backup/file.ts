/** The file that holds a backup: written beside its place and moved there when it is whole, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable, pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../kernel/operator-error.js';

/** @returns its bytes @throws OperatorError when it can't be written; nothing is left then, and what was there stays */
export async function writeFileWhole(file: string, bytes: AsyncIterable<Buffer>): Promise<number> {
  const target = await targetOf(file);
  const partial = join(dirname(target), `.${basename(target)}.${randomBytes(4).toString('hex')}.partial`);
  const written = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
  // A failure to write is the place's; any other is the source's, and says so itself.
  let failure: Error | undefined;
  written.on('error', (error) => (failure = error));
  try {
    await pipeline(Readable.from(bytes), createGzip({ level: constants.Z_BEST_SPEED + 2 }), written);
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return written.bytesWritten;
  } catch (error) {
    await rm(partial, { force: true });
    if (failure === undefined || failure !== error) throw error;
    throw new OperatorError(`${file} can't be written (${failure.message}).`, { cause: error });
  }
}

/** Where a link leads to; a device or a directory is none. */
async function targetOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => null);
  if (found === null) return file;
  if (!found.isFile()) throw new OperatorError(`${file} can't be written: it is no file.`);
  return realpath(file);
}

/** Else the new name may be gone after a crash of the machine. Not every system can. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** The bytes of a backup, decompressed. Errors of the file come out where it is read. @param onRead told how many are */
export function readBackupFile(file: string, onRead: (bytes: number) => void = () => undefined): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  const bytes = createGunzip();
  source.on('data', () => onRead(source.bytesRead));
  pipe(source, bytes, () => undefined);
  return bytes;
}
