import type { Command } from '../pipeline/types.js';
import { stoppingFindings } from '../projector/findings.js';
import type { CommandOf, OperationName } from '../schema/operations/index.js';
import { type ExitCode, type Invocation, isSet } from './command.js';
import { type JudgedWarning, stoppedBy } from './planned-changes.js';
import { type Workplace, operatorsRequest, refusedByService } from './connections/pipeline.js';

export interface Taken {
  /** The findings that would block it; empty if it was done. */
  warnings: readonly JudgedWarning[];
  /** 3: the policy would block it; undefined: it would not. */
  code: ExitCode | undefined;
}

/**
 * With --dry-run nothing is stored.
 * @throws OperatorError if it is rejected
 */
export async function take<N extends OperationName>(
  invocation: Invocation,
  { pipeline, pool, schema }: Workplace,
  { name, command }: { name: N; command: Command<CommandOf<N>> },
): Promise<Taken> {
  const request = operatorsRequest(name, invocation);
  if (!isSet(invocation.values, 'dryRun')) {
    const outcome = await pipeline.execute(name, command, request);
    if (outcome.kind === 'refused') throw refusedByService(outcome);
    return { warnings: [], code: undefined };
  }
  const run = await pipeline.dryRun(name, command, request);
  if (run.kind === 'refused') throw refusedByService(run);
  const warnings = await stoppingFindings(pool, schema, run);
  return { warnings, code: stoppedBy(warnings, invocation.values).length > 0 ? 3 : undefined };
}
