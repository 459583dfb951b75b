/** One process at a time writes into a folder: files of two moments, mixed, would look like somebody's changes. */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OperatorError } from '../../kernel/operator-error.js';
import { isMissing } from './read-folder.js';

/** Holds the id of the process that writes. Left by one that was killed, it is found to be nobody's. */
export const WRITING = '.dps-writing';

/** Milliseconds. Writing ten thousand files takes seconds; whoever began longer ago is on another machine, or gone. */
const LONGEST = 600_000;
/** Of one that has not yet said who it is. */
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
    // One that is done has removed it already: what is there now is another's.
    if (holder === null) await rm(file, { force: true });
    await take(file, directory);
  }
}

/** Is there with its name or not at all: one that was killed before it said who it is would be waited for. */
async function writeNamed(file: string): Promise<void> {
  const name = `${process.pid}\n`;
  const own = join(dirname(file), `.${randomUUID()}.tmp`);
  try {
    await writeFile(own, name);
    await link(own, file);
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'link') throw error;
    // Whoever writes has tidied up.
    if (code === 'ENOENT') return await writeNamed(file);
    // Some file systems have no links. Where the file is there, this says so, too.
    await writeFile(file, name, { flag: 'wx' });
  } finally {
    await rm(own, { force: true });
  }
}

/** The process that writes; null: none that is alive; undefined: it is done. */
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
