/** Purging through the pipeline: what is in the trash is looked up in the command's transaction. */
import { ProblemError } from '../../kernel/problem.js';
import { findExpired, findInTrash, notInTrash } from '../../projector/trash/list.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { Prepare } from '../types.js';

type Purge = Prepare<CommandOf<'purge-trash'>>;

/** What a position left. The command throws ProblemError NOT_FOUND where that is gone already. */
export const purging =
  (position: number): Purge =>
  async (client) => {
    const entry = await findInTrash(client, position);
    if (entry === undefined) throw new ProblemError(await notInTrash(client, position));
    return { entries: [entry], expired: false };
  };

/** The entry that has been kept for the longest time, if that is long enough. Another process may have been quicker. */
export const purgingExpired =
  (except: readonly number[]): Purge =>
  async (client) => ({ entries: await findExpired(client, except), expired: true });
