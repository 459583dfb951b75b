/** dps plan: what the files of a folder would change. */
import { type ExitCode, type Invocation, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../diff-document.js';
import { deliver, json } from '../output.js';
import { mergeFiles } from '../schema-files/merge-files.js';
import { planMarkdown } from '../schema-files/plan-markdown.js';

const FORMATS: Record<string, (document: DiffDocument) => string> = {
  text: describeDiff,
  json,
  markdown: planMarkdown,
};

/** 0: nothing to do; 1: changes. */
export async function plan(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  const { document } = await mergeFiles(invocation, directory);
  const format = invocation.values['json'] === true ? 'json' : (text(invocation.values, 'format') ?? 'text');
  await deliver(invocation, (FORMATS[format] ?? describeDiff)(document));
  return isEmpty(document) ? 0 : 1;
}
