import { type ExitCode, type Invocation, isSet, text } from '../command.js';
import {
  type DiffDocument,
  describeDiff,
  entriesOf,
  isEmpty,
  type Entry,
  describeWarning,
  selectBlocked,
} from '../planned-changes.js';
import { type Source, printFindings } from '../findings.js';
import { writeResult, json } from '../output.js';
import { locateIn, mergeFiles } from '../schema-files/merge-files.js';
import { formatCount } from '../../kernel/text.js';

/** Maximum number of characters. GitHub rejects comments with more than 65,536 characters. */
const MAX_LENGTH = 60_000;

/** Returns the plan in Markdown, truncated to the maximum length of a comment. */
export function planMarkdown(document: DiffDocument): string {
  if (isEmpty(document)) return '### Schema plan\n\nNothing to do: the schema already has this state.';
  const rows = entriesOf(document.diff).map(row);
  const warnings = (document.warnings ?? []).map((warning) => `- ${escaped(describeWarning(warning))}`);
  const count = formatCount(rows.length, 'change');
  return cut([
    `### Schema plan: ${count}`,
    '',
    '| | what | where | members |',
    '| --- | --- | --- | --- |',
    ...rows,
    ...(warnings.length > 0 ? ['', '#### Findings', '', ...warnings] : []),
  ]);
}

function row({ kind, name, diff }: Entry): string {
  const whole = diff.find(({ path }) => path === undefined || path.length === 0);
  const sign = whole === undefined ? 'changed' : whole.kind === 'N' ? 'new' : '**removed**';
  const members = whole === undefined ? [...new Set(diff.map(({ path = [] }) => path.join('.')))] : [];
  return `| ${sign} | ${kind} | ${code(name)} | ${members.map(code).join(', ')} |`;
}

/** Escapes a text. Names are untrusted, so nothing in them may be a link, a mention, a cell or a heading. */
const escaped = (text: string): string =>
  text.replaceAll(/[\\`*_{}[\]()#+!|<>@~&]/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll(/\s+/g, ' ');

const code = (text: string): string => `<code>${escaped(text)}</code>`;

function cut(lines: readonly string[]): string {
  const shown: string[] = [];
  let length = 0;
  for (const [index, line] of lines.entries()) {
    length += line.length + 1;
    if (length > MAX_LENGTH) return [...shown, '', `and ${lines.length - index} lines more`].join('\n');
    shown.push(line);
  }
  return shown.join('\n');
}

const WRITERS: Readonly<Record<string, (document: DiffDocument, source: Source) => string>> = {
  text: describeDiff,
  json,
  markdown: planMarkdown,
  github: ({ warnings = [] }, source) => printFindings(warnings, 'github', source),
  sarif: ({ warnings = [] }, source) => printFindings(warnings, 'sarif', source),
};

/** Returns 0 without changes, 1 with changes, and 3 if the policy blocks the changes. */
export async function plan(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  const { document, files } = await mergeFiles(invocation, directory);
  const format = isSet(invocation.values, 'json') ? 'json' : (text(invocation.values, 'format') ?? 'text');
  const source = { file: null, text: '', locate: locateIn(files, directory) };
  await writeResult(invocation, (WRITERS[format] ?? describeDiff)(document, source));
  if (isEmpty(document)) return 0;
  return selectBlocked(document.warnings, invocation.values).length > 0 ? 3 : 1;
}
