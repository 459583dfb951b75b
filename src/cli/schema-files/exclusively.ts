/** Allows one process at a time to write into a folder, because mixed files would look like changes. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.js';
import { isMissing } from './read-folder.js';

/** Contains the id of the writing process. If that process was killed, the file is recognized as abandoned. */
export const WRITING = '.dps-writing';

/** Milliseconds. Writing ten thousand files takes seconds, so an older writer is dead or on another machine. */
const LONGEST = 600_000;
/** For a writer that has not recorded its id yet. */
const LONGEST_NAMELESS = 5_000;

/** @throws OperatorError while another process writes there */
export async function exclusively<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const file = join(directory, WRITING);
  await take(file, directory);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function take(file: string, directory: string): Promise<void> {
  try {
    await writeNamed(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new OperatorError(`The files can't be written (${(cause as Error).message}).`, { cause });
    }
    const holder = await holderOf(file);
    if (typeof holder === 'string') {
      throw new OperatorError(
        `Another dps (process ${holder}) writes into ${directory}: run this again when it is done. Where none runs, remove ${file}.`,
        { cause },
      );
    }
    // A finished process has already removed its file, so the present one belongs to another.
    if (holder === null) await rm(file, { force: true });
    await take(file, directory);
  }
}

/** Creates the file with its content atomically, because others would wait for a nameless dead writer. */
async function writeNamed(file: string): Promise<void> {
  const name = `${process.pid}\n`;
  const own = join(dirname(file), `.${randomUUID()}.tmp`);
  try {
    await writeFile(own, name);
    await link(own, file);
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'link') throw error;
    // The writer has just cleaned up.
    if (code === 'ENOENT') return await writeNamed(file);
    // Some file systems have no hard links. This call also fails if the file exists.
    await writeFile(file, name, { flag: 'wx' });
  } finally {
    await rm(own, { force: true });
  }
}

/** The writing process; null if it is dead; undefined if it has finished. */
async function holderOf(file: string): Promise<string | null | undefined> {
  try {
    const [text, { mtimeMs }] = [await readFile(file, 'utf8'), await stat(file)];
    const id = /^\d{1,9}\n$/.test(text) ? Number(text) : null;
    const isOld = Date.now() - mtimeMs > (id === null ? LONGEST_NAMELESS : LONGEST);
    if (isOld || id === process.pid) return null;
    return id === null || isAlive(id) ? text.trim() || 'of no name yet' : null;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
