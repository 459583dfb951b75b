import { readFile } from 'node:fs/promises';
import { formatCount } from '../../kernel/text.js';
import { readDocument } from '../input.js';
import { type ExitCode, type Invocation, isSet, text, UsageError } from '../command.js';
import { requestText } from '../connections/service.js';
import { writeResult, json, writeOutput, show } from '../output.js';
import { type DiffDocument, describeDiff, isEmpty } from '../planned-changes.js';
import { LOCK } from '../schema-files/contents.js';
import { OBJECT_FOLDER, readPresentFiles, withLock, readLockIn } from '../schema-files/read-folder.js';
import { type FolderChange, changeOf, updateFolder } from '../schema-files/write-folder.js';

/** Writes the snapshot as the service returns it. --format or the extension of the file decides the format. */
export async function snapshot(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const output = text(values, 'output');
  const document = await requestText(invocation, 'getSnapshot', {
    query: {
      export: formatOf(invocation, output),
      includeCollections: text(values, 'include'),
      excludeCollections: text(values, 'exclude'),
    },
  });
  await writeResult(invocation, document.replace(/\n$/, ''));
  return 0;
}

function formatOf({ values }: Invocation, output: string | undefined): string {
  const format = text(values, 'format');
  if (format !== undefined || isSet(values, 'json')) return format ?? 'json';
  return /\.ya?ml$/i.test(output ?? '') ? 'yaml' : 'json';
}

/** Prints a diff. Exit code 1 if there are differences. */
export async function diff(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  const { values, terminal } = invocation;
  const answer = await requestText(invocation, 'diffSnapshot', {
    query: {
      force: isSet(values, 'force'),
      mode: text(values, 'mode'),
    },
    file: await readDocument(invocation, file),
  });
  const document = JSON.parse(answer) as DiffDocument;
  const output = text(values, 'output');
  if (output !== undefined) await writeOutput(output, `${json(document)}\n`);
  terminal.print(isSet(values, 'json') ? json(document) : describeDiff(document));
  return isEmpty(document) ? 0 : 1;
}

/**
 * Writes type definitions. With --check, nothing is written, and --json prints `file` and `current`. Returns 1 if the
 * --output file is missing or outdated.
 */
export async function types(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const query = { lang: text(values, 'lang'), at: text(values, 'at') };
  const content = await requestText(invocation, 'getTypes', { query });
  if (!isSet(values, 'check')) {
    await writeResult(invocation, content.replace(/\n$/, ''));
    return 0;
  }
  const file = text(values, 'output');
  if (file === undefined) throw new UsageError('--check requires --output, the file to check.');
  const there = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const isRight = there === content;
  const result = `${file} ${isRight ? 'matches' : 'does not match'} the schema.`;
  show(invocation, { file, current: isRight }, () => result);
  return isRight ? 0 : 1;
}

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
