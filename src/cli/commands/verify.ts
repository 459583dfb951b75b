import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  countDifferences,
  describeDifference,
  describeDisallowed,
  describeDivergence,
  describeErased,
} from '../../doctor/differences.js';
import type { Verified } from '../../features/projections/index.js';
import { OperatorError } from '../../kernel/problem.js';
import { sha256 } from '../../kernel/sha256.js';
import { type ExportedLog, checkExportedLog, positionOf, readLines } from '../../log/exported-log.js';
import { type Verification as ChainVerification, type LogVerification, verifyLog } from '../../log/verification.js';
import { emptyHead } from '../../log/head.js';
import type { EventRecord } from '../../log/read.js';
import {
  type CheckedCheckpoint,
  databaseView,
  compareCheckpoint,
  createExportView,
} from '../../log/signed-checkpoints/compare-checkpoint.js';
import { ACKNOWLEDGE } from '../../pipeline/acknowledge.js';
import { createPlanReplay } from '../../schema/change-requests/replay-plans.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import { type CheckpointInput, describeCheckpoints, readCheckpoints } from '../checkpoint-files.js';
import { type ExitCode, type Invocation, isSet, UsageError, text } from '../command.js';
import { createOperatorRequest, withPipeline } from '../connections/pipeline.js';
import { type ProjectionTools, withProjections } from '../connections/projections.js';
import { requestText, readInfo, send } from '../connections/service.js';
import { json, createProgress } from '../output.js';

/** Verifies the log. Exit code 1 if anything differs. With --file or --against, no database is needed. */
export async function verify(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  if (values['file'] !== undefined || values['against'] !== undefined) return verifyFile(invocation);
  const checkpoints = await readCheckpoints(invocation);
  const result = await withProjections(invocation, (tools) => verifyAll(invocation, tools, checkpoints));
  terminal.print(isSet(values, 'json') ? json(result) : describeVerification(result));
  return result.ok ? 0 : 1;
}

export interface Result {
  ok: boolean;
  chain: LogVerification;
  /** The result of verifying the projections. A message if the log cannot be folded. */
  projections: Verified | { ok: false; error: string };
  /** The results for the checkpoints that the user passed. */
  checkpoints?: CheckedCheckpoint[];
}

async function verifyAll(
  { terminal }: Invocation,
  tools: ProjectionTools,
  { files, keys }: CheckpointInput,
): Promise<Result> {
  const { head } = await tools.projections.list();
  const progress = createProgress(terminal, 'hash chain');
  const chain = await verifyLog(tools.pool, emptyHead(), {
    onProgress: (checked) => progress.at(checked, Math.max(head, checked)),
  });
  progress.end();
  const projections = await compare(tools);
  const checkpoints = await compareCheckpoint(files, databaseView(tools.pool, chain), keys);
  const ok = chain.ok && projections.ok && checkpoints.every((each) => each.ok);
  return { ok, chain, projections, ...(files.length > 0 && { checkpoints }) };
}

/**
 * Verifies the projections. A damaged log may be impossible to fold, which is a finding and not a failure of the
 * command.
 */
async function compare({ load, projections }: ProjectionTools): Promise<Result['projections']> {
  try {
    await load();
    return await projections.verify();
  } catch (error) {
    if (!(error instanceof UnreadableEventError)) throw error;
    return { ok: false, error: `The log cannot be folded: ${error.message}.` };
  }
}

/** Returns lines about the chain, the projections with each difference, and the checkpoints. */
export function describeVerification({ chain, projections, checkpoints = [] }: Result): string {
  const lines = [
    describeChain(chain),
    ...chain.disallowed.map(describeDisallowed),
    ...chain.unprotected,
    ...chain.divergences.map(describeDivergence),
  ];
  if ('error' in projections) lines.push(projections.error);
  else if (projections.ok) lines.push(`Fold, metadata rows and catalog match at position ${projections.position}.`);
  else lines.push(`${countDifferences(projections.differences)} at position ${projections.position}:`);
  if ('differences' in projections) lines.push(...projections.differences.map(describeDifference));
  return [...lines, ...describeCheckpoints(checkpoints)].join('\n');
}

function describeChain({ checked, head, broken, erased }: ChainVerification): string {
  if (broken === undefined)
    return `The hash chain is valid: ${checked} events, head ${head.hash}.${describeErased(erased)}`;
  const valid = Math.min(checked, broken.position - 1);
  return `The hash chain is broken at position ${broken.position}: ${broken.reason}. The ${valid} events before it are valid.`;
}

interface ServiceComparison {
  url: string;
  ok: boolean;
  /** The position of the head of the service's log. */
  head: number;
  /** The first position at which the logs differ. */
  position?: number;
  reason?: string;
}

/**
 * Runs the part of `dps verify` that needs no database: `--file FILE`, `--against URL`, optionally with `--checkpoint
 * FILE`.
 */
async function verifyFile(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const source = sourceOf(invocation);
  const checkpointOptions = await readCheckpoints(invocation);
  if (source.file === undefined && checkpointOptions.files.length === 0) {
    throw new UsageError('--against requires --file, the exported log to compare, or --checkpoint.');
  }
  const view = createExportView(checkpointOptions.files);
  const log = await checkExportedLog(await openLines(invocation, source), {
    sha256,
    planOf: createPlanReplay(),
    onEvent: view.add,
  });
  const checkpoints = await compareCheckpoint(checkpointOptions.files, view.view(log), checkpointOptions.keys);
  const against = await compareIfBoth(invocation, source);
  const ok = [log, ...against, ...checkpoints].every((each) => each.ok);
  const name = source.file === undefined ? `The log of ${source.url}` : 'The file';
  const result = {
    ok,
    file: log,
    checkpoints: checkpointOptions.files.length > 0 ? checkpoints : undefined,
    against: against[0],
  };
  const described = [
    describeFileChain(log, name),
    ...log.disallowed.map(describeDisallowed),
    ...against.map(describeComparison),
    ...describeCheckpoints(checkpoints),
  ];
  terminal.print(isSet(values, 'json') ? json(result) : described.join('\n'));
  return ok ? 0 : 1;
}

interface Source {
  file: string | undefined;
  url: string | undefined;
}

function sourceOf({ values }: Invocation): Source {
  const [file, url] = [text(values, 'file'), text(values, 'against')];
  if (file === '-' && url !== undefined) throw new UsageError('--against requires a file that can be read twice.');
  return { file, url };
}

function openLines(invocation: Invocation, { file, url = '' }: Source): Promise<AsyncIterable<string>> {
  return file === undefined ? readExport(invocation, url) : open(invocation, file);
}

/** Compares the file with the service, if both are given. */
async function compareIfBoth(invocation: Invocation, { file, url }: Source): Promise<ServiceComparison[]> {
  return file === undefined || url === undefined ? [] : [await compareWithService(invocation, url, file)];
}

async function open({ terminal }: Invocation, file: string): Promise<AsyncIterable<string>> {
  if (file === '-') return splitLines(await terminal.read());
  await access(file).catch((cause: Error) => {
    throw new OperatorError(`${file} cannot be read (${cause.message}).`, { cause });
  });
  return readLines(createReadStream(file));
}

async function* splitLines(content: string): AsyncGenerator<string> {
  yield* content.replace(/\n$/, '').split('\n');
}

/** Compares the logs line by line in constant memory. The service writes the same bytes for the same events. */
async function compareWithService(invocation: Invocation, url: string, file: string): Promise<ServiceComparison> {
  const { position: head } = await readInfo(withUrl(invocation, url));
  const theirs = await readExport(invocation, url);
  const difference = await findFirstDifference(readLines(createReadStream(file)), theirs);
  return { url, ok: difference === null, head, ...difference };
}

const withUrl = (invocation: Invocation, url: string): Invocation => ({
  ...invocation,
  values: { ...invocation.values, url },
});

/** Yields the log of a service, line by line. */
async function readExport(invocation: Invocation, url: string): Promise<AsyncGenerator<string>> {
  const service = withUrl(invocation, url);
  const answer = await send(service, 'exportLog').catch(() => null);
  if (answer?.body) return readLines(Readable.fromWeb(answer.body));
  // The request is repeated to get the error message.
  await requestText(service, 'exportLog');
  throw new OperatorError(`The service at ${url} does not export its log.`);
}

async function findFirstDifference(
  ours: AsyncGenerator<string>,
  theirs: AsyncGenerator<string>,
): Promise<{ position: number; reason: string } | null> {
  let last = 0;
  try {
    for await (const line of ours) {
      const { value: there, done } = await theirs.next();
      const position = positionOf(line) ?? last;
      if (done === true) return { position, reason: `the log of the service ends at position ${last}` };
      if (there !== line && !isSameButErased(line, there))
        return { position: positionOf(there) ?? position, reason: 'the service has a different event' };
      last = Math.max(last, position);
    }
    return last === 0 ? { position: 1, reason: 'the file contains no event' } : null;
  } finally {
    await theirs.return(undefined);
  }
}

/** True if the lines are the same event, with personal data that was erased in one of them. */
function isSameButErased(ours: string, theirs: string): boolean {
  const [line, other] = [erasedLine(ours), erasedLine(theirs)];
  return line !== null && line === other && (line === ours || line === theirs);
}

/** Returns the line of the event without personal data. Null if the line is not an event. */
function erasedLine(text: string): string | null {
  try {
    const event = JSON.parse(text) as EventRecord;
    if (positionOf(text) === undefined) return null;
    const actor = { ...event.actor, name: null };
    return JSON.stringify({ ...event, actor, reason: null, ip: null, user_agent: null, salt: null });
  } catch {
    return null;
  }
}

/**
 * Returns one line about the chain.
 * @param what the subject of the sentence about a broken chain: "The log"
 */
export function describeFileChain(
  { head, broken, erased }: Pick<ExportedLog, 'head' | 'broken' | 'erased'>,
  what: string,
): string {
  if (broken === undefined)
    return `The hash chain is valid: ${head.position} events, head ${head.hash}.${describeErased(erased)}`;
  const valid = Math.min(head.position, broken.position - 1);
  const before = valid === 0 ? '' : ` The ${valid} events before it are valid.`;
  return `${what} is broken at position ${broken.position}: ${broken.reason}.${before}`;
}

/** Returns one line that says whether the service has the same log. */
export function describeComparison({ url, ok, head, position, reason }: ServiceComparison): string {
  if (ok) return `The service at ${url} has the same events; its log ends at position ${head}.`;
  return `The service at ${url} differs at position ${position}: ${reason}.`;
}

/** Returns 0, even if there was nothing to acknowledge. */
export async function acknowledgeLog(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const { cause } = createOperatorRequest(ACKNOWLEDGE, invocation);
  const acknowledged = await withPipeline(invocation, ({ pipeline }) => pipeline.acknowledge(cause));
  const { position, divergences } = acknowledged;
  if (isSet(values, 'json')) terminal.print(json(acknowledged));
  else if (divergences.length === 0) terminal.print('Nothing to acknowledge: the log has not forked.');
  else terminal.print([...divergences.map(describeDivergence), `Acknowledged by event ${position}.`].join('\n'));
  return 0;
}
