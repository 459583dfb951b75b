/** Finds objects by identity in the trash, and returns them as they were when they were deleted. */
import type { Queryable } from '../../postgres/pool.js';
import { findReturning } from '../../projector/trash/by-identity.js';
import type { Identity } from '../../schema/model/state.js';
import type { InTrash } from '../../schema/transition/restoring-transition.js';
import type { TimeTravel } from './time-travel.js';

/** In the order of deletion. Objects are `empty` in a database that was created from its log. */
export async function inTrash(db: Queryable, travel: TimeTravel, identities: readonly Identity[]): Promise<InTrash[]> {
  const found: InTrash[] = [];
  // Sequential, because each state is folded from the previous one.
  for (const { position, kind, collection: name, identity, empty } of await findReturning(db, identities)) {
    const { state } = await travel.at(position - 1);
    const node = state.collections.get(name);
    if (node === undefined) throw new Error(`trash: position ${position} deleted no ${JSON.stringify(name)}`);
    found.push({ position, kind, name, identity, node, empty });
  }
  return found;
}
