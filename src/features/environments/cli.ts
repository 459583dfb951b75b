import type { z } from 'zod';
import type { Comparison, environment } from './routes-answers.js';
import { type ExitCode, type Invocation, text } from '../../cli/command.js';
import { requestData, requestText } from '../../cli/connections/service.js';
import { json, show, table, toOneLine, writeOutput } from '../../cli/output.js';
import { type DiffDocument, describeDiff } from '../../cli/planned-changes.js';
import { OperatorError } from '../../kernel/problem.js';

type Environment = z.output<typeof environment>;

export async function list(invocation: Invocation): Promise<ExitCode> {
  const all = await requestData(invocation, 'listEnvironments');
  const rows = all.map(({ name, url, comparison }) =>
    [name, comparison === null ? 'not compared yet' : describe(comparison), url].map(toOneLine),
  );
  show(invocation, all, () => (rows.length === 0 ? 'No environments.' : table(['name', 'state', 'address'], rows)));
  return 0;
}

/**
 * Compares now. Prints the changes that this service lacks, and writes them as a diff with --output. Returns 1 if the
 * schemas differ.
 */
export async function compare(invocation: Invocation): Promise<ExitCode> {
  const { values } = invocation;
  const { id, name } = await find(invocation);
  const comparison = await requestData(invocation, 'testEnvironment', { params: { id } });
  if (comparison.error !== null) throw new OperatorError(`Environment "${name}": ${comparison.error.message}`);
  const { ahead, behind, conflicts } = comparison;
  // A conflict needs a decision, and the request then returns no diff.
  const changes = behind === 0 || conflicts > 0 ? null : await readChanges(invocation, id);
  const output = text(values, 'output');
  if (output !== undefined) {
    if (changes === null)
      throw new OperatorError(
        conflicts > 0
          ? `There is no diff, because ${describe(comparison)}. Resolve the conflicts in the review of the admin app.`
          : 'There is no diff, because this service has all changes of the environment.',
      );
    await writeOutput(output, `${json(changes)}\n`);
  }
  show(invocation, { ...comparison, changes }, () =>
    [describe(comparison), ...(changes === null ? [] : [describeDiff(changes)])].join('\n'),
  );
  return ahead === 0 && behind === 0 && conflicts === 0 ? 0 : 1;
}

const readChanges = async (invocation: Invocation, id: string): Promise<DiffDocument> =>
  JSON.parse(await requestText(invocation, 'mergeEnvironment', { params: { id } })) as DiffDocument;

function describe({ ahead, behind, conflicts, error }: Comparison): string {
  if (error !== null) return error.message;
  const known = ahead === null || behind === null ? [] : [`${ahead} ahead`, `${behind} behind`];
  if (ahead === 0 && behind === 0 && conflicts === 0) return 'equal';
  return [...known, ...(conflicts === 0 ? [] : [`${conflicts} in conflict`])].join(', ');
}

/** Finds an environment by name or id. */
async function find(invocation: Invocation): Promise<Environment> {
  const [named = ''] = invocation.positionals;
  const all = await requestData(invocation, 'listEnvironments');
  const match = all.find(({ id, name }) => id === named.toLowerCase() || name === named);
  if (match !== undefined) return match;
  throw new OperatorError(`Environment "${named}" does not exist. List all environments with "dps environments".`);
}
