import { stat } from 'node:fs/promises';
import type { z } from 'zod';
import { openRequest } from '../../features/change-requests/cli.js';
import type { policyTest } from '../../http/openapi/answers/operating.js';
import { isUuid } from '../../kernel/text.js';
import { isEnded } from '../../schema/change-requests/model.js';
import { LEVELS, type Level } from '../../schema/findings/model.js';
import { parseDocument, readDocument } from '../input.js';
import { type ExitCode, type Invocation, isSet, text, UsageError } from '../command.js';
import { requestData, changeHeaders, type ServiceRequest, requestText, readInfo } from '../connections/service.js';
import { FINDING_FORMATS, type FindingFormat, type PrintedFinding, type Source, printFindings } from '../findings.js';
import { readChange } from '../follow-change.js';
import { show, writeResult } from '../output.js';
import { describeWarning, readAcknowledgements, describePolicy, selectBlocked } from '../planned-changes.js';
import { locateIn, mergeFiles } from '../schema-files/merge-files.js';

/** Prints the current policy. With --json, the output is in the format that `set` reads. */
export async function showPolicy(invocation: Invocation): Promise<ExitCode> {
  const policy = await requestData(invocation, 'getPolicy');
  show(invocation, policy, () => describePolicy(policy));
  return 0;
}

/** Replaces the whole policy. Missing members get their defaults. */
export async function setPolicy(invocation: Invocation): Promise<ExitCode> {
  const headers = changeHeaders(invocation);
  const body = await documentOf(invocation, invocation.positionals[0] ?? '', 'a policy');
  const policy = await requestData(invocation, 'setPolicy', { headers, body });
  show(invocation, policy, () => describePolicy(policy));
  return 0;
}

/** Opens a change request for a policy. */
export async function proposePolicy(invocation: Invocation): Promise<ExitCode> {
  const policy = await documentOf(invocation, invocation.positionals[0] ?? '', 'a policy');
  return openRequest(invocation, { policy });
}

type PolicyTestResult = z.output<typeof policyTest>;

/** Tests a change against the policy without changing anything. Returns 3 unless the policy allows the change. */
export async function testPolicy(invocation: Invocation): Promise<ExitCode> {
  const { values, positionals } = invocation;
  const change = await documentOf(invocation, positionals[0] ?? '');
  const file = text(values, 'policy');
  const acknowledge = readAcknowledgements(values);
  const body = {
    ...('diff' in change ? { diff: change } : { snapshot: change }),
    ...(file !== undefined && { policy: await documentOf(invocation, file, 'a policy') }),
    ...(acknowledge.length > 0 && { acknowledge }),
  };
  const query = {
    online: isSet(values, 'online'),
    force: isSet(values, 'force'),
  };
  const tested = await requestData(invocation, 'testPolicy', { query, body });
  show(invocation, tested, () => describeTest(tested));
  return tested.outcome === 'allowed' ? 0 : 3;
}

const documentOf = async (invocation: Invocation, file: string, kind?: 'a policy'): Promise<object> =>
  parseDocument(await readDocument(invocation, file), file, kind);

/** Returns one line per finding, and then the outcome. */
export function describeTest({ outcome, approvals, findings }: PolicyTestResult): string {
  const lines = findings.map((finding) => `! ${describeWarning(finding)}`);
  const needed = approvals === null || outcome !== 'approve' ? '' : ` (${approvals})`;
  return [...lines, `${OUTCOMES[outcome]}${needed}.`].join('\n');
}

const OUTCOMES: Readonly<Record<PolicyTestResult['outcome'], string>> = {
  allowed: 'The policy allows it',
  acknowledge: 'The policy requires an acknowledgement',
  approve: 'The policy requires approvals of a change request',
  refuse: 'The policy rejects it',
};

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
