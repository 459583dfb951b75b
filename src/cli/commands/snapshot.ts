import { writeFile } from 'node:fs/promises';
import { type Command, type Invocation, choice, takePositionals, text } from '../command.js';
import { SERVICE_HELP, SERVICE_OPTIONS, ask } from '../service.js';

const FORMATS = ['json', 'yaml', 'csv', 'csv_utf8', 'xml'] as const;

export const snapshot: Command = {
  name: 'snapshot',
  summary: "write a running service's schema to a file",
  help: `dps snapshot: the schema of a running service as a document

  dps snapshot [--format FORMAT] [--include NAMES] [--exclude NAMES] [--output FILE]

  --format FORMAT    ${FORMATS.join(', ')}; json by default, yaml for a FILE that ends in .yaml or .yml
  --include NAMES    only these collections (comma-separated)
  --exclude NAMES    all but these collections
  --output FILE      instead of stdout
${SERVICE_HELP}
  --json             the same as --format json`,
  options: {
    ...SERVICE_OPTIONS,
    format: { type: 'string' },
    include: { type: 'string' },
    exclude: { type: 'string' },
    output: { type: 'string', short: 'o' },
  },
  async run(invocation) {
    takePositionals(invocation);
    const { values, terminal } = invocation;
    const output = text(values, 'output');
    const document = await ask(invocation, '/schema/snapshot', {
      query: {
        export: formatOf(invocation, output),
        includeCollections: text(values, 'include'),
        excludeCollections: text(values, 'exclude'),
      },
    });
    if (output === undefined) {
      terminal.print(document.replace(/\n$/, ''));
    } else {
      await writeFile(output, document);
      terminal.note(`written to ${output}`);
    }
    return 0;
  },
};

function formatOf({ values }: Invocation, output: string | undefined): string {
  const given = choice(values, 'format', FORMATS);
  if (given !== undefined || values['json'] === true) return given ?? 'json';
  return /\.ya?ml$/i.test(output ?? '') ? 'yaml' : 'json';
}
