/** Something that is merged onto the schema as it is now: tried, and where others changed the same, decided and tried again. */
import { useState } from 'react';
import type { MergeConflict, Resolution } from '../../../schema/merge/model.js';
import { UnreachableError } from '../../service/errors.js';
import { Decide } from '../conflicts/decide.js';
import { conflictsIn } from '../conflicts/merge-conflicts.js';
import { ProblemAlert } from '../problem-alert.js';
import { SteadyButton } from '../steady-button.js';

interface Props {
  label: string;
  /** How the other value would be: `as the request has it`. */
  mine: string;
  isBusy: boolean;
  error: Error | null;
  onTry: (resolutions: readonly Resolution[]) => void;
}

const NOTHING: readonly Resolution[] = [];

/**
 * A button first. Where `error` says which conflicts there are, they stand in its place until all are decided.
 * @param props.onTry called with everything that was decided so far; at first with nothing
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
          // What was chosen of others says nothing of these.
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

/** They stay to be seen while what was decided is tried. */
function useLastConflicts(error: Error | null): readonly MergeConflict[] | null {
  const [met, setMet] = useState<{ error: Error; conflicts: readonly MergeConflict[] | null } | null>(null);
  if (error !== null && error !== met?.error) {
    // Where no answer came, what was decided is sent again.
    const conflicts = error instanceof UnreachableError ? (met?.conflicts ?? null) : conflictsIn(error);
    setMet({ error, conflicts });
  }
  return met?.conflicts ?? null;
}
