import { formatCount } from '../../kernel/text.js';
import { runToEnd, stepsTo } from '../../kernel/resumable.js';
import { findDrift } from './find.js';
import type { Drift, DriftDifference, ObjectDrift, TableDrift } from './model.js';
import { type RepairResult, repairDrift } from './repair.js';
import { type ExitCode, type Invocation, UsageError, isSet } from '../../cli/command.js';
import { type AcceptanceReport, acceptanceReport } from './accept.js';
import { operations } from '../../schema/operations/index.js';
import { planAndApply, type PipelineContext, withPipeline } from '../../cli/connections/pipeline.js';
import { describeWarnings } from '../../cli/planned-changes.js';
import { objectArgument, parseObjectKind, parseObjectName } from '../../cli/input.js';
import { unwrapResult, json, toOneLine } from '../../cli/output.js';
import { locationText } from '../../schema/model/location.js';

/**
 * Returns 1 if drift exists or remains, and 3 if the policy would block the change in a dry run.
 * @throws UsageError for contradictory options
 */
export async function drift(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  if (isSet(values, 'allowDrop') && !isSet(values, 'repair')) throw new UsageError('--allow-drop requires --repair.');
  if (isSet(values, 'purge') && !isSet(values, 'allowDrop')) throw new UsageError('--purge requires --allow-drop.');
  if (isSet(values, 'repair') && values['accept'] !== undefined)
    throw new UsageError('Use --repair or --accept, not both.');
  if (isSet(values, 'dryRun') && values['accept'] === undefined) throw new UsageError('--dry-run requires --accept.');
  return withPipeline(invocation, (location) => {
    if (values['accept'] !== undefined) return accept(invocation, location);
    return isSet(values, 'repair') ? repair(invocation, location) : show(invocation, location);
  });
}

async function show(
  { values, terminal }: Invocation,
  { pipeline, schema, schemas, objects }: PipelineContext,
): Promise<ExitCode> {
  const managed = { schema, schemas, objects };
  const differing = await pipeline.underLock((client, { state }) => findDrift(client, state, managed), {
    readOnly: true,
  });
  terminal.print(isSet(values, 'json') ? json(differing) : describeDrift(differing));
  return differing.ok ? 0 : 1;
}

async function repair(
  { values, terminal }: Invocation,
  { pipeline, schema, schemas, objects }: PipelineContext,
): Promise<ExitCode> {
  const allowDrop = isSet(values, 'allowDrop');
  const purge = isSet(values, 'purge');
  const repaired = await pipeline.underLock(
    (client, { state }) => repairDrift({ client, state, schema, schemas, objects, allowDrop, purge }),
    { altersTables: true },
  );
  terminal.print(isSet(values, 'json') ? json(repaired) : describeRepair(repaired));
  return repaired.drift.ok ? 0 : 1;
}

async function accept(invocation: Invocation, location: PipelineContext): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const isDry = isSet(values, 'dryRun');
  const locations = Array.isArray(values['accept']) ? (values['accept'] as string[]) : [];
  const acceptance = unwrapResult(runToEnd(stepsTo(operations['accept-drift'].parse({ body: bodyOf(locations) }))));
  const { command, warnings, code } = await planAndApply(invocation, location, 'accept-drift', acceptance);
  const report = { ...(isDry && { dry_run: true }), ...acceptanceReport(command), ...(isDry && { warnings }) };
  const lines = [describeAcceptance(report, isDry), ...describeWarnings(warnings)];
  terminal.print(isSet(values, 'json') ? json(report) : lines.join('\n'));
  return code ?? (report.not_accepted.length > 0 ? 1 : 0);
}

function bodyOf(names: readonly string[]): object {
  const objects = names.flatMap((name) => parseObjectKind(name) ?? []);
  const locations = names.filter((name) => parseObjectKind(name) === undefined).map(parseObjectName);
  const collections = locations.filter(({ field }) => field === undefined).map(({ collection }) => collection);
  const fields = locations.filter(({ field }) => field !== undefined);
  return {
    ...(collections.length > 0 && { collections }),
    ...(fields.length > 0 && { fields }),
    ...(objects.length > 0 && { objects }),
  };
}

const describeCollection = (collection: string): string => locationText({ collection });

/** Returns one line per table, then the count, then the remaining differences with reasons. */
export function describeAcceptance(
  { changed, deleted, renamed, renamed_fields: fields, not_accepted: left, ...more }: AcceptanceReport,
  isDry: boolean,
) {
  const lines = [
    ...changed.map((name) => `~ ${describeCollection(name)}`),
    ...deleted.map((name) => `- ${describeCollection(name)}`),
    ...renamed.map(({ from, to }) => `~ ${describeCollection(from)} is now ${describeCollection(to)}`),
  ];
  const count = lines.length;
  const { objects } = more;
  if (objects !== undefined) lines.push(...acceptedObjects(objects));
  for (const { collection, from, to } of fields)
    lines.push(`  ${locationText({ collection, field: from })} is now ${locationText({ collection, field: to })}`);
  const beside = objects && formatCount(objects.changed.length + objects.deleted.length, 'object');
  const accepted = [formatCount(count, 'table'), ...(beside === undefined ? [] : [beside])].join(' and ');
  lines.push(`${isDry ? 'Would accept' : 'Accepted'} the drift of ${accepted}.`);
  for (const each of left) lines.push(`! ${notAcceptedText(each)} still differs: ${each.message}`);
  for (const { table, code, message } of more.not_represented) lines.push(`  ${code} on ${table}: ${message}`);
  return lines.join('\n');
}

const acceptedObjects = ({ changed, deleted }: NonNullable<AcceptanceReport['objects']>): string[] => [
  ...changed.map((name) => toOneLine(`~ ${objectArgument(name)}`)),
  ...deleted.map((name) => toOneLine(`- ${objectArgument(name)}`)),
];

const notAcceptedText = ({ object, ...location }: AcceptanceReport['not_accepted'][number]): string =>
  object === undefined ? locationText(location) : toOneLine(objectArgument(object));

/** Returns lines about the repairs, the statements that did not run with reasons, and the remaining drift. */
export function describeRepair({ made, left, drift: found }: RepairResult): string {
  const lines = made.map(({ sql }) => `done: ${sql}`);
  for (const { sql, reason } of left) lines.push(`skipped: ${sql}\n      (${reason})`);
  return [...lines, describeDrift(found)].join('\n');
}

/** Returns lines about the differences of each table and about unmanaged tables. */
export function describeDrift({ ok, tables, unmanaged, objects = [], unmanaged_objects = [] }: Drift): string {
  const lines = ok
    ? ['The database matches the log.']
    : [...tables.flatMap(describeTable), ...objects.flatMap(describeObject)];
  const names = [...unmanaged, ...unmanaged_objects.map(objectArgument)];
  if (names.length > 0) lines.push(`Not managed: ${names.map(toOneLine).join(', ')}.`);
  return lines.join('\n');
}

function describeObject({ object, kind, differences, repair }: ObjectDrift): string[] {
  return [
    `${toOneLine(objectArgument(object))}: ${kind}`,
    ...differences.map(
      ({ member, expected, found }) =>
        `  ${member}: log ${JSON.stringify(expected)}, database ${JSON.stringify(found)}`,
    ),
    ...repair.database.map(({ sql, drops }) => `    database${drops ? ' (drops)' : ''}: ${sql}`),
    ...repair.log.map(({ type, subject }) => `    log: ${type} ${toOneLine(objectArgument(subject))}`),
  ];
}

function describeTable({ table, kind, renamed_to: other, differences }: TableDrift): string[] {
  const as = other === undefined ? '' : `, probably renamed to ${toOneLine(other)}`;
  return [`${toOneLine(describeCollection(table))}: ${kind}${as}`, ...differences.flatMap(describeDifference)];
}

function describeDifference({ field, member, expected, found, renamed_to: other, repair }: DriftDifference) {
  const location = field === undefined ? member : `${field} ${member}`;
  const as = other === undefined ? '' : `, probably renamed to ${toOneLine(other)}`;
  const lines = [`  ${toOneLine(location)}: log ${JSON.stringify(expected)}, database ${JSON.stringify(found)}${as}`];
  for (const { sql, drops, inherited_by: descendants } of repair.database) {
    const also = descendants === undefined ? '' : `, including from ${descendants.map(toOneLine).join(', ')}`;
    lines.push(`    database${drops ? ` (drops${also})` : ''}: ${sql}`);
  }
  for (const event of repair.log) lines.push(`    log: ${event.type} ${locationText(event)}`);
  return lines;
}
