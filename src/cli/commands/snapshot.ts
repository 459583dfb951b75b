import { type ExitCode, type Invocation, isSet, text, UsageError } from '../command.js';
import { writeResult, json, writeOutput, show } from '../output.js';
import { requestText } from '../connections/service.js';
import { type DiffDocument, describeDiff, isEmpty } from '../planned-changes.js';
import { readDocument } from '../input.js';
import { readFile } from 'node:fs/promises';

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
 * file of --output is missing or outdated.
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
