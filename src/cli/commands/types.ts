import { readFile } from 'node:fs/promises';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../command.js';
import { deliver, show } from '../output.js';
import { requestText } from '../connections/service.js';

/**
 * With --check nothing is written, and --json prints `file` and `current`. Returns 1 if the file of --output is
 * missing or outdated.
 */
export async function types(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const query = { lang: text(values, 'lang'), at: text(values, 'at') };
  const content = await requestText(invocation, 'getTypes', { query });
  if (!isSet(values, 'check')) {
    await deliver(invocation, content.replace(/\n$/, ''));
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
