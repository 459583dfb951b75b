import type { Verification as ChainVerification } from '../../log/hash-chain.js';
import { emptyHead } from '../../log/head.js';
import { type LogVerification, verifyLog } from '../../log/verify-log.js';
import type { Verified } from '../../features/projections/index.js';
import {
  type CheckedCheckpoint,
  databaseView,
  compareCheckpoint,
} from '../../log/signed-checkpoints/compare-checkpoint.js';
import { UnreadableEventError } from '../../schema/fold/upcasting.js';
import { type ExitCode, type Invocation, isSet } from '../command.js';
import { type CheckpointInput, describeChecked, readCheckpoints } from '../checkpoint-files.js';
import {
  countDifferences,
  describeDifference,
  describeDisallowed,
  describeDivergence,
  describeErased,
} from '../../doctor/differences.js';
import { json, createProgress } from '../output.js';
import { type ProjectionTools, withProjections } from '../connections/projections.js';
import { verifyFile } from './verify-file.js';

/** Exit code 1 if anything differs. With --file or --against it needs no database. */
export async function verify(invocation: Invocation): Promise<ExitCode> {
  const { values, terminal } = invocation;
  if (values['file'] !== undefined || values['against'] !== undefined) return verifyFile(invocation);
  const checkpoints = await readCheckpoints(invocation);
  const result = await withProjections(invocation, (tools) => verifyAll(invocation, tools, checkpoints));
  terminal.print(isSet(values, 'json') ? json(result) : describeVerified(result));
  return result.ok ? 0 : 1;
}

export interface Result {
  ok: boolean;
  chain: LogVerification;
  /** A message if the log cannot be folded. */
  projections: Verified | { ok: false; error: string };
  /** The given checkpoints. */
  checkpoints?: CheckedCheckpoint[];
}

async function verifyAll(
  { terminal }: Invocation,
  tools: ProjectionTools,
  { files, keys }: CheckpointInput,
): Promise<Result> {
  const { head } = await tools.projections.list();
  const progress = createProgress(terminal, 'hash chain');
  const chain = await verifyLog(tools.pool, emptyHead(), {
    onProgress: (checked) => progress.at(checked, Math.max(head, checked)),
  });
  progress.end();
  const projections = await compare(tools);
  const checkpoints = await compareCheckpoint(files, databaseView(tools.pool, chain), keys);
  const ok = chain.ok && projections.ok && checkpoints.every((each) => each.ok);
  return { ok, chain, projections, ...(files.length > 0 && { checkpoints }) };
}

/** A broken log may not fold, which is a finding and not a failure of the command. */
async function compare({ load, projections }: ProjectionTools): Promise<Result['projections']> {
  try {
    await load();
    return await projections.verify();
  } catch (error) {
    if (!(error instanceof UnreadableEventError)) throw error;
    return { ok: false, error: `The log cannot be folded: ${error.message}.` };
  }
}

/** The chain, the projections with each difference, and the checkpoints. */
export function describeVerified({ chain, projections, checkpoints = [] }: Result): string {
  const lines = [
    describeChain(chain),
    ...chain.disallowed.map(describeDisallowed),
    ...chain.unprotected,
    ...chain.divergences.map(describeDivergence),
  ];
  if ('error' in projections) lines.push(projections.error);
  else if (projections.ok) lines.push(`Fold, metadata rows and catalog match at position ${projections.position}.`);
  else lines.push(`${countDifferences(projections.differences)} at position ${projections.position}:`);
  if ('differences' in projections) lines.push(...projections.differences.map(describeDifference));
  return [...lines, ...describeChecked(checkpoints)].join('\n');
}

function describeChain({ checked, head, broken, erased }: ChainVerification): string {
  if (broken === undefined)
    return `The hash chain is valid: ${checked} events, head ${head.hash}.${describeErased(erased)}`;
  const valid = Math.min(checked, broken.position - 1);
  return `The hash chain is broken at position ${broken.position}: ${broken.reason}. The ${valid} events before it are valid.`;
}
