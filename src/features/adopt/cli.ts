import { formatCount } from '../../kernel/text.js';
import { runToEnd, stepsTo } from '../../kernel/resumable.js';
import { type AdoptionReport, adoptionReport } from './read.js';
import type { Note } from '../../projector/inspect/needs.js';
import { operations } from '../../schema/operations/index.js';
import { type ExitCode, type Invocation, UsageError, isSet } from '../../cli/command.js';
import { planAndApply, withPipeline } from '../../cli/connections/pipeline.js';
import { type JudgedWarning, describeWarnings } from '../../cli/planned-changes.js';
import { objectArgument, parseObjectKind } from '../../cli/input.js';
import { unwrapResult, json, toOneLine } from '../../cli/output.js';

/**
 * Returns 1 if a table remains unmanaged, and 3 if the policy would block the adoption in a dry run.
 * @throws OperatorError if the service rejects the adoption
 */
export async function adopt(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const adoption = unwrapResult(runToEnd(stepsTo(operations['adopt-tables'].parse({ body: requestOf(invocation) }))));
  const isDry = isSet(values, 'dryRun');
  const { report, code } = await withPipeline(invocation, async (workplace) => {
    const taken = await planAndApply(invocation, workplace, 'adopt-tables', adoption);
    const { command, warnings, code: stopped } = taken;
    const dry = isDry && { warnings };
    return { report: { ...(isDry && { dry_run: true }), ...adoptionReport(command), ...dry }, code: stopped };
  });
  terminal.print(isSet(values, 'json') ? json(report) : describeAdoption(report));
  return code ?? (report.refused.length > 0 ? 1 : 0);
}

type Report = AdoptionReport & { dry_run?: boolean; warnings?: readonly JudgedWarning[] };

function requestOf({ positionals, values }: Invocation): object {
  const objects = positionals.flatMap((each) => parseObjectKind(each) ?? []);
  const tables = positionals.filter((each) => parseObjectKind(each) === undefined);
  if (isSet(values, 'all') && positionals.length > 0) throw new UsageError('Name tables or use --all, not both.');
  if (!isSet(values, 'all') && positionals.length === 0) throw new UsageError('Name tables, or use --all.');
  if (isSet(values, 'all')) return { all: true };
  return { ...(tables.length > 0 && { tables }), ...(objects.length > 0 && { objects }) };
}

/** Returns one line per table, then the count, then the rejected tables with reasons. */
export function describeAdoption({
  adopted,
  relations,
  refused,
  not_represented: notes,
  objects,
  dry_run: isDry,
  warnings,
}: Report): string {
  const done = isDry === true ? 'Would adopt' : 'Adopted';
  const lines = adopted.map((name) => `+ ${name}`);
  for (const name of objects ?? []) lines.push(toOneLine(`+ ${objectArgument(name)}`));
  const beside = objects === undefined ? '' : ` and ${formatCount(objects.length, 'object')}`;
  lines.push(`${done} ${formatCount(adopted.length, 'table')} with ${formatCount(relations, 'relation')}${beside}.`);
  for (const { table, message, ...more } of refused) {
    const name = 'object' in more ? objectArgument(more.object) : table;
    lines.push(toOneLine(`! ${name} stays unmanaged: ${message}`));
  }
  lines.push(...describeWarnings(warnings), ...describeNotes(notes));
  return lines.join('\n');
}

/** Maximum number of messages per code. Further messages are only counted, by kind. */
const SHOWN = 10;

/** Merges notes that are repeated for many tables, for example about a view of several tables or about a trigger. */
function describeNotes(notes: readonly Note[]): string[] {
  if (notes.length === 0) return [];
  const byCode = groupedBy(notes, ({ code }) => code);
  const lines = [...byCode.values()].flatMap((group) => {
    const messages = [...groupedBy(group, ({ message }) => message).values()].map(describeRepeatedNote);
    return messages.length <= SHOWN ? messages : countedKinds(group);
  });
  return ['Not included in snapshots:', ...lines];
}

function describeRepeatedNote(same: readonly Note[]): string {
  const [{ code, message } = { code: '', message: '' }] = same;
  const tables = same.flatMap(({ table }) => table ?? []);
  return `  ${toOneLine(`${code}${tables.length === 0 ? '' : ` on ${tables.join(', ')}`}: ${message}`)}`;
}

function countedKinds(group: readonly Note[]): string[] {
  return [...groupedBy(group, ({ kind }) => kind)].map(([kind, same]) => {
    const names = new Set(same.map(({ table, name }) => `${table ?? ''}\0${name}`));
    const tables = new Set(same.flatMap(({ table }) => table ?? []));
    const where = tables.size === 0 ? '' : ` on ${formatCount(tables.size, 'table')}`;
    return `  ${toOneLine(`${same[0]?.code}: ${formatCount(names.size, 'object')} of kind "${kind}"${where} (--json lists them)`)}`;
  });
}

function groupedBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
