/** Writes a backup beside its target and moves it there when it is complete. Only the owner can read it. */
import { createReadStream, createWriteStream } from 'node:fs';
import { Readable, pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import { OperatorError } from '../kernel/operator-error.js';
import { placeOf, replaceFile } from './replace-file.js';

/**
 * @param check inspects the file before it is moved; if it throws, nothing is left
 * @returns the size in bytes
 * @throws OperatorError if it cannot be written; nothing is left then, and an existing file stays
 */
export async function writeFileWhole(
  file: string,
  bytes: AsyncIterable<Buffer>,
  check: (partial: string) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  const place = await placeOf(file);
  if (place === null) throw new OperatorError(`${file} can't be written: it is no file.`);
  // A write error concerns the target. Any other error concerns the source and is rethrown.
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

/**
 * The decompressed bytes of a backup. File errors surface while reading.
 * @param onRead receives the number of read bytes
 */
export function readBackupFile(file: string, onRead: (bytes: number) => void = () => undefined): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  const bytes = createGunzip();
  source.on('data', () => onRead(source.bytesRead));
  pipe(source, bytes, () => undefined);
  return bytes;
}
