import { stat } from 'node:fs/promises';
import { isEnded } from '../../schema/change-requests/model.js';
import { LEVELS, type Level } from '../../schema/findings/model.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../command.js';
import { parseDocument, readDocument } from '../input.js';
import { FINDING_FORMATS, type FindingFormat, type PrintedFinding, type Source, printFindings } from '../findings.js';
import { writeResult } from '../output.js';
import { selectBlocked } from '../planned-changes.js';
import { locateIn, mergeFiles } from '../schema-files/merge-files.js';
import { isUuid } from '../../kernel/text.js';
import { type ServiceRequest, requestText, readInfo } from '../connections/service.js';
import { readChange } from '../follow-change.js';

interface LintedSource {
  findings: readonly PrintedFinding[];
  source: Source;
}

/** Exit code 3 if the policy blocks the change, 1 if a finding has --level or higher (`warn` by default). */
export async function lint(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const level = oneOf<Level>(text(values, 'level') ?? 'warn', LEVELS);
  const { findings, source } = await find(invocation);
  const named = text(values, 'format') ?? (isSet(values, 'json') ? 'json' : 'text');
  await writeResult(invocation, printFindings(findings, oneOf<FindingFormat>(named, FINDING_FORMATS), source));
  if (selectBlocked(findings, values).length > 0) return 3;
  return findings.some((each) => LEVELS.indexOf(each.level ?? 'warn') >= LEVELS.indexOf(level)) ? 1 : 0;
}

const oneOf = <T extends string>(value: string, all: readonly T[]): T => {
  const match = all.find((each) => each === value);
  if (match === undefined) throw new UsageError(`${value} is not one of ${all.join(', ')}.`);
  return match;
};

/** Returns the findings of a snapshot, a diff, a folder or a change request. Nothing is run or locked. */
async function find(invocation: Invocation): Promise<LintedSource> {
  const [what = ''] = invocation.positionals;
  if (isUuid(what) && !(await fileExists(what))) {
    expectOptions(invocation, 'a change request', []);
    return findIn(invocation, what);
  }
  if (what !== '-' && (await fileExists(what)) && (await stat(what)).isDirectory()) {
    expectOptions(invocation, 'a folder', ['force', 'base', 'take']);
    const { document, files } = await mergeFiles(invocation, what);
    return { findings: document.warnings ?? [], source: { file: null, text: '', locate: locateIn(files, what) } };
  }
  const body = await readDocument(invocation, what);
  const source = { file: what === '-' ? null : what, text: body.content.toString('utf8') };
  return { findings: await findOfDocument(invocation, body, what), source };
}

const OF_SOME = ['mode', 'force', 'base', 'take'] as const;

/** @throws UsageError for an option without effect */
function expectOptions({ values }: Invocation, what: string, taken: readonly (typeof OF_SOME)[number][]): void {
  const lost = OF_SOME.find((name) => values[name] !== undefined && !taken.includes(name));
  if (lost !== undefined) throw new UsageError(`--${lost} cannot be used with ${what}.`);
}

const fileExists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

type Body = Awaited<ReturnType<typeof readDocument>>;

async function findOfDocument(invocation: Invocation, body: Body, file: string): Promise<readonly PrintedFinding[]> {
  if ('diff' in parseDocument(body, file)) {
    expectOptions(invocation, 'a diff', []);
    return findOf(invocation, 'applyDiff', { file: body, query: { explain: true } });
  }
  expectOptions(invocation, 'a snapshot', ['mode', 'force']);
  const { values } = invocation;
  const query = { mode: text(values, 'mode'), force: isSet(values, 'force') };
  return findOf(invocation, 'diffSnapshot', { file: body, query });
}

async function findOf(
  invocation: Invocation,
  operation: 'applyDiff' | 'diffSnapshot',
  request: ServiceRequest,
): Promise<readonly PrintedFinding[]> {
  const answer = await requestText(invocation, operation, request);
  return answer === '' ? [] : ((JSON.parse(answer) as { warnings?: PrintedFinding[] }).warnings ?? []);
}

/** Returns the findings of a change request. For an open request with a diff, they include those of applying it. */
async function findIn(invocation: Invocation, id: string): Promise<LintedSource> {
  const request = await readChange(invocation, id);
  const { operation, document, warnings, online } = request;
  const content = document.content as { input: { body?: object }; purge?: boolean } | null;
  const diff = operation === 'apply-diff' && !isEnded(request) ? content?.input.body : undefined;
  const source = { file: null, text: '' };
  if (diff === undefined) return { findings: warnings, source };
  // The hash in the request is outdated. A request applies to the current schema, so its hash is used.
  const body = { ...diff, hash: await hashOf(invocation) };
  // Without `online`, the policy could block the request because of its own preparation.
  const query = { explain: true, online, purge: content?.purge };
  return {
    findings: withoutRepetitions([...(await findOf(invocation, 'applyDiff', { body, query })), ...warnings]),
    source,
  };
}

async function hashOf(invocation: Invocation): Promise<string> {
  return (await readInfo(invocation)).hash;
}

export function withoutRepetitions(findings: readonly PrintedFinding[]): readonly PrintedFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ code, collection, field, message }) => {
    const key = JSON.stringify([code, collection, field, message]);
    return !seen.has(key) && seen.add(key);
  });
}
