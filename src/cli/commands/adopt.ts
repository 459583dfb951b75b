import { runToEnd, stepsTo } from '../../kernel/resumable.js';
import { type Adopting, type AdoptionReport, adopting } from '../../pipeline/adopt.js';
import type { Note } from '../../projector/adopt/note.js';
import { operations } from '../../schema/operations/index.js';
import { type ExitCode, type Invocation, UsageError } from '../command.js';
import { accepted, json } from '../output.js';
import { operatorsRequest, refusedByService, withPipeline } from '../pipeline.js';

export async function adopt(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const { request: tables } = accepted(
    runToEnd(stepsTo(operations['adopt-tables'].parse({ body: requestOf(invocation) }))),
  );
  const report = await withPipeline(invocation, async ({ pipeline, schema }) => {
    const work = adopting(tables, schema);
    const request = operatorsRequest('adopt-tables', invocation);
    const run = values['dryRun'] === true ? pipeline.dryRun : pipeline.execute;
    const outcome = await run('adopt-tables', work.command, request);
    if (outcome.kind === 'refused') throw refusedByService(outcome);
    return reportOf(work, values['dryRun'] === true);
  });
  terminal.print(values['json'] === true ? json(report) : describe(report));
  return report.refused.length > 0 ? 1 : 0;
}

type Report = AdoptionReport & { dry_run?: true };

const reportOf = (work: Adopting, isDry: boolean): Report => ({
  ...(isDry ? { dry_run: true } : {}),
  ...work.report(),
});

function requestOf({ positionals, values }: Invocation): object {
  if (values['all'] === true && positionals.length > 0) throw new UsageError('Name tables or say --all, not both.');
  if (values['all'] !== true && positionals.length === 0) throw new UsageError('Name tables, or say --all.');
  return values['all'] === true ? { all: true } : { tables: positionals };
}

function describe({ adopted, relations, refused, not_represented: notes, dry_run: isDry }: Report): string {
  const done = isDry === true ? 'Would adopt' : 'Adopted';
  const lines = adopted.map((name) => `+ ${name}`);
  lines.push(`${done} ${adopted.length} tables with ${relations} relations.`);
  for (const { table, message } of refused) lines.push(`! ${table} stays unmanaged: ${message}`);
  if (notes.length > 0) lines.push(`${notes.length} things are part of no snapshot:`, ...notes.map(describeNote));
  return lines.join('\n');
}

const describeNote = ({ table, code, message }: Note): string =>
  `  ${code}${table === null ? '' : ` on ${table}`}: ${message}`;
