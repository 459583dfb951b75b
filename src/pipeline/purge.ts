/** Purging through the pipeline: what is in the trash is looked up in the command's transaction. */
import { ProblemError } from '../kernel/problem.js';
import { findExpired, findInTrash, notInTrash } from '../projector/trash/list.js';
import type { CommandOf } from '../schema/operations/index.js';
import type { Prepare } from './types.js';

type Purge = Prepare<CommandOf<'purge-trash'>>;

/** What a position left. The command throws ProblemError NOT_FOUND where that is gone already. */
export const purging =
  (position: number): Purge =>
  async (client) => {
    const entry = await findInTrash(client, position);
    if (entry === undefined) throw new ProblemError(await notInTrash(client, position));
    return { entries: [entry], expired: false };
  };

/** Entries of one batch: few enough for the lock table. */
export const AT_ONCE = 50;

/** What has been kept for long enough, or the first of it. Another process may have been quicker: then it is nothing. */
export const purgingExpired: Purge = async (client) => ({
  entries: await findExpired(client, AT_ONCE),
  expired: true,
});
