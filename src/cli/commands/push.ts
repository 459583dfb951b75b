/** dps push: brings a running service what the files of a folder change. */
import { type ExitCode, type Invocation, text } from '../command.js';
import { isEmpty } from '../diff-document.js';
import { mergeFiles } from '../schema-files/merge-files.js';
import { presentFiles } from '../schema-files/present-files.js';
import { changeHeaders } from '../service.js';
import { carryOut, nothingToDo } from './apply.js';
import { pullInto } from './pull.js';

export async function push(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  changeHeaders(invocation);
  const { answer, document } = await mergeFiles(invocation, directory);
  const code = isEmpty(document)
    ? nothingToDo(invocation)
    : await carryOut(invocation, { type: 'application/json', content: Buffer.from(answer) });
  // With another base the files are another service's, or of a commit: what they are made from stays as it is.
  const keepsUp = code === 0 && invocation.values['dryRun'] !== true && text(invocation.values, 'base') === undefined;
  if (keepsUp) await pullInto(invocation, directory, await presentFiles(invocation));
  return code;
}
