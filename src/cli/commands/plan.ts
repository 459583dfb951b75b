import { type ExitCode, type Invocation, isSet, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../diff-document.js';
import { type Source, printFindings } from '../findings/index.js';
import { deliver, json } from '../output.js';
import { stoppedBy } from '../policy.js';
import { locateIn, mergeFiles } from '../schema-files/merge-files.js';
import { planMarkdown } from '../schema-files/plan-markdown.js';

const WRITERS: Readonly<Record<string, (document: DiffDocument, source: Source) => string>> = {
  text: describeDiff,
  json,
  markdown: planMarkdown,
  github: ({ warnings = [] }, source) => printFindings(warnings, 'github', source),
  sarif: ({ warnings = [] }, source) => printFindings(warnings, 'sarif', source),
};

/** 0: no changes; 1: changes; 3: changes that the policy blocks. */
export async function plan(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  const { document, files } = await mergeFiles(invocation, directory);
  const format = isSet(invocation.values, 'json') ? 'json' : (text(invocation.values, 'format') ?? 'text');
  const source = { file: null, text: '', locate: locateIn(files, directory) };
  await deliver(invocation, (WRITERS[format] ?? describeDiff)(document, source));
  if (isEmpty(document)) return 0;
  return stoppedBy(document.warnings, invocation.values).length > 0 ? 3 : 1;
}
