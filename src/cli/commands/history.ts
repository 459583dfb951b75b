import type { z } from 'zod';
import type { batchPage, batch, event } from '../../http/openapi/answers/history.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty, type Entry, entriesOf } from '../planned-changes.js';
import { writeResult, json, toOneLine } from '../output.js';
import { isPosition } from '../../kernel/text.js';
import { requestText, requestData } from '../connections/service.js';
import { locationText } from '../../schema/model/location.js';
import { actorName } from '../../schema/model/events.js';

/** Number of events per request. */
const PAGE = 1_000;

/** Prints batches as they arrive, or all at the end with --json. */
export async function list(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const paint = createPaint(terminal.colours === true);
  const batches: ShownBatch[] = [];
  let hasEvents = false;
  for await (const batch of readBatches(invocation)) {
    hasEvents = true;
    if (isSet(values, 'json')) batches.push(batch);
    else terminal.print(describeBatch(batch, paint));
  }
  if (isSet(values, 'json')) terminal.print(json(batches));
  else if (!hasEvents) terminal.print('No changes.');
  return 0;
}

async function* readBatches(invocation: Invocation): AsyncGenerator<ShownBatch> {
  const { values } = invocation;
  const since = text(values, 'since');
  let left = readLimit(text(values, 'limit')) ?? (since === undefined ? 20 : Infinity);
  let after: string | undefined;
  do {
    const query = { ...namedPart(values), since, after, limit: String(Math.min(left, PAGE)) };
    const answer = JSON.parse(await requestText(invocation, 'listBatches', { query })) as z.output<typeof batchPage>;
    yield* answer.data;
    left -= answer.data.length;
    after = answer.meta.next === null ? undefined : String(answer.meta.next);
  } while (after !== undefined && left > 0);
}

/** @throws UsageError for a field without its collection */
function namedPart(values: Invocation['values']) {
  const [collection, field] = [text(values, 'collection'), text(values, 'field')];
  if (field !== undefined && collection === undefined) throw new UsageError('--field requires --collection.');
  return { collection, field };
}

function readLimit(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new UsageError('--limit must be a positive integer.');
  return Number(value);
}

/**
 * Prints one event with its changes.
 * @throws UsageError if the position is not a number
 */
export async function show(invocation: Invocation): Promise<ExitCode> {
  const [position = ''] = invocation.positionals;
  if (!isPosition(position)) throw new UsageError('POSITION must be a positive integer.');
  const { values, terminal } = invocation;
  const event = await requestData(invocation, 'getEvent', { params: { position } });
  const query = { from: String(event.position - 1), to: position };
  const { diff: change } = JSON.parse(await requestText(invocation, 'diffMoments', { query })) as DiffDocument;
  const colours = terminal.colours === true;
  terminal.print(
    isSet(values, 'json') ? json({ ...event, diff: change }) : describeEvent(event, change, createPaint(colours)),
  );
  return 0;
}

/** Compares two points in time. Exit code 1 if they differ. */
export async function diff(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const [from = '', to] = invocation.positionals;
  const answer = await requestText(invocation, 'diffMoments', { query: { from, to } });
  const document = JSON.parse(answer) as DiffDocument;
  const machines = isSet(values, 'json') || text(values, 'output') !== undefined;
  await writeResult(invocation, machines ? json(document) : describeDiff(document));
  return isEmpty(document) ? 0 : 1;
}

/** Prints the schema as SQL, at a point in time or now. */
export async function sql(invocation: Invocation): Promise<ExitCode> {
  const [at] = invocation.positionals;
  const script = await requestText(invocation, 'getPastSnapshot', { query: { at, export: 'sql' } });
  const { values } = invocation;
  await writeResult(invocation, isSet(values, 'json') ? json({ sql: script }) : script.trimEnd());
  return 0;
}

type ShownBatch = z.output<typeof batch>;
type ShownEvent = z.output<typeof event>;

interface Paint {
  position(text: string): string;
  time(text: string): string;
  actor(text: string): string;
  added(text: string): string;
  removed(text: string): string;
}

const withoutColour = (text: string): string => text;
const colour =
  (code: number) =>
  (text: string): string =>
    `\u001B[${code}m${text}\u001B[0m`;

/**
 * Returns a function that adds ANSI colours, which terminals may display differently. Without colours, the text is
 * unchanged.
 */
export function createPaint(colours: boolean): Paint {
  if (!colours)
    return {
      position: withoutColour,
      time: withoutColour,
      actor: withoutColour,
      added: withoutColour,
      removed: withoutColour,
    };
  return { position: colour(33), time: colour(2), actor: colour(36), added: colour(32), removed: colour(31) };
}

/** Returns one line for the batch, and one for its reason. */
export function describeBatch(
  {
    first_position: first,
    last_position: last,
    occurred_at,
    actor,
    summary,
    reason,
  }: Pick<ShownBatch, 'first_position' | 'last_position' | 'occurred_at' | 'actor' | 'summary' | 'reason'>,
  paint: Paint,
): string {
  const range = first === last ? String(first) : `${first}-${last}`;
  const line = [
    paint.position(range.padEnd(9)),
    paint.time(timeText(occurred_at)),
    paint.actor(toOneLine(actorName(actor))),
    toOneLine(summary),
  ].join('  ');
  return reason === null ? line : `${line}\n${' '.repeat(11)}why: ${toOneLine(reason)}`;
}

/** Returns lines with all members of an event, and with its change. */
export function describeEvent(event: ShownEvent, change: DiffDocument['diff'], paint: Paint): string {
  const { position, type, subject, actor, occurred_at } = event;
  const about = [locationText(event), subject && `${subject.kind} ${subject.id}`].filter(Boolean).join(', ');
  const lines = [
    `${paint.position(`event ${position}`)}  ${type} ${toOneLine(about)}`.trimEnd(),
    `when     ${paint.time(timeText(occurred_at))}`,
    `who      ${paint.actor(toOneLine(actorName(actor)))} (${actor.id})`,
    `from     ${
      [event.ip, event.user_agent]
        .filter((part) => part !== null)
        .map(toOneLine)
        .join(', ') || 'unknown'
    }`,
    `command  ${event.command}, request ${event.request_id ?? 'unknown'}, batch ${event.batch}`,
    `why      ${event.reason === null ? '(none)' : toOneLine(event.reason)}`,
    `hash     ${event.hash}`,
    '',
    ...describeChange(change, paint),
  ];
  return lines.join('\n');
}

/** Returns one line per change: `~ field articles.title: meta.note "old" → "new"`. */
const describeChange = (diff: DiffDocument['diff'], paint: Paint): string[] =>
  entriesOf(diff).flatMap((entry) => describeEntry(entry, paint));

function describeEntry({ kind, name: untrusted, diff }: Entry, paint: Paint): string[] {
  const name = toOneLine(untrusted);
  return diff.map((change) => {
    const path = (change.path ?? []).join('.');
    if (path === '' && change.kind === 'N') return paint.added(`+ ${kind} ${name}`);
    if (path === '' && change.kind === 'D') return paint.removed(`- ${kind} ${name}`);
    const at = change.kind === 'A' ? `${path}.${change.index}` : path;
    const values = change.kind === 'A' ? change.item : change;
    const before = 'lhs' in values ? values.lhs : undefined;
    const after = 'rhs' in values ? values.rhs : undefined;
    return `~ ${kind} ${name}: ${at}  ${paint.removed(valueText(before))} → ${paint.added(valueText(after))}`;
  });
}

const valueText = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value));

const timeText = (time: string): string => time.slice(0, 19).replace('T', ' ');
