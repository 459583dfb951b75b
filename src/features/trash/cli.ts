import type { z } from 'zod';
import type { restored, trashEntry } from './routes-answers.js';
import type { Plan } from '../../cli/commands/apply.js';
import { type ExitCode, type Invocation, UsageError, isSet, text, texts } from '../../cli/command.js';
import { describeWarning } from '../../cli/planned-changes.js';
import { json, toOneLine, table } from '../../cli/output.js';
import { requestText, requestAll, requestData, changeHeaders } from '../../cli/connections/service.js';
import { isPosition } from '../../kernel/text.js';
import { locationText } from '../../schema/model/location.js';
import { actorName } from '../../schema/model/events.js';

type Entry = z.output<typeof trashEntry>;

/** Lists the trash, newest first. */
export async function list(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const data = await requestAll(invocation, 'listTrash');
  if (isSet(values, 'json')) terminal.print(json(data));
  else if (data.length === 0) terminal.print('The trash is empty.');
  else terminal.print(table(['position', 'what', 'rows', 'bytes', 'deleted', 'by', 'kept until'], data.map(row)));
  return 0;
}

/** Returns a row of the list, with a question mark for each unknown value. */
export const row = ({ position, rows, bytes, deleted_at, deleted_by, kept_until, ...entry }: Entry): string[] => [
  String(position),
  locationText(entry),
  rows === null ? '?' : String(rows),
  bytes === null ? '?' : String(bytes),
  deleted_at,
  toOneLine(deleted_by === null ? '?' : actorName(deleted_by)),
  kept_until,
];

type RestoreAnswer = z.output<typeof restored>;

/** Restores a deletion, or shows its plan with --dry-run. */
export async function restore(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const position = positionIn(invocation);
  const as = text(values, 'as');
  const request = { ...(as !== undefined && { as }), without: texts(values, 'without') };
  const answer = await requestText(invocation, 'restoreTrash', {
    params: { position },
    query: { dry_run: isSet(values, 'dryRun') },
    body: request,
    headers: changeHeaders(invocation),
  });
  if (isSet(values, 'json')) {
    terminal.print(answer.trimEnd());
    return 0;
  }
  show(terminal, JSON.parse(answer) as RestoreAnswer | Plan);
  return 0;
}

function show({ print, note }: Invocation['terminal'], answer: RestoreAnswer | Plan): void {
  const { warnings = [] } = answer;
  const tell = 'data' in answer ? note : print;
  if ('data' in answer) print(`${locationText(answer.data)} was restored.`);
  else print(answer.statements.map(({ summary }) => summary).join('\n'));
  for (const warning of warnings) tell(`! ${describeWarning(warning)}`);
}

/** Purges entries. Exit code 2 if the user declines. Without a terminal, there is no confirmation. */
export async function purge(invocation: Invocation): Promise<ExitCode> {
  const { terminal } = invocation;
  const position = positionIn(invocation);
  const entry = await requestData(invocation, 'getTrash', { params: { position } });
  const question = `${locationText(entry)} will be permanently deleted. To continue, type "lose it": `;
  if (terminal.ask !== undefined && (await terminal.ask(question)).trim() !== 'lose it') {
    terminal.note('Nothing was changed.');
    return 2;
  }
  await requestText(invocation, 'purgeTrash', { params: { position }, headers: changeHeaders(invocation) });
  terminal.print(
    isSet(invocation.values, 'json')
      ? json({ purged: position })
      : `${locationText(entry)} of position ${position} was purged.`,
  );
  return 0;
}

function positionIn({ positionals: [argument = ''] }: Invocation): number {
  if (!isPosition(argument)) throw new UsageError('POSITION must be a positive integer from the list of "dps trash".');
  return Number(argument);
}
