import { writeFile } from 'node:fs/promises';
import { type Command, type ExitCode, type Invocation, UsageError, takePositionals, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../diff-document.js';
import { type ShownBatch, type ShownEvent, createPaint, describeBatch, describeEvent } from '../history-text.js';
import { json } from '../output.js';
import { SERVICE_HELP, SERVICE_OPTIONS, ask } from '../service.js';

export const history: Command = {
  name: 'history',
  summary: 'who changed what, when and why, on a running service',
  help: `dps history: the history of a running service's schema

  dps history [--collection NAME] [--since MOMENT] [--limit N]     accepted commands, newest first
  dps history show POSITION                                         one event and the change it made
  dps history diff FROM [TO] [--output FILE]                        what changed between two moments
  dps history sql [MOMENT] [--output FILE]                          the schema of a moment as a SQL script

A MOMENT is a position (42), a time (2026-11-21T08:00:00Z, 2026-11-21) or now, which an absent one means.
To go back to position 40:  dps history diff now 40 --output back.json  and then  dps apply back.json.

  --collection NAME  only commands that touched this collection
  --since MOMENT     only commands from there on, all of them unless --limit says otherwise
  --limit N          so many commands; 20 by default
  --output FILE      write there instead of stdout
${SERVICE_HELP.replace('an admin', 'an admin or auditor')}
  --json             print for machines`,
  options: {
    ...SERVICE_OPTIONS,
    collection: { type: 'string' },
    since: { type: 'string' },
    limit: { type: 'string' },
    output: { type: 'string', short: 'o' },
  },
  run(invocation) {
    const [verb, ...positionals] = invocation.positionals;
    if (verb === undefined) return timeline(invocation);
    const action = Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined;
    if (!action) throw new UsageError(`"${verb}" is nothing to do: ${Object.keys(ACTIONS).join(', ')} are.`);
    return action({ ...invocation, positionals });
  },
};

const ACTIONS: Readonly<Record<string, (invocation: Invocation) => Promise<ExitCode>>> = { show, diff, sql };

/** Of one request. */
const PAGE = 1_000;

async function timeline(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const paint = createPaint(terminal.colours === true);
  const batches: ShownBatch[] = [];
  for await (const batch of readBatches(invocation)) {
    if (values['json'] === true) batches.push(batch);
    else terminal.print(describeBatch(batch, paint));
  }
  if (values['json'] === true) terminal.print(json(batches));
  return 0;
}

async function* readBatches(invocation: Invocation): AsyncGenerator<ShownBatch> {
  const { values } = invocation;
  const since = text(values, 'since');
  let left = readLimit(text(values, 'limit')) ?? (since === undefined ? 20 : Infinity);
  let after: string | undefined;
  do {
    const query = { collection: text(values, 'collection'), since, after, limit: String(Math.min(left, PAGE)) };
    const answer = JSON.parse(await ask(invocation, '/history/batches', { query })) as Page;
    yield* answer.data;
    left -= answer.data.length;
    after = answer.meta.next === null ? undefined : String(answer.meta.next);
  } while (after !== undefined && left > 0);
}

interface Page {
  data: ShownBatch[];
  meta: { next: number | null };
}

function readLimit(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(given)) throw new UsageError('--limit must be a number from 1.');
  return Number(given);
}

async function show(invocation: Invocation): Promise<ExitCode> {
  const [position = ''] = takePositionals(invocation, 'POSITION');
  if (!/^[1-9]\d{0,14}$/.test(position)) throw new UsageError('POSITION is a number from 1.');
  const { values, terminal } = invocation;
  const { data } = JSON.parse(await ask(invocation, `/history/events/${position}`)) as { data: ShownEvent };
  const query = { from: String(data.position - 1), to: position };
  const { diff: change } = JSON.parse(await ask(invocation, '/history/diff', { query })) as DiffDocument;
  const colours = terminal.colours === true;
  terminal.print(
    values['json'] === true ? json({ ...data, diff: change }) : describeEvent(data, change, createPaint(colours)),
  );
  return 0;
}

async function diff(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const [from = '', to] = someOf(invocation, 1, 2, 'FROM');
  const answer = await ask(invocation, '/history/diff', { query: { from, to } });
  const document = JSON.parse(answer) as DiffDocument;
  const machines = values['json'] === true || text(values, 'output') !== undefined;
  await deliver(invocation, machines ? json(document) : describeDiff(document));
  return isEmpty(document) ? 0 : 1;
}

async function sql(invocation: Invocation): Promise<ExitCode> {
  const [at] = someOf(invocation, 0, 1, 'MOMENT');
  const script = await ask(invocation, '/history/snapshot', { query: { at, export: 'sql' } });
  const { values } = invocation;
  await deliver(invocation, values['json'] === true ? json({ sql: script }) : script.trimEnd());
  return 0;
}

function someOf({ positionals }: Invocation, least: number, most: number, name: string): readonly string[] {
  if (positionals.length < least) throw new UsageError(`${name} is missing.`);
  if (positionals.length > most) throw new UsageError(`"${positionals[most]}" is too much.`);
  return positionals;
}

async function deliver({ values, terminal }: Invocation, content: string): Promise<void> {
  const output = text(values, 'output');
  if (output === undefined) return terminal.print(content);
  await writeFile(output, `${content}\n`);
  terminal.note(`written to ${output}`);
}
