import { describeDifference, showValue } from '../../doctor/differences.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { changeHeaders, requestText } from '../connections/service.js';
import { json, toOneLine } from '../output.js';
import { type Plan, describePlan, exitCodeOf, readDiff, reportNoChanges } from './apply.js';

/**
 * Executes a diff or a snapshot, compares the database, and rolls it back. Exit code 1 if the change
 * has other effects, 2 if PostgreSQL rejects the change, 3 if the policy blocks it.
 */
export async function prove(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  const headers = changeHeaders(invocation);
  const file = await readDiff(invocation);
  if (file === null) return reportNoChanges(invocation);
  const query = { prove: true, purge: isSet(values, 'purge') };
  const plan = JSON.parse(await requestText(invocation, 'applyDiff', { query, file, headers })) as Plan;
  const { proof } = plan;
  const lines = [describePlan(plan), ...(proof === undefined ? [] : describeProof(proof))];
  terminal.print(isSet(values, 'json') ? json(plan) : lines.join('\n'));
  const code = exitCodeOf(plan, values);
  return code !== 0 || proof === undefined || proof.differences.length + proof.properties.length === 0 ? code : 1;
}

function describeProof({ differences, properties }: NonNullable<Plan['proof']>): string[] {
  if (differences.length + properties.length === 0) return ['No other effects found.'];
  return [
    'The change has other effects:',
    ...differences.map(describeDifference),
    ...properties.map(({ object, property, before, after }) =>
      toOneLine(`  ${object} ${property}: ${showValue(before)} became ${showValue(after)}`),
    ),
  ];
}
