import { type ExitCode, type Invocation, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../diff-document.js';
import { json, writeOutput } from '../output.js';
import { readDocument } from '../document.js';
import { ask } from '../connections/service.js';

export async function diff(invocation: Invocation): Promise<ExitCode> {
  const [file = ''] = invocation.positionals;
  const { values, terminal } = invocation;
  const answer = await ask(invocation, '/schema/diff', {
    method: 'POST',
    query: {
      force: values['force'] === true ? 'true' : undefined,
      mode: text(values, 'mode'),
    },
    body: await readDocument(invocation, file),
  });
  const document = JSON.parse(answer) as DiffDocument;
  const output = text(values, 'output');
  if (output !== undefined) await writeOutput(output, `${json(document)}\n`);
  terminal.print(values['json'] === true ? json(document) : describeDiff(document));
  return isEmpty(document) ? 0 : 1;
}
