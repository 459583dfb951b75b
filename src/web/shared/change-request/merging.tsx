/** Merges onto the current schema: tries, and lets the user resolve conflicts. */
import { useState } from 'react';
import type { MergeConflict, Resolution } from '../../../schema/merge/model.js';
import { UnreachableError } from '../../service/errors.js';
import { Decide, conflictsIn } from '../conflicts/decide.js';
import { ProblemAlert } from '../problem-alert.js';
import { SteadyButton } from '../steady-button.js';

interface Props {
  label: string;
  /** The label of the other value: `as the request has it`. */
  mine: string;
  isBusy: boolean;
  error: Error | null;
  onTry: (resolutions: readonly Resolution[]) => void;
}

const NOTHING: readonly Resolution[] = [];

/**
 * A button, which conflicts in `error` replace until all are resolved.
 * @param props.onTry called with all resolutions so far; empty at first
 */
export function Merging({ label, mine, isBusy, error, onTry }: Props) {
  const [before, setBefore] = useState(NOTHING);
  const conflicts = useLastConflicts(error);
  const attempt = (resolutions: readonly Resolution[]) => {
    setBefore(resolutions);
    onTry(resolutions);
  };
  if (conflicts !== null)
    return (
      <>
        <Decide
          // Earlier choices do not apply to these conflicts.
          key={conflicts.map(({ message }) => message).join('\n')}
          conflicts={conflicts}
          before={before}
          mine={mine}
          isBusy={isBusy}
          onDecided={attempt}
        />
        {error instanceof UnreachableError && !isBusy && <ProblemAlert error={error} />}
      </>
    );
  return (
    <>
      <SteadyButton variant="default" loading={isBusy} onClick={() => attempt(NOTHING)} w="fit-content">
        {label}
      </SteadyButton>
      {error !== null && <ProblemAlert error={error} />}
    </>
  );
}

/** Keeps showing conflicts while resolutions are tried. */
function useLastConflicts(error: Error | null): readonly MergeConflict[] | null {
  const [met, setMet] = useState<{ error: Error; conflicts: readonly MergeConflict[] | null } | null>(null);
  if (error !== null && error !== met?.error) {
    // Without a response, the resolutions are sent again.
    const conflicts = error instanceof UnreachableError ? (met?.conflicts ?? null) : conflictsIn(error);
    setMet({ error, conflicts });
  }
  return met?.conflicts ?? null;
}
