import type { Command } from '../pipeline/types.js';
import { stoppingFindings } from '../projector/findings.js';
import type { CommandOf, OperationName } from '../schema/operations/index.js';
import { type ExitCode, type Invocation, isSet } from './command.js';
import { type JudgedWarning, selectBlocked } from './planned-changes.js';
import { type PipelineContext, createOperatorRequest, toOperatorError } from './connections/pipeline.js';

export interface PlannedAndApplied<C> {
  /** The command that was decided. It may have been read from the database. */
  command: C;
  /** The findings that would block it; empty if it was done. */
  warnings: readonly JudgedWarning[];
  /** 3: the policy would block it; undefined: it would not. */
  code: ExitCode | undefined;
}

/**
 * With --dry-run nothing is stored.
 * @throws OperatorError if it is rejected
 */
export async function planAndApply<N extends OperationName, C extends CommandOf<N>>(
  invocation: Invocation,
  { pipeline, pool, schema }: PipelineContext,
  name: N,
  command: Command<C>,
): Promise<PlannedAndApplied<C>> {
  const request = createOperatorRequest(name, invocation);
  if (!isSet(invocation.values, 'dryRun')) {
    const outcome = await pipeline.apply(name, command, request);
    if (outcome.kind === 'refused') throw toOperatorError(outcome);
    if (outcome.kind === 'replayed') throw new Error('a command without a key is never replayed');
    return { command: outcome.command, warnings: [], code: undefined };
  }
  const run = await pipeline.dryRun(name, command, request);
  if (run.kind === 'refused') throw toOperatorError(run);
  const warnings = await stoppingFindings(pool, schema, run);
  return {
    command: run.command,
    warnings,
    code: selectBlocked(warnings, invocation.values).length > 0 ? 3 : undefined,
  };
}
