import { formatCount } from '../../kernel/text.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { json } from '../output.js';
import { LOCK } from '../schema-files/contents.js';
import { type FolderChange, changeOf, updateFolder } from '../schema-files/write-folder.js';
import { OBJECT_FOLDER, readPresentFiles, withLock, readLockIn } from '../schema-files/read-folder.js';

/**
 * Writes the schema of the service to files. With --check, nothing is written, and the result is 1 if the files differ
 * from the schema.
 */
export async function pull(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  return isSet(invocation.values, 'check') ? check(invocation, directory) : write(invocation, directory);
}

async function write(invocation: Invocation, directory: string): Promise<ExitCode> {
  const present = await readPresentFiles(invocation);
  const change = await pullInto(invocation, directory, present);
  const { written, removed } = change;
  if (isSet(invocation.values, 'json')) {
    invocation.terminal.print(json({ written: [...written.keys()], removed, left_alone: change.foreign }));
  } else {
    invocation.terminal.print(
      `${contentsOf([...present.files.keys()])}: ${written.size} files written, ${removed.length} removed.`,
    );
  }
  return 0;
}

/** Describes the number of files: `2 collections`, `2 collections and 1 object`. */
function contentsOf(files: readonly string[]): string {
  const objects = files.filter((file) => file.startsWith(`${OBJECT_FOLDER}/`)).length;
  const collections = formatCount(files.length - objects, 'collection');
  return objects === 0 ? collections : `${collections} and ${formatCount(objects, 'object')}`;
}

/** Updates the directory to contain the files, and lists other files in it. */
export async function pullInto(
  { terminal }: Invocation,
  directory: string,
  present: Awaited<ReturnType<typeof readPresentFiles>>,
): Promise<FolderChange> {
  const change = await updateFolder(directory, withLock(present));
  if (change.foreign.length > 0) terminal.note(`Not managed by dps: ${listNames(change.foreign)}.`);
  return change;
}

const SHOWN = 10;

const listNames = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;

/**
 * Compares the files with the schema. Equal files mean equal schemas, even if the lock contains another position, for
 * example after a push from another base.
 */
async function check(invocation: Invocation, directory: string): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const present = await readPresentFiles(invocation);
  const { written, removed } = await changeOf(directory, present.files);
  const lock = await readLockIn(directory);
  const others = [...written.keys(), ...removed, ...(lock === null ? [LOCK] : [])];
  if (isSet(values, 'json')) terminal.print(json({ differ: others }));
  else if (others.length === 0) terminal.print('The files match the service.');
  else terminal.print(others.map((file) => `differs: ${file}`).join('\n'));
  return others.length === 0 ? 0 : 1;
}
