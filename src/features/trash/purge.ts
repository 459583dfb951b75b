/** Purges trash entries. The trash is read in the command's transaction. */
import type pg from 'pg';
import { type Problem, ProblemError } from '../../kernel/problem.js';
import { keptDeletions, type TrashEntry, findExpired, findInTrash, notInTrash } from './rows.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { Prepare } from '../../pipeline/types.js';

type Purge = Prepare<CommandOf<'purge-trash'>>;

/** Purges the entry of a position. The command throws ProblemError NOT_FOUND if it no longer exists. */
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
 * Purges the oldest entry if its time is over. Another process may have purged it first.
 * @param onFound called with its position before the log is read
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
 * Someone can edit the list of the trash by hand, and a purge is final. Therefore the log is checked first.
 * @param mustBeExpired requires that the retention period in the log is over
 * @returns why the entry must not be purged. Null if the log agrees.
 */
async function disagreement(client: pg.ClientBase, entry: TrashEntry, mustBeExpired = false): Promise<Problem | null> {
  const { position, kind, collection, field } = entry;
  const [said] = await keptDeletions(client, [position]);
  const isSame = said?.kind === kind && said.collection === collection && said.field === field;
  if (isSame && (said.expired || !mustBeExpired)) return null;
  const why = isSame
    ? `the trash keeps it until ${said.kept_until}`
    : 'the list of the trash does not match the log (GET /projections/verify)';
  return { code: 'IN_USE', message: `The deleted object of position ${position} was not purged: ${why}.`, collection };
}
