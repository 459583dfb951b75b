/** Applies a diff that restores objects. The trash is read again in the command's transaction. */
import type { Queryable } from '../../postgres/pool.js';
import { findReturning } from '../../projector/trash/by-identity.js';
import type { CommandOf } from '../../schema/operations/index.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { Ask } from '../types.js';

/** @param kept what the trash contained when the request arrived */
export function applying(
  command: CommandOf<'apply-diff'>,
  kept: readonly InTrash[],
): CommandOf<'apply-diff'> | Ask<CommandOf<'apply-diff'>> {
  if (kept.length === 0) return command;
  return async (client) => ({ ...command, kept: await stillInTrash(client, kept) });
}

/** Another process may have changed the trash meanwhile. */
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
