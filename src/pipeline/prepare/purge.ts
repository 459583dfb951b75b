/** Purging through the pipeline: what is in the trash is looked up in the command's transaction. */
import type pg from 'pg';
import { type Problem, ProblemError } from '../../kernel/problem.js';
import { keptDeletions } from '../../projector/trash/kept-deletions.js';
import { type TrashEntry, findExpired, findInTrash, notInTrash } from '../../projector/trash/list.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { Prepare } from '../types.js';

type Purge = Prepare<CommandOf<'purge-trash'>>;

/** What a position left. The command throws ProblemError NOT_FOUND where that is gone already. */
export const purging =
  (position: number): Purge =>
  async (client) => {
    const entry = await findInTrash(client, position);
    if (entry === undefined) throw new ProblemError(await notInTrash(client, position));
    const problem = await disagreement(client, entry);
    if (problem !== null) throw new ProblemError(problem);
    return { entries: [entry], expired: false };
  };

/**
 * The entry that has been kept for the longest time, if that is long enough. Another process may have been quicker.
 * @param onFound called with its position before the log is asked
 */
export const purgingExpired =
  (except: readonly number[], onFound: (position: number) => void): Purge =>
  async (client) => {
    const [entry] = await findExpired(client, except);
    if (entry === undefined) return { entries: [], expired: true };
    onFound(entry.position);
    const problem = await disagreement(client, entry, true);
    if (problem !== null) throw new ProblemError(problem);
    return { entries: [entry], expired: true };
  };

/**
 * The list of the trash can be changed by hand, and a purge cannot be taken back: so the log is read first.
 * @param mustBeExpired the time that the log says must be over
 * @returns why the entry must not be purged; null: the log says the same
 */
async function disagreement(client: pg.ClientBase, entry: TrashEntry, mustBeExpired = false): Promise<Problem | null> {
  const { position, kind, collection, field } = entry;
  const [said] = await keptDeletions(client, [position]);
  const isSame = said?.kind === kind && said.collection === collection && said.field === field;
  if (isSame && (said.expired || !mustBeExpired)) return null;
  const why = isSame
    ? `the log keeps it until ${said.kept_until}`
    : 'the list of the trash does not match the log (GET /projections/verify)';
  return { code: 'IN_USE', message: `What position ${position} left in the trash is not purged: ${why}.`, collection };
}
