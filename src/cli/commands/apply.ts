import type { z } from 'zod';
import type { plan as planSchema } from '../../http/openapi/answers/operating.js';
import type { renamedCollection, renamedField } from '../../http/openapi/answers/schema.js';
import { OperatorError } from '../../kernel/problem.js';
import { formatCount } from '../../kernel/text.js';
import { locationText } from '../../schema/model/location.js';
import { type DocumentBody, parseDocument, readDocument, parseObjectName } from '../input.js';
import { type ExitCode, type Invocation, UsageError, isSet, text, texts } from '../command.js';
import { type ServiceResponse, requestText, requestChecked, changeHeaders } from '../connections/service.js';
import { type ShownChange, followChange } from '../follow-change.js';
import { json, toOneLine } from '../output.js';
import {
  addBackfills,
  type DiffDocument,
  describeWarning,
  isEmpty,
  shellWord,
  selectBlocked,
} from '../planned-changes.js';

export type Plan = z.output<typeof planSchema>;

export interface AppliedSummary {
  batch: string | null;
  position: number;
  events: number;
  statements: number;
}

/**
 * Applies a diff or a snapshot. Exit code 2 if PostgreSQL rejects the change or the user declines, 3 if the policy
 * blocks it.
 * @throws OperatorError if data would be lost and there is no terminal to ask for confirmation
 */
export async function apply(invocation: Invocation): Promise<ExitCode> {
  changeHeaders(invocation);
  const body = await readDiff(invocation);
  return body === null ? reportNoChanges(invocation) : confirmAndApply(invocation, body);
}

/** Shows the plan of a diff, asks for confirmation, and applies it. */
export async function confirmAndApply(invocation: Invocation, body: DocumentBody): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const headers = changeHeaders(invocation);
  const flags = { online: isSet(values, 'online'), purge: isSet(values, 'purge') };
  const plan = JSON.parse(
    await requestText(invocation, 'applyDiff', { query: { dry_run: true, ...flags }, file: body }),
  ) as Plan;
  const asJson = isSet(values, 'json');
  const verdict = exitCodeOf(plan, values);
  const ends = verdict !== 0 || isSet(values, 'dryRun');
  if (ends || !asJson) terminal.print(asJson ? json(plan) : describePlan(plan));
  if (ends) return verdict;
  if (!(await confirmPlan(invocation, plan))) {
    terminal.note('Nothing was changed.');
    return 2;
  }
  const answer = await requestChecked(invocation, 'applyDiff', { query: flags, file: body, headers });
  return printResult(invocation, answer, plan);
}

/** Returns the exit code of a plan that cannot be applied. 0 if it can. */
export function exitCodeOf({ accepted, warnings }: Plan, values: Invocation['values']): ExitCode {
  if (accepted === false) return 2;
  return selectBlocked(warnings, values).length > 0 ? 3 : 0;
}

/** Prints the result. If the change is prepared online first, waits for the request. */
function printResult(invocation: Invocation, answer: ServiceResponse, plan: Plan): ExitCode | Promise<ExitCode> {
  if (answer.status === 202) return followChange(invocation, JSON.parse(answer.text) as { data: ShownChange });
  const applied = toApplied(answer, plan);
  const asJson = isSet(invocation.values, 'json');
  invocation.terminal.print(asJson ? json({ applied: true, ...applied }) : describeApplied(applied));
  return 0;
}

/** Returns the diff to send. Null if the snapshot changes nothing. */
export async function readDiff(invocation: Invocation): Promise<DocumentBody | null> {
  const [file = ''] = invocation.positionals;
  const { values } = invocation;
  const body = await readDocument(invocation, file);
  const isDiff = 'diff' in parseDocument(body, file);
  const mode = text(values, 'mode');
  if (isDiff) {
    if (mode !== undefined || isSet(values, 'force'))
      throw new UsageError('--mode and --force can only be used with a snapshot.');
    return addBackfills(values, body, file);
  }
  const query = { mode, force: isSet(values, 'force') };
  const answer = await requestText(invocation, 'diffSnapshot', { query, file: body });
  const document = JSON.parse(answer) as DiffDocument;
  // The plan does not contain the warnings about skipped parts of an imported snapshot.
  const remarks = (document.warnings ?? []).filter(({ code }) => /LEFT_OUT|IGNORED/.test(code));
  for (const remark of remarks) invocation.terminal.note(`! ${describeWarning(remark)}`);
  if (isEmpty(document)) return null;
  return addBackfills(values, { type: 'application/json', content: Buffer.from(answer) }, file);
}

/** @returns 0 */
export function reportNoChanges({ values, terminal }: Invocation): ExitCode {
  terminal.print(
    isSet(values, 'json') ? json({ applied: false, events: 0 }) : 'Nothing to do: the schema already has this state.',
  );
  return 0;
}

/** Asks for confirmation at a terminal. Data loss needs a separate confirmation. */
async function confirmPlan({ values, terminal }: Invocation, plan: Plan): Promise<boolean> {
  const allowed = new Set(texts(values, 'allowDrop').map((text) => locationText(parseObjectName(text))));
  const lost = lossesOf(plan).filter((name) => !allowed.has(name));
  if (terminal.ask === undefined) {
    if (lost.length > 0) throw new OperatorError(lossRefusedMessage(lost));
    return true;
  }
  if (lost.length > 0) {
    const answer = await terminal.ask(
      `The data of ${lost.map(toOneLine).join(', ')} will be lost. To continue, type "lose it": `,
    );
    return answer.trim() === 'lose it';
  }
  if (isSet(values, 'yes')) return true;
  return /^y(es)?$/i.test((await terminal.ask('Apply it? [y/N] ')).trim());
}

/** Returns the lost objects in the format of --allow-drop: `posts`, `articles.title`. */
function lossesOf({ statements }: Plan): string[] {
  const names = statements.filter((statement) => statement.loses_data).map(locationText);
  return [...new Set(names)];
}

/** @param lost collections, or fields such as `articles.title` */
export function lossRefusedMessage(lost: readonly string[]): string {
  const options = lost.map((name) => `--allow-drop ${shellWord(name)}`);
  return `Nothing was changed: the data of ${lost.map(toOneLine).join(', ')} would be lost. To allow that, use ${options.join(' ')}`;
}

function toApplied(answer: ServiceResponse, plan: Plan): AppliedSummary {
  const batch = answer.headers.get('x-batch-id');
  return {
    batch: typeof batch === 'string' ? batch : null,
    position: Number(answer.headers.get('x-log-position')),
    events: plan.events.length,
    statements: plan.statements.length,
  };
}

/** Returns one line about the applied change. */
export function describeApplied({ batch, position, events, statements }: AppliedSummary): string {
  return `Applied: ${formatCount(events, 'event')}, ${formatCount(statements, 'statement')}; position ${position}, batch ${batch ?? 'none'}.`;
}

/** Returns one line per statement, then the findings, and then whether PostgreSQL accepts the change. */
export function describePlan({ events, statements, warnings, accepted, errors = [], online }: Plan): string {
  const lines = statements.map(({ summary }) => toOneLine(summary));
  for (const warning of warnings) lines.push(`! ${describeWarning(warning)}`);
  if (online !== undefined)
    lines.push(
      'Prepared first, while the tables stay in use:',
      ...online.steps.map(({ summary }) => `  ${toOneLine(summary)}`),
    );
  const verdict = accepted === false ? 'PostgreSQL rejects it:' : online === undefined ? 'PostgreSQL accepts it.' : '';
  lines.push(
    `Plan: ${formatCount(events.length, 'event')}, ${formatCount(statements.length, 'statement')}. ${verdict}`.trimEnd(),
  );
  if (accepted === false) lines.push(...errors.map(({ message }) => `  ${toOneLine(message)}`));
  return lines.join('\n');
}

/** `articles posts` renames a collection, `posts.title headline` a field, `--schema` moves the table of a collection. */
export async function rename(invocation: Invocation): Promise<ExitCode> {
  const { positionals, terminal, values } = invocation;
  const [from = '', to = ''] = positionals;
  const location = parseObjectName(from);
  const answer = await requestRename(invocation, location, to);
  if (isSet(values, 'json')) {
    terminal.print(answer.trimEnd());
    return 0;
  }
  const { warnings = [] } = JSON.parse(answer) as z.output<typeof renamedCollection | typeof renamedField>;
  const now = location.field === undefined ? { collection: to } : { ...location, field: to };
  terminal.print(`${locationText(location)} is now ${locationText(now)}.`);
  for (const warning of warnings) terminal.note(`! ${describeWarning(warning)}`);
  return 0;
}

function requestRename(
  invocation: Invocation,
  { collection, field }: ReturnType<typeof parseObjectName>,
  to: string,
): Promise<string> {
  const headers = changeHeaders(invocation);
  const schema = text(invocation.values, 'schema');
  if (field === undefined) {
    const body = { to, ...(schema !== undefined && { schema: { schema } }) };
    return requestText(invocation, 'renameCollection', { params: { id: collection }, body, headers });
  }
  if (schema !== undefined)
    throw new UsageError('--schema moves the table of a collection, and a field has no table: name a collection.');
  return requestText(invocation, 'renameField', { params: { collection, field }, body: { to }, headers });
}
