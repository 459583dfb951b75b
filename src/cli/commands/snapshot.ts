import { type ExitCode, type Invocation, isSet, text } from '../command.js';
import { deliver } from '../output.js';
import { requestText } from '../connections/service.js';

/** The service's response, in the format of --format or the file extension. */
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
  await deliver(invocation, document.replace(/\n$/, ''));
  return 0;
}

function formatOf({ values }: Invocation, output: string | undefined): string {
  const format = text(values, 'format');
  if (format !== undefined || isSet(values, 'json')) return format ?? 'json';
  return /\.ya?ml$/i.test(output ?? '') ? 'yaml' : 'json';
}
