import { stat } from 'node:fs/promises';
import { LEVELS, type Level } from '../../schema/findings/index.js';
import { type ExitCode, type Invocation, UsageError, text } from '../command.js';
import { parseDocument, readDocument } from '../document.js';
import { FINDING_FORMATS, type FindingFormat, type Shown, type Source, printFindings } from '../findings/index.js';
import { deliver } from '../output.js';
import { locateIn, mergeFiles } from '../schema-files/merge-files.js';
import { ask } from '../service.js';

interface Found {
  findings: readonly Shown[];
  source: Source;
}

export async function lint(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const level = oneOf<Level>(text(values, 'level') ?? 'warn', LEVELS);
  const { findings, source } = await find(invocation);
  const named = text(values, 'format') ?? (values['json'] === true ? 'json' : 'text');
  await deliver(invocation, printFindings(findings, oneOf<FindingFormat>(named, FINDING_FORMATS), source));
  return findings.some((each) => LEVELS.indexOf(each.level ?? 'warn') >= LEVELS.indexOf(level)) ? 1 : 0;
}

const oneOf = <T extends string>(value: string, all: readonly T[]): T => {
  const found = all.find((each) => each === value);
  if (found === undefined) throw new UsageError(`${value} is none of ${all.join(', ')}.`);
  return found;
};

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Of a snapshot, a diff, a folder of files, or a change request; nothing is run and nobody is locked. */
async function find(invocation: Invocation): Promise<Found> {
  const [what = ''] = invocation.positionals;
  if (UUID.test(what) && !(await isThere(what))) return findIn(invocation, what);
  if (what !== '-' && (await isThere(what)) && (await stat(what)).isDirectory()) {
    const { document, files } = await mergeFiles(invocation, what);
    return { findings: document.warnings ?? [], source: { file: null, text: '', locate: locateIn(files, what) } };
  }
  const body = await readDocument(invocation, what);
  const source = { file: what === '-' ? null : what, text: body.content.toString('utf8') };
  return { findings: await findOf(invocation, body, what), source };
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

async function findOf(
  invocation: Invocation,
  body: Awaited<ReturnType<typeof readDocument>>,
  file: string,
): Promise<readonly Shown[]> {
  const { values } = invocation;
  const mode = text(values, 'mode');
  const isDiff = 'diff' in parseDocument(body, file);
  if (isDiff && (mode !== undefined || values['force'] === true))
    throw new UsageError('--mode and --force go with a snapshot.');
  const query = isDiff ? { explain: 'true' } : { mode, force: values['force'] === true ? 'true' : undefined };
  const answer = await ask(invocation, isDiff ? '/schema/apply' : '/schema/diff', { method: 'POST', query, body });
  return (JSON.parse(answer) as { warnings?: Shown[] }).warnings ?? [];
}

interface Request {
  state: string;
  operation: string;
  document: { content: { body?: unknown } | null };
  warnings: Shown[];
}

/** What a request says of itself; of one that has not ended and is a diff, what there is to know of carrying it out too. */
async function findIn(invocation: Invocation, id: string): Promise<Found> {
  const { data } = JSON.parse(await ask(invocation, `/changes/${id}`)) as { data: Request };
  const { state, operation, document, warnings } = data;
  const diff = operation === 'apply-diff' && !ENDED.has(state) ? document.content?.body : undefined;
  const source = { file: null, text: '' };
  if (diff === undefined) return { findings: warnings, source };
  const body = { type: 'application/json', content: Buffer.from(JSON.stringify(diff)) };
  return { findings: [...(await findOf(invocation, body, id)), ...warnings], source };
}

const ENDED: ReadonlySet<string> = new Set(['applied', 'failed', 'withdrawn']);
