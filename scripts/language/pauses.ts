/**
 * Checks where work on a schema pauses (`yield;`) so that the event loop can run. Only the loops over collections,
 * events, findings, and parts of large texts do: what they call for one item is an ordinary function.
 */
import type { Problem } from './rules.js';

/** The files that pause, per folder of src. */
const PAUSES: Readonly<Record<string, string>> = {
  kernel: `bytes canonical problem lists-and-maps`,
  schema: `collection-scope change-requests/plan-hash change-requests/replay-plans compare/compare-snapshot compare/desired-state compare/looks-renamed
    compare/submitted-documents diff/apply-entries diff/diff findings/finding findings/planned-batch
    invariants/index invariants/partitions merge/merge-states merge/rename-sides normal-form/json operations/accept-drift
    operations/adopt-tables operations/collections operations/fields policy program-types snapshot/documents
    snapshot/collection-cache snapshot/snapshot sql-text/texts transition/context transition/renames transition/restoring-transition
    transition/former-name-uses transition/transition`,
  log: `append documents fold verification`,
  projector: `ddl/plan ddl/recreate ddl/relation inheritance/descendants`,
  features: `drift/find drift/renames trash/rows`,
  reads: `history/changes history/rows-before rendered-cache`,
  pipeline: `transaction/enforce-policy transaction/keep-deleted`,
  http: `body/json documents/snapshot-pieces errors routes/relations`,
};

const filesThatPause: ReadonlySet<string> = new Set(
  Object.entries(PAUSES).flatMap(([room, files]) => files.split(/\s+/).map((file) => `src/${room}/${file}.ts`)),
);

const PAUSE = /^\s*yield(?:\* pause\(\))?;$/;

/** @param path from the root of the repository */
export function checkPauses(path: string, source: string): Problem[] {
  if (!path.startsWith('src/')) return [];
  const lines = source.split('\n').flatMap((text, index) => (PAUSE.test(text) ? [index + 1] : []));
  if (!filesThatPause.has(path)) {
    const text = 'this file pauses: make the function an ordinary one, or list the file in scripts/language/pauses.ts';
    return lines.map((line) => ({ line, text }));
  }
  return lines.length > 0 ? [] : [{ line: 1, text: 'this file no longer pauses: remove it from pauses.ts' }];
}
