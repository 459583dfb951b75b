import type { z } from 'zod';
import type { batchPage } from '../../http/openapi/answers/history.js';
import { type ExitCode, type Invocation, UsageError, isSet, text } from '../command.js';
import { type DiffDocument, describeDiff, isEmpty } from '../planned-changes.js';
import { type ShownBatch, createPaint, describeBatch, describeEvent } from '../history-text.js';
import { deliver, json } from '../output.js';
import { isPosition } from '../../kernel/position.js';
import { requestText, requestData } from '../connections/service.js';

/** Events per request. */
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
 * One event with its changes.
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

/** Exit code 1 if the two points in time differ. */
export async function diff(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const [from = '', to] = invocation.positionals;
  const answer = await requestText(invocation, 'diffMoments', { query: { from, to } });
  const document = JSON.parse(answer) as DiffDocument;
  const machines = isSet(values, 'json') || text(values, 'output') !== undefined;
  await deliver(invocation, machines ? json(document) : describeDiff(document));
  return isEmpty(document) ? 0 : 1;
}

/** Without a point in time: the current schema. */
export async function sql(invocation: Invocation): Promise<ExitCode> {
  const [at] = invocation.positionals;
  const script = await requestText(invocation, 'getPastSnapshot', { query: { at, export: 'sql' } });
  const { values } = invocation;
  await deliver(invocation, isSet(values, 'json') ? json({ sql: script }) : script.trimEnd());
  return 0;
}
