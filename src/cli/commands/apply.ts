import { type Command, takePositionals } from '../command.js';
import { type Warning, describeWarning } from '../diff-document.js';
import { json } from '../output.js';
import { SERVICE_HELP, SERVICE_OPTIONS, ask, readDocument } from '../service.js';

interface Plan {
  accepted?: boolean;
  events?: unknown[];
  statements?: { summary?: string; sql?: string }[];
  warnings?: Warning[];
  refusal?: { message?: string };
}

export const apply: Command = {
  name: 'apply',
  summary: 'apply a diff to a running service',
  help: `dps apply: apply a diff, whole or not at all

  dps apply DIFF [--dry-run]

DIFF is what "dps diff --output FILE" wrote, or - for stdin.

  --dry-run          run it, roll it back, and print the plan; exit code 1 when PostgreSQL would refuse it
${SERVICE_HELP}
  --json             print for machines`,
  options: { ...SERVICE_OPTIONS, 'dry-run': { type: 'boolean' } },
  async run(invocation) {
    const [file = ''] = takePositionals(invocation, 'DIFF');
    const { values, terminal } = invocation;
    const dryRun = values['dry-run'] === true;
    const answer = await ask(invocation, '/schema/apply', {
      method: 'POST',
      query: { dry_run: dryRun ? 'true' : undefined },
      body: await readDocument(invocation, file),
    });
    if (!dryRun) {
      terminal.print(values['json'] === true ? json({ applied: true }) : 'Applied.');
      return 0;
    }
    const plan = JSON.parse(answer) as Plan;
    terminal.print(values['json'] === true ? json(plan) : describePlan(plan));
    return plan.accepted === false ? 1 : 0;
  },
};

function describePlan({ events = [], statements = [], warnings = [], accepted, refusal }: Plan): string {
  const lines = statements.map((statement) => statement.summary ?? statement.sql ?? '');
  for (const warning of warnings) lines.push(`! ${describeWarning(warning)}`);
  const verdict = accepted === false ? `Refused: ${refusal?.message ?? ''}` : 'PostgreSQL accepts it.';
  return [...lines, `Events: ${events.length}, statements: ${statements.length}. ${verdict}`].join('\n');
}
