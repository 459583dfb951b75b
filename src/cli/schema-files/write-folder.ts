/** Writes schema files atomically, and removes those of dropped collections. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseYaml, YamlError } from '../../http/formats/yaml.js';
import { OperatorError } from '../../kernel/operator-error.js';
import { WRITING, exclusively } from './exclusively.js';
import { collectionOf } from './file-names.js';
import { LOCK } from './lock.js';
import { FOLDER, isMissing, namesIn, readWithin } from './read-folder.js';

export interface FolderChange {
  /** Files to write, by path in the directory. */
  written: ReadonlyMap<string, string>;
  /** Files of collections that no longer exist. */
  removed: readonly string[];
  /** Files of others, which stay. */
  foreign: readonly string[];
}

/** Our files are never larger. */
const MAX_FILE = 16 * 1024 * 1024;

/** The changes that make the directory contain exactly `files`. Reads only. */
export async function changeOf(directory: string, files: ReadonlyMap<string, string>): Promise<FolderChange> {
  const written = new Map<string, string>();
  for (const [file, text] of files) if ((await textIn(directory, file)) !== text) written.set(file, text);
  const removed: string[] = [];
  const foreign = await besides(directory);
  for (const name of await namesIn(directory)) {
    const file = `${FOLDER}/${name}`;
    if (files.has(file)) continue;
    const ours = await isOurs(directory, name);
    if (ours !== null) (ours ? removed : foreign).push(file);
  }
  return { written, removed, foreign };
}

/** With LF line ends, because Git may check files out with CRLF. Null if the file does not exist. */
async function textIn(directory: string, file: string): Promise<string | null> {
  try {
    return (await readWithin(directory, file, MAX_FILE)).replaceAll('\r\n', '\n');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Empty if the folder does not exist. */
const namesOf = (folder: string): Promise<string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });

/** Other files in the directory, ignoring hidden ones. */
async function besides(directory: string): Promise<string[]> {
  return (await namesOf(directory)).filter((name) => name !== FOLDER && name !== LOCK && !name.startsWith('.')).sort();
}

/**
 * Checks whether a file belongs to a collection, because others may have similar names. Null if it was just removed.
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

/**
 * Updates the directory to `files`. Of two concurrent updates, one fails. The lock is written last: until then, a
 * merge treats the new files as changes that both sides made alike.
 * @returns the changes
 */
export async function updateFolder(directory: string, files: ReadonlyMap<string, string>): Promise<FolderChange> {
  const change = await changeOf(directory, files);
  if (change.written.size + change.removed.length + (await restsIn(directory)).length === 0) return change;
  await writing(() => mkdir(join(directory, FOLDER), { recursive: true }));
  return exclusively(directory, async () => {
    // Another process may have written since.
    const now = await changeOf(directory, files);
    await writing(() => writeFolder(directory, now));
    return now;
  });
}

async function writing(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw new OperatorError(`The files can't be written (${(cause as Error).message}).`, { cause });
  }
}

async function writeFolder(directory: string, change: FolderChange): Promise<void> {
  const mark = join(directory, WRITING);
  for (const rest of await restsIn(directory)) if (rest !== mark) await rm(rest, { force: true });
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

/** Temporary files of killed processes, or of one that is still writing. */
async function restsIn(directory: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of [directory, join(directory, FOLDER)]) {
    const names = await namesOf(folder);
    found.push(...names.filter((name) => name === WRITING || TEMPORARY.test(name)).map((name) => join(folder, name)));
  }
  return found;
}
