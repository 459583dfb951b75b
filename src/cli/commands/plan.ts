/** `dps plan`, `dps push` and `dps prove`. */
import { describeDifference, showValue } from '../../doctor/differences.js';
import { propose } from '../../features/change-requests/cli.js';
import { formatCount } from '../../kernel/text.js';
import { type ExitCode, type Invocation, isSet, text, UsageError } from '../command.js';
import { changeHeaders, requestText } from '../connections/service.js';
import { type Source, printFindings } from '../findings.js';
import { writeResult, json, toOneLine } from '../output.js';
import {
  type DiffDocument,
  describeDiff,
  entriesOf,
  isEmpty,
  type Entry,
  describeWarning,
  selectBlocked,
  addBackfills,
} from '../planned-changes.js';
import { locateIn, mergeFiles } from '../schema-files/merge-files.js';
import { readPresentFiles } from '../schema-files/read-folder.js';
import { confirmAndApply, reportNoChanges, type Plan, describePlan, exitCodeOf, readDiff } from './apply.js';
import { pullInto } from './snapshot.js';

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

/** Escapes a string. Names are untrusted, so nothing in them may be a link, a mention, a cell or a heading. */
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

/** Applies the files to the service. On success, the files are rewritten, unless --base or --dry-run is set. */
export async function push(invocation: Invocation): Promise<ExitCode> {
  const [directory = ''] = invocation.positionals;
  changeHeaders(invocation);
  expectProposal(invocation);
  const { answer, document } = await mergeFiles(invocation, directory);
  const proposes = isSet(invocation.values, 'propose');
  const isUnchanged = isEmpty(document);
  const merged = { type: 'application/json', content: Buffer.from(answer) };
  const diff = isUnchanged ? merged : addBackfills(invocation.values, merged, directory);
  if (proposes && !isUnchanged) return propose(invocation, diff);
  const code = isUnchanged ? reportNoChanges(invocation) : await confirmAndApply(invocation, diff);
  // With --base, the files belong to another service or to a commit, so their lock must not change.
  const keepsUp = code === 0 && !isSet(invocation.values, 'dryRun') && text(invocation.values, 'base') === undefined;
  if (keepsUp) await pullInto(invocation, directory, await readPresentFiles(invocation));
  return code;
}

/** Rejects options that apply only to change requests or only to direct changes. */
function expectProposal({ values }: Invocation): void {
  const title = text(values, 'title');
  if (!isSet(values, 'propose')) {
    if (title !== undefined) throw new UsageError('--title requires --propose.');
    return;
  }
  if (title === undefined) throw new UsageError('--propose requires --title: the title of the change request.');
  for (const [name, option] of [
    ['dryRun', '--dry-run'],
    ['yes', '--yes'],
    ['allowDrop', '--allow-drop'],
  ] as const)
    if (values[name] !== undefined)
      throw new UsageError(`${option} cannot be used with --propose, which changes nothing.`);
}

/**
 * Executes a diff or a snapshot, compares the database, and rolls it back. Exit code 1 if the change
 * has other effects, 2 if PostgreSQL rejects the change, 3 if the policy blocks it.
 */
export async function prove(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const headers = changeHeaders(invocation);
  const file = await readDiff(invocation);
  if (file === null) return reportNoChanges(invocation);
  const query = { prove: true, purge: isSet(values, 'purge') };
  const plan = JSON.parse(await requestText(invocation, 'applyDiff', { query, file, headers })) as Plan;
  const { proof } = plan;
  const lines = [describePlan(plan), ...(proof === undefined ? [] : describeProof(proof))];
  terminal.print(isSet(values, 'json') ? json(plan) : lines.join('\n'));
  const code = exitCodeOf(plan, values);
  return code !== 0 || proof === undefined || proof.differences.length + proof.properties.length === 0 ? code : 1;
}

function describeProof({ differences, properties }: NonNullable<Plan['proof']>): string[] {
  if (differences.length + properties.length === 0) return ['No other effects found.'];
  return [
    'The change has other effects:',
    ...differences.map(describeDifference),
    ...properties.map(({ object, property, before, after }) =>
      toOneLine(`  ${object} ${property}: ${showValue(before)} became ${showValue(after)}`),
    ),
  ];
}
