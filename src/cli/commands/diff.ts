import { writeFile } from 'node:fs/promises';
import { type Command, choice, takePositionals, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../diff-document.js';
import { json } from '../output.js';
import { SERVICE_HELP, SERVICE_OPTIONS, ask, readDocument } from '../service.js';

export const diff: Command = {
  name: 'diff',
  summary: 'compare a snapshot with a running service',
  help: `dps diff: what it would take to bring a running service to a snapshot

  dps diff SNAPSHOT [--force] [--mode MODE] [--output FILE]

SNAPSHOT is a JSON or YAML file, or - for stdin. Exit code 1 when there are differences, 0 when there are none.

  --force            accept the snapshot of another release, another database or another vendor
  --mode MODE        mirror (also remove what the snapshot lacks), merge (never remove); mirror by default
  --output FILE      write the diff there, for "dps apply"
${SERVICE_HELP}
  --json             print the diff itself`,
  options: {
    ...SERVICE_OPTIONS,
    force: { type: 'boolean' },
    mode: { type: 'string' },
    output: { type: 'string', short: 'o' },
  },
  async run(invocation) {
    const [file = ''] = takePositionals(invocation, 'SNAPSHOT');
    const { values, terminal } = invocation;
    const answer = await ask(invocation, '/schema/diff', {
      method: 'POST',
      query: {
        force: values['force'] === true ? 'true' : undefined,
        mode: choice(values, 'mode', ['mirror', 'merge']),
      },
      body: await readDocument(invocation, file),
    });
    const document = JSON.parse(answer) as DiffDocument;
    const output = text(values, 'output');
    if (output !== undefined) await writeFile(output, `${json(document)}\n`);
    terminal.print(values['json'] === true ? json(document) : describeDiff(document));
    return isEmpty(document) ? 0 : 1;
  },
};
