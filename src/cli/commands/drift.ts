import { findDrift } from '../../projector/drift/find.js';
import type { Drift, DriftDifference, TableDrift } from '../../projector/drift/model.js';
import { type Repaired, repairDrift } from '../../projector/drift/repair.js';
import { type ExitCode, type Invocation, UsageError } from '../command.js';
import { json } from '../output.js';
import { type Workplace, withPipeline } from '../pipeline.js';

export async function drift(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  if (values['allowDrop'] === true && values['repair'] !== true)
    throw new UsageError('--allow-drop goes with --repair.');
  return withPipeline(invocation, (place) =>
    values['repair'] === true ? repair(invocation, place) : show(invocation, place),
  );
}

async function show({ values, terminal }: Invocation, { pipeline, schema }: Workplace): Promise<ExitCode> {
  const found = await pipeline.underLock((client, { state }) => findDrift(client, state, schema), {
    readOnly: true,
  });
  terminal.print(values['json'] === true ? json(found) : describeDrift(found));
  return found.ok ? 0 : 1;
}

async function repair({ values, terminal }: Invocation, { pipeline, schema }: Workplace): Promise<ExitCode> {
  const allowDrop = values['allowDrop'] === true;
  const repaired = await pipeline.underLock((client, { state }) => repairDrift({ client, state, schema, allowDrop }));
  terminal.print(values['json'] === true ? json(repaired) : describeRepair(repaired));
  return repaired.drift.ok ? 0 : 1;
}

function describeRepair({ made, left, drift: found }: Repaired): string {
  const lines = made.map(({ sql }) => `done: ${sql}`);
  for (const { sql, reason } of left) lines.push(`left: ${sql}\n      (${reason})`);
  return [...lines, describeDrift(found)].join('\n');
}

function describeDrift({ ok, tables, unmanaged }: Drift): string {
  const lines = ok ? ['The database is as the log says.'] : tables.flatMap(describeTable);
  if (unmanaged.length > 0) lines.push(`Not managed: ${unmanaged.join(', ')}.`);
  return lines.join('\n');
}

function describeTable({ table, kind, renamed_to: other, differences }: TableDrift): string[] {
  const as = other === undefined ? '' : `, probably renamed to ${other}`;
  return [`${table}: ${kind}${as}`, ...differences.flatMap(describeDifference)];
}

function describeDifference({ field, member, expected, found, renamed_to: other, repair: sides }: DriftDifference) {
  const place = field === undefined ? member : `${field} ${member}`;
  const as = other === undefined ? '' : `, probably renamed to ${other}`;
  const lines = [`  ${place}: log says ${JSON.stringify(expected)}, database ${JSON.stringify(found)}${as}`];
  for (const { sql, drops } of sides.database) lines.push(`    database${drops ? ' (drops)' : ''}: ${sql}`);
  for (const event of sides.log)
    lines.push(`    log: ${event.type} ${event.collection}${event.field ? `.${event.field}` : ''}`);
  return lines;
}
