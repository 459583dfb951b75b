/** Writes schema files atomically, and removes those of deleted collections and objects. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile, link, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseYaml, YamlError } from '../../http/formats.js';
import { OperatorError } from '../../kernel/problem.js';
import { jsonEqual } from '../../kernel/json.js';
import { readObjectFile } from '../../schema/sql-text/object-file.js';
import {
  collectionOf,
  FOLDER,
  FOLDERS,
  isMissing,
  listNames,
  objectOf,
  readWithin,
  withLineFeeds,
} from './read-folder.js';
import { LOCK } from './contents.js';

/* Allows only one process at a time to write into a folder, because mixed files would look like changes. */

/** The file with the id of the writing process. If that process was killed, others recognize the file as abandoned. */
export const WRITING = '.dps-writing';

/**
 * Milliseconds after which a writer counts as dead or on another machine. Writing ten thousand files takes only
 * seconds.
 */
const LONGEST = 600_000;
/** The same limit for a writer that has not recorded its id yet. */
const LONGEST_NAMELESS = 5_000;

/** @throws OperatorError while another process writes into the folder */
export async function runExclusively<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const file = join(directory, WRITING);
  await lockDirectory(file, directory);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function lockDirectory(file: string, directory: string): Promise<void> {
  try {
    await writeNamed(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw new OperatorError(`The files cannot be written (${(cause as Error).message}).`, { cause });
    }
    const holder = await readHolder(file);
    if (typeof holder === 'string') {
      throw new OperatorError(
        `Another dps (process ${holder}) is writing to ${directory}. Run this again when it has finished. If none is running, remove ${file}.`,
        { cause },
      );
    }
    // A finished process has already removed its file, so the current file belongs to another process.
    if (holder === null) await rm(file, { force: true });
    await lockDirectory(file, directory);
  }
}

/** Creates the file atomically with its content. If a writer died before writing its id, others would wait for it. */
async function writeNamed(file: string): Promise<void> {
  const name = `${process.pid}\n`;
  const own = join(dirname(file), `.${randomUUID()}.tmp`);
  try {
    await writeFile(own, name);
    await link(own, file);
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException;
    if (syscall !== 'link') throw error;
    // Another writer has just removed this temporary file.
    if (code === 'ENOENT') return await writeNamed(file);
    // Some file systems have no hard links. This call also fails if the file already exists.
    await writeFile(file, name, { flag: 'wx' });
  } finally {
    await rm(own, { force: true });
  }
}

/** Returns the writing process. Null if it is dead. Undefined if it has finished. */
async function readHolder(file: string): Promise<string | null | undefined> {
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

export interface FolderChange {
  /** The files to write, by path in the directory. */
  written: ReadonlyMap<string, string>;
  /** Paths of files of collections and objects that no longer exist. */
  removed: readonly string[];
  /** Paths of other files, which are not changed. */
  foreign: readonly string[];
}

/** Maximum number of bytes that are read. Files of this command are never larger. */
const MAX_FILE = 16 * 1024 * 1024;

/** Returns the changes after which the directory contains exactly `files`. Only reads. */
export async function changeOf(directory: string, files: ReadonlyMap<string, string>): Promise<FolderChange> {
  const written = new Map<string, string>();
  for (const [file, text] of files) if ((await readTextOf(directory, file)) !== text) written.set(file, text);
  const removed: string[] = [];
  const foreign = await listOtherFiles(directory);
  for (const folder of FOLDERS)
    for (const name of await listNames(directory, folder)) {
      const file = `${folder}/${name}`;
      if (files.has(file)) continue;
      const ours = await (folder === FOLDER ? isOurs(directory, name) : isObjectFile(directory, file));
      if (ours !== null) (ours ? removed : foreign).push(file);
    }
  return { written, removed, foreign };
}

/** Reads a file with LF line ends. Null if it does not exist. */
async function readTextOf(directory: string, file: string): Promise<string | null> {
  try {
    return withLineFeeds(await readWithin(directory, file, MAX_FILE));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns the names in a folder. Empty if the folder does not exist. */
const namesOf = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });

/** Returns the other files in the directory. Hidden files are ignored. */
async function listOtherFiles(directory: string): Promise<string[]> {
  const own: ReadonlySet<string> = new Set([...FOLDERS, LOCK]);
  return (await namesOf(directory)).filter((name) => !own.has(name) && !name.startsWith('.')).sort();
}

/**
 * True if a file belongs to a collection. The content is checked, because other files may have similar names. Null if
 * the file was just removed.
 */
async function isOurs(directory: string, name: string): Promise<boolean | null> {
  const collection = collectionOf(name);
  if (collection === null) return false;
  try {
    const document = parseYaml(await readWithin(directory, join(FOLDER, name), MAX_FILE));
    return (document as { collection?: unknown } | null)?.collection === collection;
  } catch (error) {
    if (error instanceof YamlError || error instanceof OperatorError) return false;
    if (isMissing(error)) return null;
    throw error;
  }
}

/** True if a file contains the object of its name. Null if the file was just removed. */
async function isObjectFile(directory: string, file: string): Promise<boolean | null> {
  const name = objectOf(file);
  if (name === null) return false;
  try {
    const read = readObjectFile(withLineFeeds(await readWithin(directory, file, MAX_FILE)));
    return 'object' in read && jsonEqual({ kind: read.object.kind, id: read.object.id }, { ...name });
  } catch (error) {
    if (isMissing(error)) return null;
    if (error instanceof OperatorError) return false;
    throw error;
  }
}

/**
 * Updates the directory to `files`. Of two concurrent updates, one fails. The lock is written last. Until then, a merge
 * treats the new files as equal changes on both sides.
 * @returns the changes
 */
export async function updateFolder(directory: string, files: ReadonlyMap<string, string>): Promise<FolderChange> {
  const change = await changeOf(directory, files);
  if (change.written.size + change.removed.length + (await listTemporaryFiles(directory)).length === 0) return change;
  const folders = FOLDERS.filter(
    (folder) => folder === FOLDER || [...files.keys()].some((file) => file.startsWith(`${folder}/`)),
  );
  for (const folder of folders) await writing(() => mkdir(join(directory, folder), { recursive: true }));
  return runExclusively(directory, async () => {
    // Another process may have written since the changes were computed.
    const now = await changeOf(directory, files);
    await writing(() => writeFolder(directory, now));
    return now;
  });
}

async function writing(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new OperatorError(`The files cannot be written (${(cause as Error).message}).`, { cause });
  }
}

async function writeFolder(directory: string, change: FolderChange): Promise<void> {
  const mark = join(directory, WRITING);
  for (const rest of await listTemporaryFiles(directory)) if (rest !== mark) await rm(rest, { force: true });
  const made: [temporary: string, path: string][] = [];
  try {
    for (const [file, text] of change.written) {
      const path = join(directory, file);
      const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
      made.push([temporary, path]);
      await writeFile(temporary, text, { flag: 'wx' });
    }
    const isLock = ([, path]: [string, string]): boolean => path === join(directory, LOCK);
    for (const [temporary, path] of made.filter((each) => !isLock(each))) await rename(temporary, path);
    for (const file of change.removed) await rm(join(directory, file));
    for (const [temporary, path] of made.filter(isLock)) await rename(temporary, path);
  } catch (error) {
    for (const [temporary] of made) await rm(temporary, { force: true });
    throw error;
  }
}

const TEMPORARY = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.tmp$/;

/** Returns temporary files of processes that were killed or are still writing. */
async function listTemporaryFiles(directory: string): Promise<string[]> {
  const leftovers: string[] = [];
  for (const folder of [directory, ...FOLDERS.map((each) => join(directory, each))]) {
    const names = await namesOf(folder);
    leftovers.push(
      ...names.filter((name) => name === WRITING || TEMPORARY.test(name)).map((name) => join(folder, name)),
    );
  }
  return leftovers;
}
