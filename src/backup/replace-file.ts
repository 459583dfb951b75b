/** A file in its place as a whole or not at all: written beside it and moved there. */
import { randomBytes } from 'node:crypto';
import { open, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Where a file is to come: where a link leads to. */
export interface Place {
  target: string;
  /** Permissions of the file that is there. Null: none is. */
  mode: number | null;
}

/** @returns null when something other than a file is there, as a device, a directory, or a link to itself */
export async function placeOf(file: string): Promise<Place | null> {
  const found = await stat(file).catch(() => null);
  if (found === null) {
    const target = await endOf(file);
    return target === null ? null : { target, mode: null };
  }
  return found.isFile() ? { target: await realpath(file), mode: found.mode & 0o777 } : null;
}

/** Where a link leads to at which nothing is yet; any other path as it is. Null: links lead round in a circle. */
async function endOf(file: string, links = 40): Promise<string | null> {
  const next = await readlink(file).catch(() => null);
  if (next === null) return file;
  return links === 0 ? null : endOf(resolve(dirname(file), next), links - 1);
}

/**
 * @param write writes the file beside the target and flushes it; it does not exist before
 * @throws what `write` or moving it throws; nothing is left beside the target then, and what was there stays
 */
export async function replaceFile<T>({ target }: Place, write: (partial: string) => Promise<T>): Promise<T> {
  const partial = join(dirname(target), `.${basename(target)}.${randomBytes(4).toString('hex')}.partial`);
  try {
    const written = await write(partial);
    await rename(partial, target);
    await syncDirectory(dirname(target));
    return written;
  } catch (error) {
    await rm(partial, { force: true }).catch(() => undefined);
    // Nobody has asked for a file of that name.
    if (error instanceof Error) error.message = error.message.replaceAll(partial, target);
    throw error;
  }
}

/** Else the new name may be gone after a crash of the machine. Not every system can. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory).catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
