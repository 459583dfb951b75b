import type { Command } from '../pipeline/types.js';
import { stoppingFindings } from '../projector/findings.js';
import type { CommandOf, OperationName } from '../schema/operations/index.js';
import { type ExitCode, type Invocation, isSet } from './command.js';
import { type JudgedWarning, selectBlocked } from './planned-changes.js';
import { type PipelineContext, createOperatorRequest, toOperatorError } from './connections/pipeline.js';

export interface PlannedAndApplied<C> {
  /** The command that was decided. Parts of it may have been read from the database. */
  command: C;
  /** The findings that would block the command. Empty if it was carried out. */
  warnings: readonly JudgedWarning[];
  /** 3 if the policy would block the command. Otherwise undefined. */
  code: ExitCode | undefined;
}

/**
 * Carries out a command. With --dry-run, nothing is stored.
 * @throws OperatorError if the command is rejected
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
