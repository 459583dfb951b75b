import { type ExitCode, type Invocation, isSet, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../planned-changes.js';
import { json, writeOutput } from '../output.js';
import { readDocument } from '../document.js';
import { requestText } from '../connections/service.js';

/** Exit code 1 if there are differences. */
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
