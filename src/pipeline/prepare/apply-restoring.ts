/** An apply that brings things back: what the trash has is looked up again in the command's transaction. */
import type { Queryable } from '../../postgres/pool.js';
import { findReturning } from '../../projector/trash/by-identity.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { Ask } from '../types.js';

/** @param kept what the trash held when the request came in */
export function applying(
  command: CommandOf<'apply-diff'>,
  kept: readonly InTrash[],
): CommandOf<'apply-diff'> | Ask<CommandOf<'apply-diff'>> {
  if (kept.length === 0) return command;
  return async (client) => ({ ...command, kept: await stillInTrash(client, kept) });
}

/** Somebody may have been quicker. */
export async function stillInTrash(client: Queryable, kept: readonly InTrash[]): Promise<InTrash[]> {
  const found = await findReturning(
    client,
    kept.map(({ identity }) => identity),
  );
  const now = new Map(found.map((each) => [each.position, each]));
  return kept.flatMap((each) => {
    const still = now.get(each.position);
    return still?.identity === each.identity ? [{ ...each, empty: still.empty }] : [];
  });
}
