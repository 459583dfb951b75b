/** The file that holds a backup: written beside its place and moved there when it is whole, readable by its owner only. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable, pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../kernel/operator-error.js';
import { placeOf, replaceFile } from './replace-file.js';

/**
 * @param check looks at the file before it is moved to its place; where it throws, nothing is left
 * @returns its bytes @throws OperatorError when it can't be written; nothing is left then, and what was there stays
 */
export async function writeFileWhole(
  file: string,
  bytes: AsyncIterable<Buffer>,
  check: (partial: string) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  const place = await placeOf(file);
  if (place === null) throw new OperatorError(`${file} can't be written: it is no file.`);
  // A failure to write is the place's; any other is the source's, and says so itself.
  let failure: unknown;
  try {
    return await replaceFile(place, async (partial) => {
      const written = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
      written.on('error', (error) => (failure = error));
      await pipeline(Readable.from(bytes), createGzip({ level: constants.Z_BEST_SPEED + 2 }), written);
      await check(partial);
      return written.bytesWritten;
    });
  } catch (error) {
    if (failure === undefined || failure !== error) throw error;
    throw new OperatorError(`${file} can't be written (${(failure as Error).message}).`, { cause: error });
  }
}

/** The bytes of a backup, decompressed. Errors of the file come out where it is read. @param onRead told how many are */
export function readBackupFile(file: string, onRead: (bytes: number) => void = () => undefined): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  const bytes = createGunzip();
  source.on('data', () => onRead(source.bytesRead));
  pipe(source, bytes, () => undefined);
  return bytes;
}
