/** Restoring through the pipeline: what is in the trash is looked up again in the command's transaction. */
import type pg from 'pg';
import { findIdentities } from '../projector/trash/list.js';
import type { CommandOf } from '../schema/operations/index.js';
import type { InTrash } from '../schema/transition/restoring-transition.js';
import type { Command } from './types.js';

/** @param kept what the trash held when the request came in */
export function applying(command: CommandOf<'apply-diff'>, kept: readonly InTrash[]): Command<CommandOf<'apply-diff'>> {
  if (kept.length === 0) return command;
  return async (client) => ({ ...command, kept: await stillInTrash(client, kept) });
}

/** Somebody may have been quicker. */
async function stillInTrash(client: pg.ClientBase, kept: readonly InTrash[]): Promise<InTrash[]> {
  const entries = await findIdentities(
    client,
    kept.map(({ identity }) => identity),
  );
  const positions = new Set(entries.map(({ position }) => position));
  return kept.filter(({ position }) => positions.has(position));
}
