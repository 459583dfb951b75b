/** dps verify --file: an exported log on its own, and against a running service. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { type ExportedLog, checkExportedLog, positionOf } from '../../log/exported-chain.js';
import { readLines } from '../../log/lines.js';
import { OperatorError } from '../../kernel/operator-error.js';
import { type ExitCode, type Invocation, UsageError, text } from '../command.js';
import { json } from '../output.js';
import { ask, send } from '../service.js';

interface Against {
  url: string;
  ok: boolean;
  /** The end of the service's log. */
  head: number;
  /** The first position at which the two differ. */
  position?: number;
  reason?: string;
}

/** The whole of `dps verify --file FILE [--against URL]`. */
export async function verifyFile(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const file = text(values, 'file');
  if (file === undefined) throw new UsageError('--against needs --file, the exported log to compare.');
  const url = text(values, 'against');
  if (file === '-' && url !== undefined) throw new UsageError('--against needs a file that can be read twice.');
  const log = await checkExportedLog(await open(invocation, file));
  const against = url === undefined ? undefined : await compare(invocation, url, file);
  const ok = log.ok && against?.ok !== false;
  const result = { ok, file: log, ...(against && { against }) };
  terminal.print(values['json'] === true ? json(result) : [describe(log), ...describeAgainst(against)].join('\n'));
  return ok ? 0 : 1;
}

async function open({ terminal }: Invocation, file: string): Promise<AsyncIterable<string>> {
  if (file === '-') return linesOf(await terminal.read());
  await access(file).catch((cause: Error) => {
    throw new OperatorError(`${file} can't be read (${cause.message}).`, { cause });
  });
  return readLines(createReadStream(file));
}

async function* linesOf(content: string): AsyncGenerator<string> {
  yield* content.replace(/\n$/, '').split('\n');
}

/** Line by line, in constant memory: the service writes the same bytes for the same events. */
async function compare(invocation: Invocation, url: string, file: string): Promise<Against> {
  const service = { ...invocation, values: { ...invocation.values, url } };
  const info = JSON.parse(await ask(service, '/server/info')) as { data: { position: number } };
  const answer = await send(service, '/history/export');
  if (answer.statusCode !== 200) {
    // The same question again, for its refusal in words.
    await ask(service, '/history/export');
    throw new OperatorError(`The service at ${url} does not export its log.`);
  }
  const theirs = readLines(answer);
  const difference = await firstDifference(readLines(createReadStream(file)), theirs);
  return { url, ok: difference === null, head: info.data.position, ...difference };
}

async function firstDifference(
  ours: AsyncGenerator<string>,
  theirs: AsyncGenerator<string>,
): Promise<{ position: number; reason: string } | null> {
  let last = 0;
  try {
    for await (const line of ours) {
      const { value: there, done } = await theirs.next();
      const position = last + 1;
      if (done === true) return { position, reason: `the log of the service ends at position ${last}` };
      if (there !== line) return { position: positionOf(there) ?? position, reason: 'the service says something else' };
      last = position;
    }
    return last === 0 ? { position: 1, reason: 'the file holds no event' } : null;
  } finally {
    await theirs.return(undefined);
  }
}

function describe({ ok, head, broken }: ExportedLog): string {
  if (ok) return `The hash chain holds: ${head.position} events, head ${head.hash}.`;
  const before = head.position === 0 ? '' : ` The ${head.position} events before it hold.`;
  return `The file is broken at position ${broken?.position}: ${broken?.reason}.${before}`;
}

function describeAgainst(against: Against | undefined): string[] {
  if (against === undefined) return [];
  const { url, ok, head, position, reason } = against;
  if (ok) return [`The service at ${url} says the same, event by event; its log ends at position ${head}.`];
  return [`The service at ${url} differs at position ${position}: ${reason}.`];
}
